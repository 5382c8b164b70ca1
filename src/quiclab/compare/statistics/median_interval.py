# SPDX-License-Identifier: Apache-2.0
"""Interval of a median from order statistics: exact for few values, interpolated to the nominal level for more.

Between the d-th values from both ends lies the median with a probability that the binomial distribution gives, whatever
the values' distribution. It jumps from one d to the next; from twenty values on the interval lies between two of
them, so that it attains the nominal level for distributions of any usual shape (Hettmansperger and Sheather 1986,
Statist. Probab. Lett. 4; Nyblom 1992).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from quiclab.model.interval import Interval

LEAST_VALUES = 3
INTERPOLATED_FROM = 20


def median_interval(values: npt.NDArray[np.float64], confidence: float) -> Interval | None:
    """Interval of the median: censored values (±inf) stay worst, NaN is left out; None for fewer than three values.

    For fewer than twenty values it is exact and says which level it attains: at least `confidence` or, where so few
    values cannot reach it, that of their whole range.
    """
    known = np.sort(values[~np.isnan(values)])
    if known.size < LEAST_VALUES:
        return None
    attained = _attained(known.size)
    depth = max(1, sum(level >= confidence for level in attained))
    if known.size < INTERPOLATED_FROM:
        return Interval(float(known[depth - 1]), float(known[-depth]), attained[depth - 1])
    between = (attained[depth - 1] - confidence) / (attained[depth - 1] - attained[depth])
    n = known.size
    share = (n - depth) * between / (depth + (n - 2 * depth) * between)
    low, high = (_between(ordered, depth, share) for ordered in (known, known[::-1]))
    return Interval(low, high, confidence)


def _attained(n: int) -> list[float]:
    """Probability that the median lies between the d-th values from both ends, for d = 1, 2, … up to the middle."""
    tails = np.cumsum([math.comb(n, k) for k in range(n // 2 + 1)], dtype=object)
    return [1 - 2 * int(tail) / 2**n for tail in tails]


def _between(ordered: npt.NDArray[np.float64], depth: int, share: float) -> float:
    """Value that lies a share of the way from the one at this depth to the next one inwards."""
    outer, inner = float(ordered[depth - 1]), float(ordered[depth])
    return outer if math.isinf(outer) or math.isinf(inner) else (1 - share) * outer + share * inner
