# SPDX-License-Identifier: Apache-2.0
"""Trials that failed or reached their time limit have no value, yet they are the worst: they rank last.

A censored trial is carried as the worst value there is: +inf where lower is better, −inf where higher is better. Rank
methods and medians then need no special case. A value that is merely unknown (NaN) is something else: it is left out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def censored(values: FloatArray, failed: npt.NDArray[np.bool_], *, lower_is_better: bool = True) -> FloatArray:
    """`values` with the worst possible value wherever `failed`."""
    return np.where(failed, np.inf if lower_is_better else -np.inf, np.asarray(values, dtype=np.float64))


def paired_differences(baseline: FloatArray, other: FloatArray) -> FloatArray:
    """Differences (baseline − other) within pairs; two failures are a tie (0), a pair with an unknown value (NaN) is
    left out."""
    differences = differences_in_order(baseline, other)
    return differences[~np.isnan(differences)]


def differences_in_order(baseline: FloatArray, other: FloatArray) -> FloatArray:
    """Differences (baseline − other) within pairs, each in the place of its pair; two failures are a tie (0), and NaN
    stands where a value is unknown."""
    baseline, other = np.asarray(baseline, dtype=np.float64), np.asarray(other, dtype=np.float64)
    tied = np.isinf(baseline) & (baseline == other)
    with np.errstate(invalid="ignore"):
        return np.where(tied, 0.0, baseline - other)


def median(values: FloatArray) -> float:
    """Median in which censored values count as worst; NaN for no values, infinite if the middle value is censored."""
    known = np.sort(values[~np.isnan(values)])
    if known.size == 0:
        return float("nan")
    low, high = float(known[(known.size - 1) // 2]), float(known[known.size // 2])
    return low if low == high else (low + high) / 2
