# SPDX-License-Identifier: Apache-2.0
"""Values that drift with time, and values that lie far out: both are flagged, and nothing is ever dropped for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

FENCES = 3.0
"""Interquartile ranges beyond the quartiles: Tukey's outer fences (Exploratory Data Analysis, 1977)."""
LEAST_VALUES = 5
"""Fewest values whose quartiles mean anything."""


@dataclass(frozen=True)
class Drift:
    """A monotone trend of values in their order."""

    per_step: float
    """Slope after Theil and Sen, in the values' unit per step."""
    p: float
    """Two-sided p of Kendall's tau."""


def drift(values: FloatArray) -> Drift | None:
    """Trend of values in order of time; NaN and ±inf keep their place but do not count. None for fewer than five
    values."""
    steps = np.flatnonzero(np.isfinite(values))
    if steps.size < LEAST_VALUES or np.unique(values[steps]).size == 1:
        return None
    from scipy.stats import kendalltau, theilslopes  # imported late: it takes longer than the rest of an analysis

    slope = theilslopes(values[steps], steps).slope
    return Drift(float(slope), float(kendalltau(steps, values[steps]).pvalue))


def far_out(values: FloatArray) -> npt.NDArray[np.bool_]:
    """Flag the finite values that lie beyond the outer fences; with fewer than five there are none."""
    finite = np.isfinite(values)
    if finite.sum() < LEAST_VALUES:
        return np.zeros(values.shape, dtype=np.bool_)
    low, high = np.quantile(values[finite], [0.25, 0.75])
    reach = FENCES * (high - low)
    beyond: npt.NDArray[np.bool_] = finite & ((values < low - reach) | (values > high + reach))
    return beyond
