# SPDX-License-Identifier: Apache-2.0
"""Bootstrap interval of a median."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from quiclab.statistics.interval import Interval

_RESAMPLES = 4000


def median_interval(values: npt.NDArray[np.float64], confidence: float, seed: int = 0) -> Interval | None:
    """Percentile interval of the median (Efron 1979) from resamples of a fixed seed; censored values stay worst.

    None of fewer than three known values. The level is nominal: with few values the interval is somewhat narrow.
    """
    known = np.sort(values[~np.isnan(values)])
    if known.size < 3:
        return None
    draws = np.sort(np.random.default_rng(seed).integers(0, known.size, (_RESAMPLES, known.size)), axis=1)
    # The lower and the upper middle value are kept apart, for the mean of a value and an infinity says nothing.
    lower, upper = known[draws[:, (known.size - 1) // 2]], known[draws[:, known.size // 2]]
    medians = np.sort(np.where(lower == upper, lower, (lower + upper) / 2))
    cut = int(_RESAMPLES * (1 - confidence) / 2)
    return Interval(float(medians[cut]), float(medians[_RESAMPLES - 1 - cut]), confidence)
