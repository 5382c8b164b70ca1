# SPDX-License-Identifier: Apache-2.0
"""Ratios on the scale on which they are estimated, their logarithm, and in per cent, in which they are told.

Times that are half as long and times that are twice as long are equally far from equal times on the logarithmic scale:
noise alone moves a mean or median of log ratios to neither side, and whatever the two values of a pair share cancels.
In per cent of one of the two values neither holds.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.hodges_lehmann import Shift
from quiclab.model.interval import Interval

FloatArray = npt.NDArray[np.float64]


def logarithms(values: FloatArray) -> FloatArray | None:
    """Natural logarithms; ±inf (a failure) and NaN (unknown) stay as they are. None where a value is zero or below: it
    has no ratio."""
    if (values[np.isfinite(values)] <= 0).any():
        return None
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(values), values, np.log(np.where(np.isinf(values), 1.0, values)))


def per_cent(log_ratio: float) -> float:
    """Excess of a ratio over 1, in per cent: −50 of a half, +100 of two; ±inf stays."""
    if math.isinf(log_ratio):
        return log_ratio
    with np.errstate(over="ignore"):
        return 100 * float(np.expm1(log_ratio)) + 0.0  # no −0


def log_ratio(pct: float) -> float:
    """Turn `per_cent` inside out; at or below −100 %, which no ratio can be, it is −inf."""
    if math.isinf(pct):
        return pct
    return math.log1p(pct / 100) if pct > -100 else -math.inf


def shift_in_per_cent(shift: Shift) -> Shift:
    """A shift of log ratios with its interval, both as `per_cent`."""
    interval = shift.interval
    ends = interval and Interval(per_cent(interval.low), per_cent(interval.high), interval.confidence)
    return Shift(per_cent(shift.estimate), ends)
