# SPDX-License-Identifier: Apache-2.0
"""The shift between two kinds of values in strata that differ in level: Wilcoxon's stratified test turned inside out.

Differences are taken within strata only, so that a stratum's own level cancels. The estimate is the median of all of
them, and the interval runs between two of them in order, so many from either end as the sum of the strata's
Mann–Whitney statistics allows (van Elteren 1960, Bull. Inst. Internat. Statist. 37, with
equal weights; Lehmann 1975, 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.censoring import median
from quiclab.compare.statistics.hodges_lehmann import Shift
from quiclab.model.interval import Interval

FloatArray = npt.NDArray[np.float64]

_LEAST_DIFFERENCES = 16
"""Fewest differences for the normal distribution of their count: two kinds of four values each, in one stratum."""


def stratified_shift(strata: Sequence[tuple[FloatArray, FloatArray]], confidence: float) -> Shift:
    """Shift of each stratum's second values against its first, in their unit; ±inf is allowed, NaN is not.

    The interval holds at about `confidence` (normal approximation); None where there are too few differences.
    """
    both = [(first, second) for first, second in strata if first.size and second.size]
    if not both:
        return Shift(math.nan, None)
    with np.errstate(invalid="ignore"):
        ordered = np.concatenate([(second[:, None] - first[None, :]).ravel() for first, second in both])
    ordered = np.sort(np.where(np.isnan(ordered), 0.0, ordered))
    sizes = [(first.size, second.size) for first, second in both]
    spread = math.sqrt(sum(m * n * (m + n + 1) for m, n in sizes) / 12)
    from scipy.stats import norm  # imported late: it takes longer than the rest of an analysis

    skip = math.floor(ordered.size / 2 - float(norm.isf((1 - confidence) / 2)) * spread)
    interval = None
    if skip > 0 and ordered.size >= _LEAST_DIFFERENCES:
        interval = Interval(float(ordered[skip - 1]), float(ordered[-skip]), confidence)
    return Shift(median(ordered), interval)
