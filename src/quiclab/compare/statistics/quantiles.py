# SPDX-License-Identifier: Apache-2.0
"""Tails: a quantile of one sample with its exact distribution-free interval.

The number of values below a quantile is binomial, whatever their distribution, so the interval runs between two of the
values in order (Hahn and Meeker 1991, Statistical Intervals, 5.2). A small sample cannot bound a tail; that end of the
interval is then open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.model.interval import Interval


@dataclass(frozen=True)
class Quantile:
    """One quantile of a sample."""

    estimate: float
    """The smallest value that at least this share of the sample does not exceed; a failed trial counts as infinite."""
    interval: Interval
    """Interval of the quantile; a bound is infinite where no value of the sample bounds it at this level."""


def quantile(values: npt.NDArray[np.float64], share: float, confidence: float) -> Quantile | None:
    """Quantile `share` (0.95 is p95) of values in any unit; ±inf are worst, NaN is left out. None for no values."""
    known = np.sort(values[~np.isnan(values)])
    if not known.size:
        return None
    from scipy.special import bdtr, bdtrc  # imported late: it takes longer than the rest of an analysis

    n, miss = known.size, (1 - confidence) / 2
    counts = np.arange(n + 1)
    at_most, above = bdtr(counts, n, share), bdtrc(counts, n, share)
    low = int(np.argmax(at_most >= miss))  # P(B < low) ≤ miss: the low-th value in order is a lower bound
    high = int(np.argmax(above <= miss)) + 1
    attained = float(at_most[high - 1] - (at_most[low - 1] if low else 0.0))
    estimate = float(known[max(0, math.ceil(share * n) - 1)])
    return Quantile(
        estimate,
        Interval(
            float(known[low - 1]) if low >= 1 else -math.inf,
            float(known[high - 1]) if high <= n else math.inf,
            attained,
        ),
    )
