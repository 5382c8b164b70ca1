# SPDX-License-Identifier: Apache-2.0
"""Dependence of values on those before them, measured: exact tests and intervals take for granted that there is none.

Two statistics of ranks, pooled over groups of series: the autocorrelation of neighbours (Wald and Wolfowitz 1943, Ann.
Math. Statist. 14; of ranks, Bartels 1982, J. Amer. Statist. Assoc. 77), whose p is by permutation within groups; and
Kendall's tau against time, summed over the series as the seasonal Kendall test has it (Hirsch, Slack and Smith 1982,
Water Resources Research 18).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.ranks import doubled_midranks

FloatArray = npt.NDArray[np.float64]

LEAST_VALUES = 5
"""Fewest values of a series from which anything is told."""
PERMUTATIONS = 999
LEVEL = 0.05
"""Share of independent series that are called dependent."""


@dataclass(frozen=True)
class Independence:
    """Dependence of series on neighbours and on the course of time, all of them together."""

    values: int
    autocorrelation: float
    """Lag-1 autocorrelation of the ranks, without the bias of short series: 0 is expected of independent values."""
    autocorrelation_p: float
    """One-sided p of a positive one. A negative one makes false alarms rarer, not more frequent."""
    tau: float
    tau_p: float
    """Two-sided p of Kendall's tau."""

    @property
    def neighbours_depend(self) -> bool:
        """True if a value resembles the one before it. Half the level, as two questions are asked."""
        return self.autocorrelation_p <= LEVEL / 2

    @property
    def moves(self) -> bool:
        """True if the values move one way in the course of time. Half the level, as two questions are asked."""
        return self.tau_p <= LEVEL / 2

    @property
    def worth(self) -> float:
        """Number of independent values that tell as much about a mean: n (1 − r) / (1 + r)."""
        r = min(max(self.autocorrelation, 0.0), 0.99)
        return self.values * (1 - r) / (1 + r)

    @property
    def would_be_seen(self) -> float:
        """Autocorrelation that so many values show four times out of five."""
        return min(1.0, 2.8 / math.sqrt(self.values))


def independence(groups: Sequence[Sequence[FloatArray]]) -> Independence | None:
    """Test series in order of time; None where none has enough values that differ.

    Series of one group are of the same steps, and are permuted together, as what they share is no dependence on time.
    NaN stands where a step has no value, ±inf ranks last or first.
    """
    rng = np.random.default_rng(0)  # the same report from the same study
    observed, permuted = 0.0, np.zeros(PERMUTATIONS)
    series = values = s = pairs = 0
    variance = 0.0
    for group in groups:
        known = [ranked for each in group if (ranked := _ranks(each)) is not None]
        if not known:
            continue
        steps = known[0].size
        orders = rng.permuted(np.tile(np.arange(steps, dtype=np.int32), (PERMUTATIONS, 1)), axis=1)
        spread = 0.0
        for ranks in known:
            size = int(np.count_nonzero(~np.isnan(ranks)))
            whole = ranks[~np.isnan(ranks)]
            observed += size * float(_autocorrelations(whole[None, :])[0])
            shuffled = ranks[orders]
            permuted += size * _autocorrelations(shuffled[~np.isnan(shuffled)].reshape(PERMUTATIONS, size))
            s += int(np.sign(whole[None, :] - whole[:, None])[np.triu_indices(size)].sum())
            spread += math.sqrt(_kendall_variance(whole))
            series, values, pairs = series + 1, values + size, pairs + size * (size - 1) // 2
        variance += spread**2  # series of a group may go together, at most wholly
    if not values:
        return None
    return Independence(
        values,
        (observed + series) / values,  # n times the expected autocorrelation of n values is −1
        float(1 + np.count_nonzero(permuted >= observed - 1e-9)) / (PERMUTATIONS + 1),
        s / pairs,
        math.erfc(max(0, abs(s) - 1) / math.sqrt(2 * variance)),
    )


def _ranks(series: FloatArray) -> FloatArray | None:
    """Midranks about their mean, NaN where the series has it; None of too few values, or of one again and again."""
    known = ~np.isnan(series)
    if known.sum() < LEAST_VALUES or np.unique(series[known]).size == 1:
        return None
    ranks = np.full(series.shape, np.nan)
    ranks[known] = doubled_midranks(series[known]) / 2 - (known.sum() + 1) / 2
    return ranks


def _autocorrelations(rows: FloatArray) -> FloatArray:
    """Lag-1 autocorrelation of each row of centred ranks."""
    found: FloatArray = np.einsum("ij,ij->i", rows[:, :-1], rows[:, 1:]) / np.square(rows[0]).sum()
    return found


def _kendall_variance(ranks: FloatArray) -> float:
    """Variance of Kendall's sum over all orders (Kendall 1975, 4.3), ties counted."""
    _, ties = np.unique(ranks, return_counts=True)
    n = ranks.size
    return float(n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18
