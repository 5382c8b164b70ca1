# SPDX-License-Identifier: Apache-2.0
"""The section of the page about a paper, and its line in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from quiclab.compare.model import StudyAnalysis
from quiclab.compare.papers.claim_cells import ABSENT
from quiclab.compare.papers.claim_counts import states_text
from quiclab.compare.papers.claim_finding import CELLS, Finding, Judged
from quiclab.compare.papers.claim_verdict import RULES, Verdict, counted, told_of
from quiclab.compare.papers.claims import judge
from quiclab.compare.papers.claims_data import claims_data, counted_data
from quiclab.compare.papers.paper import CORRELATION, SPREAD, Claim, Paper, read_paper
from quiclab.compare.study import Study
from quiclab.evidence.metrics import title_of
from quiclab.model import number_text
from quiclab.model.text_table import TextTable


@dataclass(frozen=True)
class PaperSection:
    """Section of the page about the paper."""

    citation: str
    caution: str
    summary: str
    rules: tuple[str, ...]
    claims: TextTable
    cells: TextTable
    """The claims cell by cell; without rows where every claim has one cell at most."""
    data: pl.DataFrame
    """A row per claim and cell."""
    counted: pl.DataFrame
    """A row per cell that a claim counts; mostly without rows."""


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
    caution = _caution(paper, judged, analysis)
    data = claims_data(judged), counted_data(judged)
    return PaperSection(paper.citation, caution, summary, rules, claims, cells, *data)


@dataclass(frozen=True)
class ClaimInCell:
    """A claim beside our number in one cell, in the words of the page."""

    judged: Judged
    finding: Finding | None
    """Finding in the cell; None of a claim without cells."""
    says: str
    """Test in a few words: `time to last byte: h3 lower than h2`."""
    ours: str
    """Our number with its interval and what it is of; empty where there is none."""


def claims_in_cells(study: Study, analysis: StudyAnalysis) -> tuple[str, tuple[ClaimInCell, ...]]:
    """Return every claim of the study's paper in each of its cells, and before them the caution that the page has above
    its claims; nothing where the study follows no paper."""
    paper = read_paper(study.directory)
    if paper is None:
        return "", ()
    judged, nominal = judge(study, analysis, paper), 1 - analysis.alpha
    found = tuple(
        ClaimInCell(each, cell, _says(each.claim), _number_text(cell, each.claim, nominal) if cell else "")
        for each in judged
        for cell in (each.cells or (None,))
    )
    return _caution(paper, judged, analysis), found


def _number_text(cell: Finding, claim: Claim, nominal: float) -> str:
    """Return our number in a cell as in a sentence: `−7.4 % (−9.4 … −5.8 %), 20 pairs`; nothing where there is none."""
    if not (number := _ours(cell, claim)):
        return ""
    if cell.interval is not None and _ends(cell, claim):
        level = number_text.level_text(cell.interval, nominal).strip(" ()")
        number += f" ({', '.join(filter(None, (_ends(cell, claim), level)))})"
    return ", ".join(filter(None, (number, _n(cell, claim))))


def _caution(paper: Paper, judged: Sequence[Judged], analysis: StudyAnalysis) -> str:
    """Return what keeps the claims as a whole from being held against the study; mostly nothing."""
    return " ".join(filter(None, (paper.caution, _alarm(analysis) if judged else "")))


def _alarm(analysis: StudyAnalysis) -> str:
    """A control that finds a difference where there is none casts doubt on those that the claims rest on."""
    arms = [control.baseline.arm.partition("#")[0] for control in analysis.controls if control.outcome.significant]
    if not arms:
        return ""
    differs = "differs" if len(arms) == 1 else "differ"
    itself = f"Against itself {number_text.listed(arms)} {differs} significantly (A/A)"
    return f"{itself}: read these verdicts with that in mind."


def claims_lines(study: Study, analysis: StudyAnalysis) -> list[str]:
    """Line of the terminal about the paper, or none."""
    section = paper_section(study, analysis)
    return [line for line in (section.summary, section.caution) if line] if section else []


def summary_line(judged: Sequence[Judged]) -> str:
    """Return the summary: `Of the paper's 9 claims 3 agree, 1 differs, 4 are inconclusive, 1 is not testable here.`"""
    counts = Counter(each.verdict for each in judged)
    shown = [verdict for verdict in Verdict if counts[verdict] or verdict is not Verdict.NOT_JUDGED]
    parts = ", ".join(told_of(verdict, counts[verdict]) for verdict in shown)
    partly = sum(each.verdict is Verdict.AGREES and each.tested < len(each.cells) for each in judged)
    note = f" {partly} of those that agree could be tested in some of their cells only." if partly else ""
    return f"Of the paper's {number_text.counted(len(judged), 'claim')} {parts}.{note}"


# The paper's claims beside ours as tables of the page.
def claims_table(judged: Sequence[Judged], nominal: float) -> TextTable:
    """A row per claim. Intervals tell their level where it is not the nominal one."""
    rows = tuple(
        (
            each.claim.text,
            each.verdict.value,
            _range([_ours(cell, each.claim) for cell in sorted(each.cells, key=lambda c: c.ours or 0.0)]),
            _only([_interval(cell, each.claim, nominal) for cell in each.cells]),
            _range([_n(cell, each.claim) for cell in sorted(each.cells, key=lambda c: c.n)]),
            _says(each.claim),
            each.claim.section,
            _cells(each),
            _remarks(each),
        )
        for each in judged
    )
    return TextTable(
        "Claim by claim",
        "Of a direction ours is the change of the second arm's metric beside the first's: above zero it is higher. "
        "Of a number it is what the paper gives; of two arms that is the second one's advantage, above zero where it "
        "is better. Of a correlation it is by how much it is stronger in the second arm, of a spread by how much the "
        "coefficient of variation is greater there, and of a count it is the cells that are shown to count, with the "
        "least and the most that the number may be. Of a claim about several cells it is the least and the greatest.",
        ("the paper says", "verdict", "ours", "interval", "n", "tested as", "where", "cells", "remarks"),
        rows,
        "The paper's file holds no claim.",
    )


def cells_table(judged: Sequence[Judged], study: Study, nominal: float) -> TextTable:
    """A row per cell; without rows where every claim has one cell at most."""
    paths, workloads = study.titles("paths"), study.titles("workloads")
    several = any(len(each.cells) > 1 or each.counted for each in judged)
    rows = (
        (
            each.claim.id,
            paths.get(cell.path, cell.path),
            workloads.get(cell.workload, cell.workload),
            _counted_here(each.claim) or _printed(each.claim),
            _ours(cell, each.claim),
            _interval(cell, each.claim, nominal),
            _n(cell, each.claim),
            number_text.p_text(cell.p),
            number_text.p_text(cell.adjusted_p),
            state,
            cell.why,
        )
        for each in judged
        for cell, state in _cells_with_states(each)
    )
    return TextTable(
        "Cell by cell",
        "",
        ("claim", "network", "size", "the paper", "ours", "interval", "n", "p", "adjusted p", "verdict", "why"),
        tuple(rows) if several else (),
        "",
    )


def _cells_with_states(each: Judged) -> Iterator[tuple[Finding, str]]:
    """Cells of a claim with their verdicts; those that a count counts with their states."""
    if each.counted:
        yield from ((cell.finding, cell.state) for cell in each.counted)
    else:
        yield from ((cell, cell.verdict.value) for cell in each.cells)


def _counted_here(claim: Claim) -> str:
    """Condition of the cells of a count: `lower`; nothing of another claim."""
    return claim.counted.text if claim.counted is not None else ""


def _says(claim: Claim) -> str:
    """Say in a few words what the claim expects: `time to last byte: h3 lower than h2`."""
    if claim.expected is None or not claim.arms:
        return "–"
    title, expected = title_of(claim.metric), claim.expected
    if claim.counted is not None:
        return f"{title}, {_condition(claim)}: in {_printed(claim)} cells"
    if not expected.direction:
        between = "{1} − {0}" if claim.kind == "difference" else "advantage of {1} over {0}"
        whose = claim.sides[0] if len(claim.sides) == 1 else between.format(*claim.sides)
        return f"{claim.statistic} {title}, {whose}: {_printed(claim)}"
    first, second = claim.sides
    if claim.kind == CORRELATION:
        stronger = "more" if expected.direction == "higher" else "less"
        return f"correlation of {title} with {title_of(claim.second_metric)}: {stronger} in {second} than in {first}"
    if claim.kind == SPREAD:
        return f"{title}: varies {'more' if expected.direction == 'higher' else 'less'} with {second} than with {first}"
    return f"{title}: {second} " + (f"as {first}" if expected.direction == "same" else f"{expected.text} than {first}")


def _condition(claim: Claim) -> str:
    """Say how a cell is that counts: `h3 lower than h2`, `h3 lowest of h1, h2 and h3`, `mean with h2 above 3 s`."""
    assert claim.counted is not None
    text, last = claim.counted.text, claim.sides[-1]
    if claim.counted.direction is None:
        return f"{claim.statistic} with {last} {text}"
    if text in _AMONG_ALL:
        return f"{last} {text} of {number_text.listed(list(claim.sides))}"
    return f"{last} as {claim.sides[0]}" if text == "same" else f"{last} {text} than {claim.sides[0]}"


_AMONG_ALL = ("lowest", "highest")


def _printed(claim: Claim) -> str:
    """Return the paper's number as it is printed there, with a true minus sign."""
    if claim.expected is None:
        return ""
    number = claim.expected.text.replace("-", "−")
    return f"{number} ± {claim.expected.margin}" if claim.expected.margin else number


