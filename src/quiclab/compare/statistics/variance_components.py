# SPDX-License-Identifier: Apache-2.0
"""Variance of values between occasions, between blocks of an occasion, and within blocks.

Components of variance by the mean squares of a nested design of unequal sizes (Searle, Casella and McCulloch 1992,
3.6), negative ones set to zero; and a test of whether occasions differ at all (Kruskal and Wallis 1952, J. Amer.
Statist. Assoc. 47), whose p is by permutation of blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.ranks import doubled_midranks

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_PERMUTATIONS = 1999


@dataclass(frozen=True)
class Components:
    """Standard deviations, in the unit of the values."""

    occasions: float
    blocks: float
    """Deviation between blocks of one occasion; of a single value in each block, all that occasions do not explain."""
    within: float
    """Within blocks; NaN where each has a single value."""


def variance_components(values: FloatArray, occasions: IntArray) -> Components | None:
    """Components of finite values, one row a block and one column an arm, whose own means are taken out; `occasions`
    has the occasion of each row. None where there are too few: two occasions, and one of them with two blocks."""
    values = values[:, None] if values.ndim == 1 else values
    blocks, arms = values.shape
    labels, of = np.unique(occasions, return_inverse=True)
    if labels.size < 2 or blocks == labels.size:
        return None
    sizes = np.bincount(of)
    middle = values.mean(axis=1)
    means = np.bincount(of, middle) / sizes
    by_arm = np.stack([np.bincount(of, values[:, arm]) / sizes for arm in range(arms)], axis=1)
    rest = values - by_arm[of] - (middle - means[of])[:, None]
    left = blocks - labels.size
    within = float(np.square(rest).sum()) / (left * (arms - 1)) if arms > 1 else math.nan
    of_blocks = arms * float(np.square(middle - means[of]).sum()) / left
    of_occasions = arms * float((sizes * np.square(means - middle.mean())).sum()) / (labels.size - 1)
    usual_size = (blocks - float(np.square(sizes).sum()) / blocks) / (labels.size - 1)
    return Components(
        math.sqrt(max(0.0, of_occasions - of_blocks) / (arms * usual_size)),
        math.sqrt(max(0.0, of_blocks - within) / arms) if arms > 1 else math.sqrt(of_blocks),
        math.sqrt(within) if arms > 1 else math.nan,
    )


def occasions_differ_p(values: FloatArray, occasions: IntArray) -> float | None:
    """P-value of values, ±inf allowed, that would be the same on all occasions; None of fewer than two occasions with
    two values each, or of one value again and again."""
    labels, of = np.unique(occasions, return_inverse=True)
    sizes = np.bincount(of)
    if labels.size < 2 or sizes.min() < 2 or np.unique(values).size == 1:
        return None
    ranks = doubled_midranks(values) / 2 - (values.size + 1) / 2
    orders = np.random.default_rng(0).permuted(np.tile(ranks, (_PERMUTATIONS, 1)), axis=1)
    found = _between(ranks[None, :], of, sizes)[0]
    return float(1 + np.count_nonzero(_between(orders, of, sizes) >= found - 1e-9)) / (1 + _PERMUTATIONS)


def _between(rows: FloatArray, of: IntArray, sizes: IntArray) -> FloatArray:
    """Sum of squares between occasions of each row of centred ranks."""
    sums = np.stack([rows[:, of == label].sum(axis=1) for label in range(sizes.size)], axis=1)
    found: FloatArray = (np.square(sums) / sizes).sum(axis=1)
    return found
