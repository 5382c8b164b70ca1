# SPDX-License-Identifier: Apache-2.0
"""One verdict of a test and of the interval beside it, also where ties make the test exact and the interval
conservative: order statistics count every tie against a difference, and the test knows how likely it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from quiclab.model.interval import Interval

_ROUNDING = 1 + 1e-9
"""Factor within which a p and an error rate are the same: the rate is the difference of a level from 1."""


def as_tested(
    interval: Interval,
    alpha: float,
    p_at: Callable[[float], float],
    estimate: float,
    shifts: npt.NDArray[np.float64],
) -> Interval:
    """The interval that leaves 0 out exactly where the test rejects a shift of 0 at `alpha`.

    `p_at` is the test's p of a shift, `shifts` are those at which p changes, in any order. An interval of a sample in
    which the test rejects 0 and the estimate is 0 holds 0: no shift tells what there is.
    """
    if alpha >= 1:
        return interval
    holds = interval.low <= 0 <= interval.high
    rejected = p_at(0.0) <= alpha * _ROUNDING
    if holds != rejected or (rejected and estimate == 0):
        return interval
    if not rejected:
        return Interval(min(interval.low, 0.0), max(interval.high, 0.0), interval.confidence)
    side = 1.0 if estimate > 0 else -1.0
    beyond = np.unique(side * shifts[np.isfinite(shifts)])
    beyond = beyond[(beyond > 0) & (beyond < side * estimate)]
    end = next((float(each) for each in beyond if p_at(side * float(each)) > alpha * _ROUNDING), side * estimate)
    if side > 0:
        return Interval(end, max(interval.high, end), interval.confidence)
    return Interval(min(interval.low, -end), -end, interval.confidence)
