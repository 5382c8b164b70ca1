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
_FARTHEST = 40.0
"""Quantile whose p is 0 as far as numbers go."""
_HALVINGS = 60


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

    The interval is from those of the two by Fisher's z (Zou 2007, Psychological Methods 12, 399–413), and p is the
    smallest error rate at which it leaves 0 out.
    """
    from scipy.special import ndtr, ndtri

    quantile = float(ndtri((1 + confidence) / 2))
    difference, low, high = _ends(first, second, quantile)
    return Stronger(
        difference,
        Interval(max(-1.0, low), min(1.0, high), confidence),
        min(1.0, float(2 * ndtr(-_least_quantile(first, second)))),
    )


def _ends(first: Correlation, second: Correlation, quantile: float) -> tuple[float, float, float]:
    """Difference of the strengths, with the ends of the interval that reaches to a normal quantile."""
    ends = []
    for each in (first, second):
        z = math.atanh(min(abs(each.rho), _NEARLY_ONE))
        reach = quantile * math.sqrt(_OF_SPEARMAN / (each.count - 3))
        ends.append((math.tanh(z - reach), math.tanh(z), math.tanh(z + reach)))
    (low_1, at_1, high_1), (low_2, at_2, high_2) = ends
    difference = at_2 - at_1
    low = difference - math.hypot(at_2 - low_2, high_1 - at_1)
    high = difference + math.hypot(high_2 - at_2, at_1 - low_1)
    return difference, low, high


def _least_quantile(first: Correlation, second: Correlation) -> float:
    """The normal quantile at which an end of the interval is 0, found by halving."""
    inside, outside = 0.0, _FARTHEST
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        difference, low, high = _ends(first, second, middle)
        if (low if difference > 0 else -high) > 0:
            inside = middle
        else:
            outside = middle
    return inside
