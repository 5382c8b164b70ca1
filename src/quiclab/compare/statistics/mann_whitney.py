# SPDX-License-Identifier: Apache-2.0
"""Mann–Whitney's test of two independent samples, exact whatever the ties: it decides where trials do not pair up.

Under the null hypothesis every choice of ranks for the smaller sample is as likely as any other, ties or not. So the
distribution of its rank sum is counted from the midranks at hand. The normal approximation is for samples too large to
count.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.ranks import doubled_midranks

FloatArray = npt.NDArray[np.float64]

MOST_COUNTED = 100
"""Most values in both samples together whose choices are counted."""


def mann_whitney_p(baseline: FloatArray, other: FloatArray) -> float | None:
    """Two-sided p: twice the smaller tail, ±inf ranking last or first. Exact up to `MOST_COUNTED` values, from there
    on normal, with ties and continuity corrected.

    None where a sample is empty or every value is the same. NaN is left out.
    """
    baseline, other = baseline[~np.isnan(baseline)], other[~np.isnan(other)]
    both = np.concatenate(sorted((baseline, other), key=len))
    smaller = min(baseline.size, other.size)
    if smaller == 0 or np.unique(both).size == 1:
        return None
    if both.size > MOST_COUNTED:
        from scipy.stats import mannwhitneyu  # imported late: it takes longer than the rest of an analysis

        return float(mannwhitneyu(baseline, other, alternative="two-sided", method="asymptotic").pvalue)
    ranks = doubled_midranks(both)
    low, high = _tails(ranks, smaller, int(ranks[:smaller].sum()))
    return min(1.0, 2 * min(low, high))


def _tails(ranks: npt.NDArray[np.int64], chosen: int, found: int) -> tuple[float, float]:
    """Share of all choices of so many ranks whose sum is at most the one that was found, and at least as large; in
    either order."""
    if found * ranks.size > chosen * int(ranks.sum()):
        ranks, found = int(ranks.max()) - ranks, chosen * int(ranks.max()) - found
    ranks, found = _smaller_numbers(ranks, chosen, found)
    # Choices of 0, 1, … of the ranks so far, by their sum: as shares of all, since their numbers grow beyond a float.
    shares = np.zeros((chosen + 1, found + 1))
    shares[0, 0] = 1.0
    for number, rank in enumerate(ranks.tolist(), start=1):
        most = min(number, chosen)
        for count in range(most, 0, -1):
            shares[count] *= 1 - count / number
            if rank <= found:
                shares[count, rank:] += count / number * shares[count - 1, : found + 1 - rank]
    at_most = float(shares[chosen].sum())
    return at_most, 1 - at_most + float(shares[chosen, found])


def _smaller_numbers(ranks: npt.NDArray[np.int64], chosen: int, found: int) -> tuple[npt.NDArray[np.int64], int]:
    """Ranks that order the same choices by smaller sums: counted from the least one, in steps of what divides all."""
    least = int(ranks.min())
    step = max(1, math.gcd(*(int(rank) - least for rank in ranks)))
    return (ranks - least) // step, (found - chosen * least) // step
