# SPDX-License-Identifier: Apache-2.0
"""The paper's claims beside ours as tables of the page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from quiclab.compare.papers.claim_cells import ABSENT
from quiclab.compare.papers.claim_verdict import Verdict, counted
from quiclab.compare.papers.claims import Finding, Judged
from quiclab.compare.papers.paper import CORRELATION, Claim
from quiclab.compare.study import Study
from quiclab.evidence.metrics import title_of
from quiclab.model import number_text
from quiclab.model.text_table import TextTable


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
        "is better. Of a correlation it is by how much it is stronger in the second arm. Of a claim about several "
        "cells it is the least and the greatest.",
        ("the paper says", "verdict", "ours", "interval", "n", "tested as", "where", "cells", "remarks"),
        rows,
        "The paper's file holds no claim.",
    )


def cells_table(judged: Sequence[Judged], study: Study, nominal: float) -> TextTable:
    """A row per cell; without rows where every claim has one cell at most."""
    paths, workloads = study.titles("paths"), study.titles("workloads")
    several = any(len(each.cells) > 1 for each in judged)
    rows = (
        (
            each.claim.id,
            paths.get(cell.path, cell.path),
            workloads.get(cell.workload, cell.workload),
            _printed(each.claim),
            _ours(cell, each.claim),
            _interval(cell, each.claim, nominal),
            _n(cell, each.claim),
            number_text.p_text(cell.p),
            number_text.p_text(cell.adjusted_p),
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
    """Say in a few words what the claim expects: `time to last byte: h3 lower than h2`."""
    if claim.expected is None or not claim.arms:
        return "–"
    title, expected = title_of(claim.metric), claim.expected
    if not expected.direction:
        between = "{1} − {0}" if claim.kind == "difference" else "advantage of {1} over {0}"
        whose = claim.arms[0] if len(claim.arms) == 1 else between.format(*claim.arms)
        return f"{claim.statistic} {title}, {whose}: {_printed(claim)}"
    first, second = claim.sides
    if claim.kind == CORRELATION:
        stronger = "more" if expected.direction == "higher" else "less"
        return f"correlation of {title} with {title_of(claim.second_metric)}: {stronger} in {second} than in {first}"
    return f"{title}: {second} " + (f"as {first}" if expected.direction == "same" else f"{expected.text} than {first}")


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
    if not each.cells:
        return ""
    counts = Counter(cell.verdict for cell in each.cells)
    return ", ".join(counted(verdict, n) for verdict in Verdict if (n := counts[verdict]))


def _remarks(each: Judged) -> str:
    """Why cells do not agree, reasons together; then what the paper's file says in advance."""
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
    if len(claim.sides) == 2 and cell.unit == "%":
        return number_text.percent(cell.ours)
    return number_text.quantity(cell.ours, cell.unit)


def _interval(cell: Finding, claim: Claim, nominal: float) -> str:
    if cell.interval is None:
        return ""
    told = number_text.level_text(cell.interval, nominal)
    if len(claim.sides) == 2 and cell.unit == "%":
        return f"{number_text.interval_text(cell.interval)} %{told}"
    ends = (cell.interval.low, cell.interval.high)
    return " … ".join("open" if math.isinf(end) else number_text.quantity(end, cell.unit) for end in ends) + told


def _n(cell: Finding, claim: Claim) -> str:
    of_pairs = len(claim.sides) == 2 and claim.kind != CORRELATION
    return number_text.counted(cell.n, "pair" if of_pairs else "trial") if cell.n else ""
