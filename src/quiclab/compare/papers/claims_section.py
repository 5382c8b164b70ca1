# SPDX-License-Identifier: Apache-2.0
"""What the page says about a paper, and the terminal in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from quiclab.compare.model import StudyAnalysis
from quiclab.compare.papers.claim_verdict import RULES, Verdict, counted
from quiclab.compare.papers.claims import Judged, judge
from quiclab.compare.papers.claims_data import claims_data
from quiclab.compare.papers.claims_table import cells_table, claims_table
from quiclab.compare.papers.paper import read_paper
from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.model.text_table import TextTable


@dataclass(frozen=True)
class PaperSection:
    """What the page says about the paper."""

    citation: str
    caution: str
    summary: str
    rules: tuple[str, ...]
    claims: TextTable
    cells: TextTable
    """The claims cell by cell; without rows where every claim has one cell at most."""
    data: pl.DataFrame


def paper_section(study: Study, analysis: StudyAnalysis) -> PaperSection | None:
    """Return what the page says about the study's paper; None where it follows none."""
    paper = read_paper(study.directory)
    if paper is None:
        return None
    judged = judge(study, analysis, paper)
    nominal = 1 - analysis.alpha
    rules = (*RULES, f"Intervals are to hold {number_text.level(nominal)}; one that attains another level tells it.")
    summary = summary_line(judged) if judged else ""
    claims, cells = claims_table(judged, nominal), cells_table(judged, study, nominal)
    caution = " ".join(filter(None, (paper.caution, _alarm(analysis) if judged else "")))
    return PaperSection(paper.citation, caution, summary, rules, claims, cells, claims_data(judged))


def _alarm(analysis: StudyAnalysis) -> str:
    """A control that finds a difference where there is none casts doubt on those that the claims rest on."""
    arms = [control.baseline.arm.partition("#")[0] for control in analysis.controls if control.outcome.significant]
    if not arms:
        return ""
    differs = "differs" if len(arms) == 1 else "differ"
    itself = f"Against itself {number_text.listed(arms)} {differs} significantly (A/A)"
    return f"{itself}: read these verdicts with that in mind."


def claims_lines(study: Study, analysis: StudyAnalysis) -> list[str]:
    """What the terminal says about the paper: a line, or none."""
    section = paper_section(study, analysis)
    return [line for line in (section.summary, section.caution) if line] if section else []


def summary_line(judged: Sequence[Judged]) -> str:
    """Return the summary: `Of the paper's 12 claims 3 agree, 1 differs, 6 undecided here, 2 not testable here.`"""
    counts = Counter(each.verdict for each in judged)
    parts = ", ".join(counted(verdict, counts[verdict]) for verdict in Verdict)
    partly = sum(each.verdict is Verdict.AGREES and each.tested < len(each.cells) for each in judged)
    note = f" {partly} of those that agree could be tested in some of their cells only." if partly else ""
    return f"Of the paper's {number_text.counted(len(judged), 'claim')} {parts}.{note}"
