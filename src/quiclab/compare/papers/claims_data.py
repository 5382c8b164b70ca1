# SPDX-License-Identifier: Apache-2.0
"""The paper's claims beside ours as data: `claims.csv` and `counted_cells.csv` in `report/data`."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from quiclab.compare.papers.claim_finding import Finding, Judged
from quiclab.compare.papers.paper import SPREAD, Claim


def claims_data(judged: Sequence[Judged]) -> pl.DataFrame:
    """One row per claim and cell; a claim without cells has one row of its own."""
    texts = ("claim", "section", "text", "claim_verdict", "metric", "statistic", "first_arm", "second_arm", "paper")
    schema = {
        **dict.fromkeys(texts, pl.String),
        **dict.fromkeys(("workload", "path", "verdict", "why", "unit", "conclusion"), pl.String),
        **dict.fromkeys(("ours", "low", "high", "confidence", "p", "adjusted_p"), pl.Float64),
        "n": pl.Int64,
        "known_before": pl.String,
    }
    rows = [_claim_row(each) | (_cell_row(cell) if cell else {}) for each in judged for cell in (each.cells or (None,))]
    return pl.DataFrame(rows, schema=schema)


def counted_data(judged: Sequence[Judged]) -> pl.DataFrame:
    """One row per cell of each count, with its state; without rows where no claim counts cells."""
    texts = ("claim", "workload", "path", "counted", "state", "why", "unit")
    numbers = ("ours", "low", "high", "confidence", "p", "adjusted_p")
    schema = {**dict.fromkeys(texts, pl.String), **dict.fromkeys(numbers, pl.Float64), "n": pl.Int64}
    rows = [
        {"claim": each.claim.id, "counted": each.claim.counted.text, "state": cell.state}
        | {name: value for name, value in _cell_row(cell.finding).items() if name in schema}
        for each in judged
        if each.claim.counted is not None
        for cell in each.counted
    ]
    return pl.DataFrame(rows, schema=schema)


def _claim_row(each: Judged) -> dict[str, object]:
    claim = each.claim
    first, second = claim.first_and_second
    return {
        "claim": claim.id,
        "section": claim.section,
        "text": claim.text,
        "claim_verdict": each.verdict.value,
        "metric": claim.metric or None,
        "statistic": _statistic(claim),
        "first_arm": first,
        "second_arm": second,
        "paper": claim.expected.text if claim.expected else None,
        "known_before": claim.why or None,
    }


def _statistic(claim: Claim) -> str | None:
    if claim.second_metric:
        return f"correlation with {claim.second_metric}"
    if claim.kind == SPREAD:
        return "coefficient of variation"
    if claim.counted is not None:
        of = f"{claim.statistic} " if claim.counted.direction is None else ""
        return f"count of cells: {of}{claim.counted.text}"
    return claim.statistic if claim.metric else None


def _cell_row(cell: Finding) -> dict[str, object]:
    interval = cell.interval
    return {
        "workload": cell.workload or None,
        "path": cell.path or None,
        "verdict": cell.verdict.value,
        "why": cell.why or None,
        "unit": cell.unit or None,
        "conclusion": cell.conclusion.value if cell.conclusion else None,
        "ours": cell.ours,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "confidence": interval.confidence if interval else None,
        "p": cell.p,
        "adjusted_p": cell.adjusted_p,
        "n": cell.n,
    }
