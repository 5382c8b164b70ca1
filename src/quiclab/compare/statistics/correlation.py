# SPDX-License-Identifier: Apache-2.0
"""Rank correlations: how strongly two quantities go together, and in which of two samples more strongly."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.model.interval import Interval

_LEAST = 5
"""Fewest pairs of values that have a correlation: with four its interval is everything."""
_OF_SPEARMAN = 1.06
"""Variance of Fisher's z of Spearman's ρ, times n − 3 (Fieller, Hartley and Pearson 1957, Biometrika 44, 470–481)."""
_NEARLY_ONE = 1 - 1e-9


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation of a sample."""

    rho: float
    count: int
    """Pairs of values, both known."""


@dataclass(frozen=True)
class Stronger:
    """Difference of a second correlation's strength from a first one's."""

    difference: float
    """|ρ| of the second less |ρ| of the first."""
    interval: Interval
    p: float
    """Two-sided p of equal strength."""


def rank_correlation(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> Correlation | None:
    """Spearman's ρ of two quantities in order, without pairs in which one is NaN or infinite; None of fewer than five
    pairs, and where a quantity does not vary."""
    known = np.isfinite(one) & np.isfinite(other)
    if int(known.sum()) < _LEAST:
        return None
    from scipy.stats import rankdata  # imported late: it takes longer than the rest of an analysis

    ranks = [rankdata(values[known]) for values in (one, other)]
    if any(float(np.ptp(each)) == 0 for each in ranks):
        return None
    return Correlation(float(np.corrcoef(ranks[0], ranks[1])[0, 1]), int(known.sum()))


def stronger(first: Correlation, second: Correlation, confidence: float) -> Stronger:
    """Compare the strengths of two correlations as those of independent samples: pairs that meet the same losses are
    more alike than these, so that the interval is rather too wide.

    The p is that of the difference of Fisher's z; the interval is from those of the two (Zou 2007, Psychological
    Methods 12, 399–413).
    """
    from scipy.special import ndtr, ndtri

    ends, strengths, variances = [], [], []
    quantile = float(ndtri((1 + confidence) / 2))
    for each in (first, second):
        z, variance = math.atanh(min(abs(each.rho), _NEARLY_ONE)), _OF_SPEARMAN / (each.count - 3)
        reach = quantile * math.sqrt(variance)
        ends.append((math.tanh(z - reach), math.tanh(z), math.tanh(z + reach)))
        strengths.append(z)
        variances.append(variance)
    (low_1, at_1, high_1), (low_2, at_2, high_2) = ends
    difference = at_2 - at_1
    low = difference - math.hypot(at_2 - low_2, high_1 - at_1)
    high = difference + math.hypot(high_2 - at_2, at_1 - low_1)
    interval = Interval(max(-1.0, low), min(1.0, high), confidence)
    p = float(2 * ndtr(-abs(strengths[1] - strengths[0]) / math.sqrt(sum(variances))))
    return Stronger(difference, interval, p)
