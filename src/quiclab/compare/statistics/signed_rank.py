# SPDX-License-Identifier: Apache-2.0
"""Wilcoxon's signed-rank test, exact whatever the ties and zeros: the test that decides.

Under the null hypothesis each difference is as likely positive as negative, whatever its size. So the distribution of
the rank sum is that of 2^n sign flips of the ranks at hand, which is counted, not approximated. Zeros are ranked with
the others and then dropped (Pratt 1959, J. Amer. Statist. Assoc. 54), so that a pair without a difference still tells
how large the others are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.ranks import doubled_midranks

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SignedRank:
    """Result of the test."""

    p: float
    """Two-sided p; 1 where every difference is zero, or there is none."""
    pairs: int
    """Number of differences that went in, including zeros."""
    zeros: int


def flip_distribution(doubled_ranks: npt.NDArray[np.int64]) -> FloatArray:
    """Probability of each value of the doubled positive rank sum (index 0 … sum) over all equally likely signs."""
    probability = np.zeros(int(doubled_ranks.sum()) + 1)
    probability[0] = 1.0
    for rank in doubled_ranks:
        shifted = np.zeros_like(probability)
        shifted[rank:] = probability[: probability.size - rank]
        probability = (probability + shifted) / 2
    return probability


def signed_rank(differences: FloatArray) -> SignedRank:
    """Test that paired differences (any unit, may be ±inf) are symmetric about zero; two-sided, exact.

    Raises ValueError for NaN, which has no rank.
    """
    differences = np.asarray(differences, dtype=np.float64)
    if np.isnan(differences).any():
        raise ValueError("a difference that is unknown (NaN) has no rank: leave it out")
    moved = differences != 0
    ranks = doubled_midranks(np.abs(differences))[moved]
    zeros = int(differences.size - ranks.size)
    if ranks.size == 0:
        return SignedRank(p=1.0, pairs=int(differences.size), zeros=zeros)
    positive = int(ranks[differences[moved] > 0].sum())
    distribution = flip_distribution(ranks)
    tail = min(positive, int(ranks.sum()) - positive)
    p = min(1.0, 2 * float(distribution[: tail + 1].sum()))
    return SignedRank(p=p, pairs=int(differences.size), zeros=zeros)
