# SPDX-License-Identifier: Apache-2.0
"""The Hodges–Lehmann shift with its exact distribution-free interval: the signed-rank test turned inside out.

The estimate is the median of the Walsh averages (means of every two differences, each with itself too). The interval
runs between two of them in order (Hollander, Wolfe and Chicken 2014, 3.2 and 3.3); it is exact without ties and
conservative with them. It leaves 0 out exactly where `signed_rank` rejects 0 at the level asked for, ties or not; of
pairs that lean to one side although the typical one shows no difference, it holds 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.as_tested import as_tested
from quiclab.compare.statistics.censoring import median
from quiclab.compare.statistics.signed_rank import flip_distribution, signed_rank
from quiclab.model.interval import Interval

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Shift:
    """Typical difference within a pair, in the unit of the differences."""

    estimate: float
    """The shift; infinite where failures dominate, NaN for no differences or for as many failures on one side as on the
    other."""
    interval: Interval | None
    """Interval of the shift; None where there are too few pairs for a bounded interval at the level asked for."""


def hodges_lehmann(differences: FloatArray, confidence: float) -> Shift:
    """Estimate the shift from paired differences (±inf allowed), with the interval that attains at least
    `confidence`. Raises ValueError for NaN, which could lie anywhere."""
    differences = np.asarray(differences, dtype=np.float64)
    if np.isnan(differences).any():
        raise ValueError("a difference that is unknown (NaN) bounds no shift: leave it out")
    if differences.size == 0:
        return Shift(float("nan"), None)
    with np.errstate(invalid="ignore"):
        walsh = (differences[:, None] + differences[None, :])[np.triu_indices(differences.size)] / 2
    estimate = median(walsh)
    skip, attained = _order_statistic(differences.size, confidence)
    if skip == 0:
        return Shift(estimate, None)
    # The mean of +inf and −inf could lie anywhere: it widens the interval at both ends.
    low = np.sort(np.where(np.isnan(walsh), -np.inf, walsh))[skip - 1]
    high = np.sort(np.where(np.isnan(walsh), np.inf, walsh))[-skip]
    interval = Interval(float(low), float(high), attained)
    if _has_ties(differences):
        interval = as_tested(
            interval, 1 - confidence, lambda shift: signed_rank(differences - shift).p, estimate, walsh
        )
    return Shift(estimate, interval)


def _has_ties(differences: FloatArray) -> bool:
    """True if a difference is zero, or two are as large as each other, whatever their signs: else order statistics are
    as exact as the test."""
    sizes = np.abs(differences)
    return bool((sizes == 0).any()) or np.unique(sizes).size < sizes.size


def _order_statistic(n: int, confidence: float) -> tuple[int, float]:
    """Largest k such that the interval between the k-th Walsh averages from both ends attains `confidence`, and what it
    attains."""
    tail = np.cumsum(flip_distribution(np.arange(1, n + 1)))  # P(rank sum ≤ w), ranks without ties
    k = int(np.searchsorted(tail, (1 - confidence) / 2 * (1 + 1e-12), side="right"))
    return (k, 1 - 2 * float(tail[k - 1])) if k else (0, 0.0)
