# SPDX-License-Identifier: Apache-2.0
"""What the page says about a paper, and the terminal in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from quiclab import wording
from quiclab.analysis.model import StudyAnalysis
from quiclab.analysis.paper.claim_verdict import RULES, Verdict, counted
from quiclab.analysis.paper.claims import Judged, judge
from quiclab.analysis.paper.claims_data import claims_data
from quiclab.analysis.paper.claims_table import cells_table, claims_table
from quiclab.analysis.paper.paper import read_paper
from quiclab.analysis.study import Study
from quiclab.text_table import TextTable


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
    rules = (*RULES, f"Intervals are to hold {wording.level(nominal)}; one that attains another level tells it.")
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
    return (
        f"Against itself {wording.listed(arms)} {differs} significantly (A/A): read these verdicts with that in mind."
    )


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
    return f"Of the paper's {wording.counted(len(judged), 'claim')} {parts}.{note}"
