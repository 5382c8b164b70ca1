# SPDX-License-Identifier: Apache-2.0
"""The paper's claims beside ours as data: `report/data/claims.csv`."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from quiclab.compare.papers.claims import Finding, Judged
from quiclab.compare.papers.paper import Claim


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


def _claim_row(each: Judged) -> dict[str, object]:
    claim = each.claim
    arms = (*claim.sides, None, None)
    return {
        "claim": claim.id,
        "section": claim.section,
        "text": claim.text,
        "claim_verdict": each.verdict.value,
        "metric": claim.metric or None,
        "statistic": _statistic(claim),
        "first_arm": arms[0],
        "second_arm": arms[1],
        "paper": claim.expected.text if claim.expected else None,
        "known_before": claim.why or None,
    }


def _statistic(claim: Claim) -> str | None:
    if claim.second_metric:
        return f"correlation with {claim.second_metric}"
    return claim.statistic if claim.metric else None


def _cell_row(cell: Finding) -> dict[str, object]:
    interval = cell.interval
    return {
        "workload": cell.workload,
        "path": cell.path,
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
