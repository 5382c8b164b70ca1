# SPDX-License-Identifier: Apache-2.0
"""The number of pairs that it takes to see an effect of a given size in the noise that was measured."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from quiclab.statistics.attainable import smallest_p
from quiclab.statistics.censoring import median

LEAST_PAIRS = 5
"""Fewest pairs whose noise is known."""


def pairs_to_see(differences: npt.NDArray[np.float64], effect: float, alpha: float, power: float = 0.8) -> int | None:
    """Number of pairs with which the signed-rank test finds a shift of `effect` at `alpha` with this power.

    `differences` are those of the pairs at hand: their spread about their own centre is the noise, whatever its shape.
    After Noether 1987 (J. Amer. Statist. Assoc. 82): what counts is how often the mean of two differences has the
    effect's sign. None for fewer than five finite differences, or where the noise hides the effect for good.
    """
    finite = differences[np.isfinite(differences)]
    if finite.size < LEAST_PAIRS or effect == 0:
        return None
    from scipy.stats import norm  # imported late: it takes longer than the rest of an analysis

    walsh = (finite[:, None] + finite[None, :])[np.triu_indices(finite.size, k=1)] / 2
    right = float((walsh - median(walsh) + abs(effect) > 0).mean())
    if right <= 0.5:
        return None
    z = float(norm.isf(alpha / 2) + norm.isf(1 - power))
    # Noether's formula is for many pairs; where the noise never hides the effect, the test itself sets the limit.
    pairs = 1 if right == 1 else math.ceil(z * z / (3 * (right - 0.5) ** 2))
    while smallest_p(pairs) > alpha:
        pairs += 1
    return pairs
