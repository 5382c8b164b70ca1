# SPDX-License-Identifier: Apache-2.0
"""The paper's claims beside ours: tables for the page, data beside it, and a line for the terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from quiclab.report import wording
from quiclab.report.analyse import TITLES
from quiclab.report.claim_cells import ABSENT
from quiclab.report.claim_verdict import RULES, Verdict
from quiclab.report.claims import Finding, Judged, judge
from quiclab.report.claims_data import claims_data
from quiclab.report.model import StudyAnalysis
from quiclab.report.paper import Claim, read_paper
from quiclab.report.study import Study
from quiclab.report.text_table import TextTable

_WORDS = {
    Verdict.AGREES: ("agrees", "agree"),
    Verdict.DIFFERS: ("differs", "differ"),
    Verdict.UNDECIDED: ("undecided here", "undecided here"),
    Verdict.NOT_TESTABLE: ("not testable here", "not testable here"),
}
"""Of one, of several."""


@dataclass(frozen=True)
class PaperSection:
    """What the page says about the paper."""

    citation: str
    caution: str
    summary: str
    rules: tuple[str, ...]
    claims: TextTable
    cells: TextTable
    """The same cell by cell; without rows where every claim has one cell at most."""
    data: pl.DataFrame


def paper_section(study: Study, analysis: StudyAnalysis) -> PaperSection | None:
    """None where the study follows no paper."""
    paper = read_paper(study.directory)
    if paper is None:
        return None
    judged = judge(study, analysis, paper)
    rules = (*RULES, f"Intervals hold {100 * (1 - analysis.alpha):g} %.")
    summary = summary_line(judged) if judged else ""
    claims, cells = _claims_table(judged), _cells_table(judged, study)
    caution = " ".join(filter(None, (paper.caution, _alarm(analysis) if judged else "")))
    return PaperSection(paper.citation, caution, summary, rules, claims, cells, claims_data(judged))


def _alarm(analysis: StudyAnalysis) -> str:
    """A control that finds a difference where there is none casts doubt on those that the claims rest on."""
    arms = [control.baseline.arm.partition("#")[0] for control in analysis.controls if control.outcome.significant]
    if not arms:
        return ""
    return f"Against itself {wording.listed(arms)} differs significantly here (A/A): read these verdicts with that in mind."


def claims_lines(study: Study, analysis: StudyAnalysis) -> list[str]:
    """What the terminal says about the paper: a line, or none."""
    section = paper_section(study, analysis)
    return [line for line in (section.summary, section.caution) if line] if section else []


def summary_line(judged: Sequence[Judged]) -> str:
    """`Of the paper's 12 claims 3 agree, 1 differs, 6 undecided here, 2 not testable here.`"""
    counts = Counter(each.verdict for each in judged)
    parts = ", ".join(f"{counts[verdict]} {words[counts[verdict] != 1]}" for verdict, words in _WORDS.items())
    partly = sum(each.verdict is Verdict.AGREES and each.tested < len(each.cells) for each in judged)
    note = f" {partly} of those that agree could be tested in some of their cells only." if partly else ""
    return f"Of the paper's {wording.counted(len(judged), 'claim')} {parts}.{note}"


def _claims_table(judged: Sequence[Judged]) -> TextTable:
    rows = tuple(
        (
            each.claim.text,
            each.claim.section,
            _says(each.claim),
            _range([_ours(cell, each.claim) for cell in sorted(each.cells, key=lambda c: c.ours or 0.0)]),
            _only([_interval(cell, each.claim) for cell in each.cells]),
            _range([_n(cell, each.claim) for cell in sorted(each.cells, key=lambda c: c.n)]),
            each.verdict.value,
            _cells(each),
            _remarks(each),
        )
        for each in judged
    )
    return TextTable(
        "Claim by claim",
        "Of a direction ours is the change of the second arm's metric beside the first's: above zero it is higher. "
        "Of a number it is what the paper gives; of two arms that is the second one's advantage, above zero where it "
        "is better. Of a claim about several cells it is the least and the greatest.",
        ("the paper says", "where", "tested as", "ours", "interval", "n", "verdict", "cells", "remarks"),
        rows,
        "The paper's file holds no claim.",
    )


def _cells_table(judged: Sequence[Judged], study: Study) -> TextTable:
    paths, workloads = study.titles("paths"), study.titles("workloads")
    several = any(len(each.cells) > 1 for each in judged)
    rows = (
        (
            each.claim.id,
            paths.get(cell.path, cell.path),
            workloads.get(cell.workload, cell.workload),
            _printed(each.claim),
            _ours(cell, each.claim),
            _interval(cell, each.claim),
            _n(cell, each.claim),
            wording.p_text(cell.p),
            wording.p_text(cell.adjusted_p),
            cell.verdict.value,
            cell.why,
        )
        for each in judged
        for cell in each.cells
    )
    return TextTable(
        "Cell by cell",
        "",
        ("claim", "network", "size", "the paper", "ours", "interval", "n", "p", "adjusted p", "verdict", "why"),
        tuple(rows) if several else (),
        "",
    )


def _says(claim: Claim) -> str:
    """`time to last byte: h3 lower than h2`."""
    if claim.expected is None or not claim.arms:
        return "–"
    title, expected = TITLES.get(claim.metric, claim.metric), claim.expected
    if not expected.direction:
        whose = claim.arms[0] if len(claim.arms) == 1 else f"advantage of {claim.arms[1]} over {claim.arms[0]}"
        return f"{claim.statistic} {title}, {whose}: {_printed(claim)}"
    first, second = claim.arms
    return f"{title}: {second} " + (f"as {first}" if expected.direction == "same" else f"{expected.text} than {first}")


def _printed(claim: Claim) -> str:
    """As the paper has it, with a true minus sign."""
    return claim.expected.text.replace("-", "−") if claim.expected else ""


def _range(ordered: Sequence[str]) -> str:
    """The least and the greatest of several cells."""
    known = [text for text in ordered if text]
    return " to ".join(dict.fromkeys((known[0], known[-1]))) if known else ""


def _only(texts: Sequence[str]) -> str:
    """One cell's own; several have too many to stand here."""
    known = [text for text in texts if text]
    return known[0] if len(known) == 1 else ("cell by cell below" if known else "")


