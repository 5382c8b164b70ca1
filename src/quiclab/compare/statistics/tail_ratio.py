# SPDX-License-Identifier: Apache-2.0
"""Comparison of two samples in their tails: the difference of a quantile of both, with an interval by resampling pairs.

Pairs are drawn whole, so that what a block's two trials share stays shared, and the ends are those of the resamples
(Efron and Tibshirani 1993, 13.3). An exact interval from those of both quantiles would be open below some sixty pairs.
Fewer values than it takes to meet the worst tenth of trials at all tell nothing of it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.hodges_lehmann import Shift
from quiclab.model.interval import Interval

FloatArray = npt.NDArray[np.float64]

_RESAMPLES = 999


def least_for_tail(share: float, confidence: float) -> int:
    """Number of values needed for one of them to lie beyond the quantile `share`, but for half the error of
    `confidence`: 36 for p90 at 95 %."""
    return math.ceil(math.log((1 - confidence) / 2) / math.log(share))


def tail_difference(first: FloatArray, second: FloatArray, share: float, confidence: float) -> Shift | None:
    """Quantile `share` of `first` less that of `second`, whose values are pairs in one order; ±inf is allowed, NaN is
    not. None for fewer pairs than tell of the tail."""
    if first.size < least_for_tail(share, confidence):
        return None
    drawn = np.random.default_rng(0).integers(0, first.size, (_RESAMPLES, first.size))
    with np.errstate(invalid="ignore"):
        found = float(_quantile(first, share) - _quantile(second, share))
        drawn_differences = _quantile(first[drawn], share) - _quantile(second[drawn], share)
    # Two failures tell of no difference: it could lie anywhere, and widens the interval at both ends.
    cut = max(1, math.floor((_RESAMPLES + 1) * (1 - confidence) / 2 + 1e-9))
    low = np.sort(np.where(np.isnan(drawn_differences), -np.inf, drawn_differences))[cut - 1]
    high = np.sort(np.where(np.isnan(drawn_differences), np.inf, drawn_differences))[-cut]
    return Shift(found, Interval(float(low), float(high), confidence))


def _quantile(values: FloatArray, share: float) -> FloatArray:
    """The smallest value that at least this share of each row does not exceed."""
    at = max(0, math.ceil(share * values.shape[-1]) - 1)
    found: FloatArray = np.partition(values, at, axis=-1)[..., at]
    return found
