# SPDX-License-Identifier: Apache-2.0
"""The Hodges–Lehmann shift of two independent samples with its exact interval: Mann–Whitney's test turned inside out.

The estimate is the median of all differences between a value of one sample and a value of the other; the interval runs
between two of them in order (Hollander, Wolfe and Chicken 2014, 4.2 and 4.3). It is exact without ties and conservative
with them, and leaves 0 out exactly where `mann_whitney_p` rejects 0 at the level asked for, ties or not; of samples
whose typical difference is 0 it holds 0.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.as_tested import as_tested
from quiclab.compare.statistics.censoring import median
from quiclab.compare.statistics.hodges_lehmann import Shift
from quiclab.compare.statistics.mann_whitney import MOST_COUNTED, mann_whitney_p
from quiclab.model.interval import Interval

FloatArray = npt.NDArray[np.float64]

_MOST_COUNTED = 200
"""Most values in both samples for which every rank sum is counted; beyond, the normal distribution is as good."""


def shift_of_two(baseline: FloatArray, other: FloatArray, confidence: float) -> Shift:
    """Shift of `other` against `baseline` in their unit, positive where `other` is larger.

    ±inf is allowed (two failures tie), NaN is left out; the interval attains at least `confidence`, or is None.
    """
    baseline, other = baseline[~np.isnan(baseline)], other[~np.isnan(other)]
    if not baseline.size or not other.size:
        return Shift(math.nan, None)
    with np.errstate(invalid="ignore"):
        differences = (other[:, None] - baseline[None, :]).ravel()
    ordered = np.sort(np.where(np.isnan(differences), 0.0, differences))
    skip, attained = _order_statistic(baseline.size, other.size, confidence)
    if not skip:
        return Shift(median(ordered), None)

    def p_at(shift: float) -> float:
        p = mann_whitney_p(baseline, other - shift)
        return 1.0 if p is None else p

    estimate = median(ordered)
    interval = Interval(float(ordered[skip - 1]), float(ordered[-skip]), attained)
    both = np.concatenate([baseline, other])
    if both.size > MOST_COUNTED or np.unique(both).size < both.size:  # else both are exact
        interval = as_tested(interval, 1 - confidence, p_at, estimate, ordered)
    return Shift(estimate, interval)


def smallest_p_of_two(baseline: int, other: int) -> float:
    """The smallest two-sided p of Mann–Whitney's test with samples of these sizes: no overlap, no ties. 1 if one is
    empty."""
    return min(1.0, 2 / math.comb(baseline + other, other))


@functools.cache
def _order_statistic(m: int, n: int, confidence: float) -> tuple[int, float]:
    """Largest k such that the interval between the k-th differences from both ends attains `confidence`, and what it
    attains."""
    miss = (1 - confidence) / 2
    if m + n <= _MOST_COUNTED:
        tail = np.cumsum(_u_distribution(m, n))
        k = int(np.searchsorted(tail, miss * (1 + 1e-12), side="right"))
        return (k, 1 - 2 * float(tail[k - 1])) if k else (0, 0.0)
    from scipy.stats import norm  # imported late: it takes longer than the rest of an analysis

    spread = math.sqrt(m * n * (m + n + 1) / 12)
    k = max(0, math.floor(m * n / 2 - float(norm.isf(miss)) * spread))
    return k, 1 - 2 * float(norm.cdf((k - 0.5 - m * n / 2) / spread))


def _u_distribution(m: int, n: int) -> FloatArray:
    """Probability of each value 0 … m·n of Mann–Whitney's U: every choice of m ranks out of m + n is as likely."""
    ways = np.zeros((m + 1, m * n + 1))
    ways[0, 0] = 1.0
    for rank in range(m + n):
        for chosen in range(min(rank + 1, m), 0, -1):
            # The chosen-th smallest rank exceeds as many of the other sample as ranks below it were not chosen.
            exceeded = rank + 1 - chosen
            if exceeded <= m * n:
                ways[chosen, exceeded:] += ways[chosen - 1, : m * n + 1 - exceeded]
    probability: FloatArray = ways[m] / float(math.comb(m + n, m))
    return probability
