# SPDX-License-Identifier: Apache-2.0
"""Means with Student's intervals, for comparison with papers that report means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.statistics.interval import Interval

FloatArray = npt.NDArray[np.float64]
LEAST = 3


@dataclass(frozen=True)
class Mean:
    """A mean, or a ratio of means."""

    estimate: float
    interval: Interval | None
    """None of fewer than three values: a spread of two says next to nothing."""
    count: int


def mean(values: FloatArray, confidence: float) -> Mean | None:
    """Of finite values in any unit; NaN is left out. None of no values, or where a mean has no meaning (±inf)."""
    values = values[~np.isnan(values)]
    if not values.size or not np.isfinite(values).all():
        return None
    return _about(float(np.mean(values)), values - np.mean(values), 1.0, confidence)


def ratio_of_means(first: FloatArray, second: FloatArray, confidence: float) -> Mean | None:
    """mean(second) / mean(first) over pairs, its interval by linearisation (Cochran 1977, 6.4), so that what a pair
    shares cancels. Pairs with a NaN are left out; None without pairs, with ±inf, or where the first mean is 0."""
    known = ~(np.isnan(first) | np.isnan(second))
    first, second = first[known], second[known]
    if not first.size or not np.isfinite([first, second]).all() or np.mean(first) == 0:
        return None
    ratio = float(np.mean(second) / np.mean(first))
    return _about(ratio, second - ratio * first, abs(float(np.mean(first))), confidence)


def _about(estimate: float, residuals: FloatArray, scale: float, confidence: float) -> Mean:
    n = int(residuals.size)
    if n < LEAST:
        return Mean(estimate, None, n)
    from scipy.special import stdtrit  # imported late: it takes longer than the rest of an analysis

    error = float(np.sqrt(np.sum(residuals**2) / (n - 1) / n)) / scale
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    return Mean(estimate, Interval(estimate - half, estimate + half, confidence), n)
