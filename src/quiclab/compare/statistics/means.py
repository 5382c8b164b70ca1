# SPDX-License-Identifier: Apache-2.0
"""Means with intervals, for comparison with papers that report means.

Student's interval is right for normal values; for skewed ones it misses on the side of the tail. From ten values on,
each end is therefore the farther one of Student's and the bootstrap-t's (Efron and Tibshirani 1993, 12.5), in which
resamples, always the same, tell how many standard errors a mean lies off. No interval of a mean is exact without a
known shape: a rare value that a sample happens to lack may move the mean to anywhere.

A third of the resamples of ten values lack a certain one. Where the others are nearly equal, as they are over a path
without chance, the standard error of such a resample is next to none, and its mean lies off by hundreds of them. A
resample's standard error therefore counts as a quarter of the sample's at least (docs/decisions/0003-what-decides.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.model.interval import Interval

FloatArray = npt.NDArray[np.float64]
LEAST = 3
RESAMPLED_FROM = 10
"""Fewest values whose resamples are enough to take a tail from."""
_RESAMPLES = 1999
_PER_TAIL = (_RESAMPLES + 1) / 2
"""Resamples beyond an end, for each unit of the error rate."""
_UP = 1 + 1e-9
"""Factor that makes up for rounding where a whole number of resamples lies beyond an end."""
_LEAST_ERROR = 0.25
"""Standard error of a resample, as a share of the sample's. At this share intervals of 10 and 20 exponential, lognormal
and gamma values hold their means as often as without it, to 0.4 points; those of ten nearly equal values, of which one
in five lies apart, are ten times narrower."""
_ROUNDING = 1e-12
"""Share of the estimate below which a standard error is a rounding error of equal values."""


@dataclass(frozen=True)
class Mean:
    """A mean, or a ratio of means."""

    estimate: float
    interval: Interval | None
    """Interval of the estimate; None for fewer than three values, because the spread of two says next to nothing."""
    count: int
    p: float = 1.0
    """Smallest error rate at which the interval of a mean leaves 0 out; 1 where there is no interval."""


def mean(values: FloatArray, confidence: float) -> Mean | None:
    """Mean of values in any unit; NaN is left out. None for no values, or where a mean has no meaning (±inf)."""
    values = values[~np.isnan(values)]
    if not values.size or not np.isfinite(values).all():
        return None
    return _about(np.ones_like(values), values, confidence)


def ratio_of_means(first: FloatArray, second: FloatArray, confidence: float) -> Mean | None:
    """Ratio mean(second) / mean(first) over pairs, with its standard error by linearisation (Cochran 1977, 6.4), so
    that what a pair shares cancels. Pairs with a NaN are left out; None without pairs, with ±inf, or where the first
    mean is 0."""
    known = ~(np.isnan(first) | np.isnan(second))
    first, second = first[known], second[known]
    if not first.size or not np.isfinite([first, second]).all() or np.mean(first) == 0:
        return None
    return _about(first, second, confidence)


def _about(first: FloatArray, second: FloatArray, confidence: float) -> Mean:
    n = int(first.size)
    estimates, errors = _ratios(first[None], second[None])
    estimate, error = float(estimates[0]), float(errors[0])
    if n < LEAST:
        return Mean(estimate, None, n)
    if error <= _ROUNDING * abs(estimate):
        return Mean(estimate, Interval(estimate, estimate, confidence), n, 0.0 if estimate else 1.0)
    from scipy.special import stdtr, stdtrit  # imported late: it takes longer than the rest of an analysis

    student = float(stdtrit(n - 1, (1 + confidence) / 2))
    p = float(2 * stdtr(n - 1, -abs(estimate) / error))
    low = high = student
    if n >= RESAMPLED_FROM:
        off = _resampled(first, second, estimate, error)
        cut = max(1, math.floor(_PER_TAIL * (1 - confidence) * _UP))
        low, high = max(student, float(off[-cut])), max(student, -float(off[cut - 1]))
        # Resamples whose end of an interval would lie at 0 or beyond it.
        beyond = int((abs(estimate) - math.copysign(1, estimate) * off * error <= 0).sum())
        p = max(p, (beyond + 1) / _PER_TAIL if beyond else 0.0)
    return Mean(estimate, Interval(estimate - low * error, estimate + high * error, confidence), n, min(1.0, p))


def _ratios(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The ratio of the means of each row, and its standard error."""
    n, base = first.shape[1], first.mean(axis=1)
    ratios = second.mean(axis=1) / base
    residuals = second - ratios[:, None] * first
    return ratios, np.sqrt((residuals**2).sum(axis=1) / max(1, n - 1) / n) / np.abs(base)


def _resampled(first: FloatArray, second: FloatArray, estimate: float, error: float) -> FloatArray:
    """Distance of each resample from the estimate in standard errors of its own, in order."""
    drawn = np.random.default_rng(0).integers(0, first.size, (_RESAMPLES, first.size))
    ratios, errors = _ratios(first[drawn], second[drawn])
    ordered: FloatArray = np.sort((ratios - estimate) / np.maximum(errors, _LEAST_ERROR * error))
    return ordered