def _range(ordered: Sequence[str]) -> str:
    """The least and the greatest of several cells."""
    known = [text for text in ordered if text]
    return " to ".join(dict.fromkeys((known[0], known[-1]))) if known else ""


def _only(texts: Sequence[str]) -> str:
    """One cell's own; several have too many to stand here."""
    known = [text for text in texts if text]
    return known[0] if len(known) == 1 else ("cell by cell below" if known else "")


def _cells(each: Judged) -> str:
    if each.counted:
        return states_text(each.counted)
    if not each.cells:
        return ""
    counts = Counter(cell.verdict for cell in each.cells)
    return ", ".join(counted(verdict, n) for verdict in Verdict if (n := counts[verdict]))


def _remarks(each: Judged) -> str:
    """Reasons why cells do not agree, put together; then what the paper's file says in advance."""
    whys = [cell.why for cell in each.cells if cell.why]
    if len(each.cells) > 1:
        absent = sum(why.startswith(ABSENT) for why in whys)
        counts = Counter(why for why in whys if not why.startswith(ABSENT))
        whys = [f"{why} ({number_text.counted(count, 'cell')})" for why, count in counts.most_common()]
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
    if cell.unit == CELLS:
        return f"{cell.ours:g} of {cell.n}"
    if len(claim.sides) == 2 and cell.unit == "%":
        return number_text.percent(cell.ours)
    return number_text.quantity(cell.ours, cell.unit)


def _interval(cell: Finding, claim: Claim, nominal: float) -> str:
    if cell.interval is None or not (ends := _ends(cell, claim)):
        return ""
    return f"{ends}{number_text.level_text(cell.interval, nominal)}"


def _ends(cell: Finding, claim: Claim) -> str:
    """Return both ends of a cell's interval; nothing where it has none."""
    if cell.interval is None:
        return ""
    if cell.unit == CELLS:
        low, high = cell.interval.low, cell.interval.high
        return "" if low == high else f"{low:g} to {high:g}"  # the number is known
    if len(claim.sides) == 2 and cell.unit == "%":
        return number_text.interval_text(cell.interval, unit=" %")
    return number_text.ends_text(
        cell.interval.low, cell.interval.high, lambda end: number_text.quantity(end, cell.unit)
    )


def _n(cell: Finding, claim: Claim) -> str:
    if cell.unit == CELLS:
        return ""  # the number has them
    if len(claim.sides) == 1 and not isinstance(claim.arms[0], str):
        return number_text.counted(cell.n, "block") if cell.n else ""
    of_pairs = len(claim.sides) > 1 and claim.kind != CORRELATION
    return number_text.counted(cell.n, "pair" if of_pairs else "trial") if cell.n else ""
