# SPDX-License-Identifier: Apache-2.0
"""A paper's claim that two metrics go together more strongly in one arm than in another."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from quiclab.compare import statistics
from quiclab.compare.paired import values_within_pairs
from quiclab.compare.papers.claim_cells import Cells, Obstacle
from quiclab.compare.papers.claim_finding import Place
from quiclab.compare.papers.claim_verdict import Verdict
from quiclab.compare.papers.paper import CORRELATION, Claim
from quiclab.compare.statistics import Correlation, Stronger
from quiclab.evidence.metrics import title_of
from quiclab.model import number_text


@dataclass(frozen=True)
class Strengths:
    """The correlations of both arms in one cell."""

    first: Correlation | None
    second: Correlation | None
    told: Stronger | None
    """Difference of the two correlations; None where one of them is not known."""
    adjusted_p: float | None = None
    """Value of p, adjusted over all correlations that the paper's claims are about (Benjamini and Hochberg)."""

    @property
    def count(self) -> int:
        """Trials of the arm that has fewer with both values."""
        return min(each.count if each else 0 for each in (self.first, self.second))


def strengths(claims: Iterable[Claim], cells: Cells, alpha: float) -> dict[Place, Strengths]:
    """Strengths of correlation that all claims about them are held against, where the study has the cells."""
    found: dict[Place, Strengths] = {}
    for claim in claims:
        if claim.kind != CORRELATION or not claim.testable or claim.expected is None:
            continue
        for workload, path in ((workload, path) for workload in claim.workloads for path in claim.paths):
            if not obstacle(claim, workload, path, cells):
                found[claim.id, workload, path] = _strengths(claim, workload, path, cells, alpha)
    p = np.array([each.told.p if each.told else math.nan for each in found.values()], dtype=np.float64)
    adjusted = statistics.adjusted_p_values(p)
    return {
        place: replace(each, adjusted_p=None if math.isnan(own) else float(own))
        for (place, each), own in zip(found.items(), adjusted, strict=True)
    }


def obstacle(claim: Claim, workload: str, path: str, cells: Cells) -> Obstacle | None:
    """Obstacle that keeps a claim about a correlation from being tested in a cell; None if it can be."""
    both = (claim, msgspec.structs.replace(claim, metric=claim.second_metric))
    return next(filter(None, (cells.obstacle(each, workload, path) for each in both)), None)


def correlation_verdict(claim: Claim, found: Strengths, alpha: float) -> tuple[Verdict, str]:
    """Return the verdict in one cell, with both correlations and the reason where it does not agree."""
    if found.first is None or found.second is None or found.told is None:
        few = [arm for arm, each in zip(claim.sides, (found.first, found.second), strict=True) if each is None]
        why = f"{number_text.listed(few)}: too few trials with both values, or always the same value."
        return Verdict.INCONCLUSIVE, why
    each = [
        f"{one.rho:+.2f}".replace("-", "−") + f" in {arm}"
        for arm, one in zip(claim.sides, (found.first, found.second), strict=True)
    ]
    rhos = f"Spearman's ρ with {title_of(claim.second_metric)} is {number_text.listed(each)}"
    if (found.adjusted_p or 0.0) > alpha:
        return Verdict.INCONCLUSIVE, f"{rhos}; that one of them is stronger is not shown."
    direction = "higher" if found.told.difference > 0 else "lower"
    assert claim.expected is not None
    agrees = direction == claim.expected.direction
    return (Verdict.AGREES if agrees else Verdict.DIFFERS), f"{rhos}."


def _strengths(claim: Claim, workload: str, path: str, cells: Cells, alpha: float) -> Strengths:
    first, second = (_correlation_in_arm(claim, workload, path, arm, cells) for arm in claim.sides)
    told = statistics.stronger(first, second, 1 - alpha) if first and second else None
    return Strengths(first, second, told)


def _correlation_in_arm(claim: Claim, workload: str, path: str, arm: str, cells: Cells) -> Correlation | None:
    one, other = (cells.arm(metric, workload, path, arm) for metric in (claim.metric, claim.second_metric))
    return statistics.rank_correlation(*values_within_pairs(one, other, cells.metric(claim.metric)))
