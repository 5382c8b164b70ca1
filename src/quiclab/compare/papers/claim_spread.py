# SPDX-License-Identifier: Apache-2.0
"""A paper's claim that a metric varies more in one arm than in another: their coefficients of variation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from quiclab.compare import statistics
from quiclab.compare.model import ArmResult, Metric
from quiclab.compare.paired import values_within_pairs
from quiclab.compare.papers.claim_cells import Cells
from quiclab.compare.papers.claim_finding import Place
from quiclab.compare.papers.claim_verdict import Verdict
from quiclab.compare.papers.paper import SPREAD, Claim
from quiclab.compare.statistics import Spread
from quiclab.model import number_text

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spreads:
    """Spread of both arms in one cell."""

    measured: Spread | None
    """Spread of the values as measured; None where there is none."""
    p: float = math.nan
    """Greatest p of what the values may be without what the laboratory added; NaN where there is none."""
    adjusted_p: float | None = None
    """Value of p, adjusted over all spreads that the paper's claims are about (Benjamini and Hochberg)."""


def spreads(claims: Iterable[Claim], cells: Cells) -> dict[Place, Spreads]:
    """Spreads that all claims about them are held against, where the study has the cells."""
    found: dict[Place, Spreads] = {}
    for claim in claims:
        if claim.kind != SPREAD or not claim.testable or claim.expected is None:
            continue
        for workload, path in ((workload, path) for workload in claim.workloads for path in claim.paths):
            if cells.obstacle(claim, workload, path) is None:
                first, second = cells.sides(claim, workload, path)
                found[claim.id, workload, path] = _spreads(first, second, cells.metric(claim.metric))
    adjusted = statistics.adjusted_p_values(np.array([each.p for each in found.values()], dtype=np.float64))
    return {
        place: replace(each, adjusted_p=None if math.isnan(own) else float(own))
        for (place, each), own in zip(found.items(), adjusted, strict=True)
    }


def spread_verdict(claim: Claim, found: Spreads, alpha: float) -> tuple[Verdict, str]:
    """Return the verdict in one cell, with both coefficients of variation and the reason where it does not agree."""
    measured = found.measured
    if measured is None:
        return Verdict.INCONCLUSIVE, "Too few pairs for a spread, or a value that is not above zero has no logarithm."
    each = [
        f"{number_text.percent(100 * one, signed=False)} of {arm}"
        for arm, one in zip(claim.sides, (measured.first, measured.second), strict=True)
    ]
    told = f"The coefficient of variation is {number_text.listed(each)}"
    if (found.adjusted_p or 0.0) > alpha or not measured.leans:
        if measured.p <= alpha < found.p:
            return (
                Verdict.NOT_JUDGED,
                f"{told}; disturbed: what the machine added could be the difference.",
            )
        return Verdict.INCONCLUSIVE, f"{told}; that one of them varies more is not shown."
    assert claim.expected is not None
    agrees = ("higher" if measured.leans > 0 else "lower") == claim.expected.direction
    return (Verdict.AGREES if agrees else Verdict.DIFFERS), f"{told}."


def _spreads(first: ArmResult, second: ArmResult, metric: Metric) -> Spreads:
    measured = statistics.paired_spread(*values_within_pairs(first, second, metric))
    if measured is None:
        return Spreads(None)
    if not (first.is_disturbed or second.is_disturbed):
        return Spreads(measured, measured.p)
    # Against a greater spread of one arm speaks what brings its values together and those of the other apart.
    both = [_values(arm, other, metric) for arm, other in ((first, second), (second, first))]
    ends = (_together, _apart) if measured.leans < 0 else (_apart, _together)
    against = statistics.paired_spread(*(end(*values) for end, values in zip(ends, both, strict=True)))
    if against is None or against.leans * measured.leans <= 0:
        return Spreads(measured, 1.0)
    return Spreads(measured, max(measured.p, against.p))


def _values(arm: ArmResult, other: ArmResult, metric: Metric) -> tuple[FloatArray, FloatArray]:
    """The least and the most that the values of an arm may be, in the blocks that both have."""
    least, most = (values_within_pairs(arm, other, metric, (end, "measured"))[0] for end in ("least", "most"))
    return least, most


def _together(least: FloatArray, most: FloatArray) -> FloatArray:
    """The values as near to each other as they may be: all of them at a common one, or at the end next to it."""
    return min((np.clip(centre, least, most) for centre in (*least, *most)), key=_deviation)


def _apart(least: FloatArray, most: FloatArray) -> FloatArray:
    """The values as far from each other as they may be: each at the end that is farther from a common one."""
    farther = (np.where(most - centre > centre - least, most, least) for centre in (*least, *most))
    return max(farther, key=_deviation)


def _deviation(values: FloatArray) -> float:
    """Sum of the deviations from the median, as shares of it."""
    middle = float(np.median(values))
    return float(np.abs(values - middle).sum() / middle) if middle else 0.0