def _cells(each: Judged) -> str:
    if not each.cells:
        return ""
    counts = Counter(cell.verdict for cell in each.cells)
    return ", ".join(f"{n} {_WORDS[verdict][n != 1]}" for verdict in _WORDS if (n := counts[verdict]))


def _remarks(each: Judged) -> str:
    """Why cells do not agree, reasons together; then what the paper's file says in advance."""
    whys = [cell.why for cell in each.cells if cell.why]
    if len(each.cells) > 1:
        absent = sum(why.startswith(ABSENT) for why in whys)
        counts = Counter(why for why in whys if not why.startswith(ABSENT))
        whys = [f"{why} ({wording.counted(count, 'cell')})" for why, count in counts.most_common()]
        if absent:
            share = (
                "None of its cells is"
                if absent == len(each.cells)
                else f"{absent} of its {len(each.cells)} cells are not"
            )
            whys.append(f"{share} in this study.")
    known = each.claim.why[:1].upper() + each.claim.why[1:]
    return " ".join([*whys, known + "." * (not known.endswith(".")) if known else ""]).strip()


def _ours(cell: Finding, claim: Claim) -> str:
    if cell.ours is None:
        return ""
    if len(claim.arms) == 2 and cell.unit == "%":
        return wording.percent(cell.ours)
    return wording.quantity(cell.ours, cell.unit)


def _interval(cell: Finding, claim: Claim) -> str:
    if cell.interval is None:
        return ""
    if len(claim.arms) == 2 and cell.unit == "%":
        return f"{wording.interval_text(cell.interval)} %"
    ends = (cell.interval.low, cell.interval.high)
    return " … ".join("open" if math.isinf(end) else wording.quantity(end, cell.unit) for end in ends)


def _n(cell: Finding, claim: Claim) -> str:
    return wording.counted(cell.n, "pair" if len(claim.arms) == 2 else "trial") if cell.n else ""
