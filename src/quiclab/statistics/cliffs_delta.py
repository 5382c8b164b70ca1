# SPDX-License-Identifier: Apache-2.0
"""Cliff's delta: how often one arm's trial is better than the other's, less how often it is worse, from −1 to 1.

It needs no unit and no shape of the distribution: 0 is no difference, ±1 is no overlap. The interval is the asymmetric
one of Feng and Cliff 2004 (J. Mod. Appl. Stat. Methods 3(2)), with the unbiased variance of Cliff 1996; where the
samples do not overlap, its inner bound is theirs, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.statistics.interval import Interval

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Delta:
    """Effect size of two samples."""

    estimate: float
    """P(baseline > other) − P(baseline < other); NaN of an empty sample."""
    interval: Interval | None
    """None of fewer than three values on a side."""


def cliffs_delta(baseline: FloatArray, other: FloatArray, confidence: float) -> Delta:
    """Of two samples in any unit; ±inf ranks last or first, NaN is left out. Positive where the baseline is larger."""
    baseline, other = baseline[~np.isnan(baseline)], other[~np.isnan(other)]
    if not baseline.size or not other.size:
        return Delta(float("nan"), None)
    dominance = (baseline[:, None] > other[None, :]).astype(np.float64) - (baseline[:, None] < other[None, :])
    delta = float(dominance.mean())
    if min(baseline.size, other.size) < 3:
        return Delta(delta, None)
    return Delta(delta, _interval(dominance, delta, confidence))


def _interval(dominance: FloatArray, delta: float, confidence: float) -> Interval:
    from scipy.stats import norm  # imported late: it takes longer than the rest of an analysis

    z = float(norm.ppf((1 + confidence) / 2))
    m, n = dominance.shape
    if abs(delta) == 1:
        least = min(m, n)
        inner = (least - z * z) / (least + z * z)
        return Interval(min(delta, delta * inner), max(delta, delta * inner), confidence)
    rows = float(((dominance.mean(axis=1) - delta) ** 2).sum())
    columns = float(((dominance.mean(axis=0) - delta) ** 2).sum())
    cells = float(((dominance - delta) ** 2).sum())
    unbiased = (n * n * rows + m * m * columns - cells) / (m * n * (m - 1) * (n - 1))
    variance = max(unbiased, (1 - delta * delta) / (m * n - 1))
    middle, reach = delta - delta**3, z * np.sqrt(variance) * np.sqrt((1 - delta * delta) ** 2 + z * z * variance)
    scale = 1 - delta * delta + z * z * variance
    return Interval(max(-1.0, float((middle - reach) / scale)), min(1.0, float((middle + reach) / scale)), confidence)
