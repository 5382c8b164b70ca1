# SPDX-License-Identifier: Apache-2.0
"""The number of pairs that it takes to see an effect: in noise of a given size, or in that of pairs at hand."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.attainable import smallest_p
from quiclab.compare.statistics.censoring import median
from quiclab.compare.statistics.ranks import doubled_midranks

POWER = 0.8
"""Share of studies that find an effect that is there."""
LEAST_PAIRS = 5
"""Fewest pairs whose noise is known."""
LEAST_MOVED = 3
"""Fewest differences other than 0 from which others are drawn."""
MOST_RESAMPLED = 400
_SAMPLES = 200


def pairs_for_noise(sd: float, effect: float, alpha: float, power: float = POWER) -> int:
    """Number of pairs with which the signed-rank test finds a shift of `effect` at `alpha` with this power, in normal
    differences of this standard deviation, both in one unit.

    As many as the paired t-test takes (Guenther 1981, American Statistician 35), by the efficiency of the signed-rank
    test beside it, 3/π for normal differences (Hodges and Lehmann 1956, Ann. Math. Statist. 27). Raises ValueError
    unless both are above zero.
    """
    if sd <= 0 or effect <= 0:
        raise ValueError(f"noise and effect must be above zero, not {sd} and {effect}")
    level, found = NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)
    pairs = math.ceil(math.pi / 3 * (((level + found) * sd / effect) ** 2 + level**2 / 2))
    while smallest_p(pairs) > alpha:
        pairs += 1
    return pairs


def pairs_in_noise_of(
    differences: npt.NDArray[np.float64], effect: float, alpha: float, power: float = POWER
) -> int | None:
    """Number of pairs that it takes in the noise of these differences, whatever its shape.

    The noise is as large as that of normal differences in which the mean of two has the effect's sign as often as here.
    None for fewer than five finite differences, or where the noise hides the effect for good.
    """
    finite = differences[np.isfinite(differences)]
    if finite.size < LEAST_PAIRS:
        return None
    walsh = (finite[:, None] + finite[None, :])[np.triu_indices(finite.size, k=1)] / 2
    right = float((walsh - median(walsh) + effect > 0).mean())
    if right <= 0.5:
        return None
    never_hidden = right == 1
    sd = effect / 1e3 if never_hidden else math.sqrt(2) * effect / NormalDist().inv_cdf(right)
    return pairs_for_noise(sd, effect, alpha, power)


def pairs_by_resampling(
    differences: npt.NDArray[np.float64], level: float, power: float = POWER, most: int = MOST_RESAMPLED
) -> int | None:
    """Number of pairs like these with which the signed-rank test and Student's interval both show a difference at a
    level with this power: the smallest, in steps of a tenth, at which that share of samples drawn from them does.

    It takes these differences for all that there are (bootstrap: Efron and Tibshirani 1993, section 25.5), and the test
    by its normal limit. None for fewer than five finite differences, or fewer than three that are not 0, which say
    nothing of the others, and where `most` pairs are not enough.
    """
    from scipy.special import stdtrit  # imported late: it takes longer than the rest of an analysis

    finite = differences[np.isfinite(differences)]
    if finite.size < LEAST_PAIRS or np.count_nonzero(finite) < LEAST_MOVED:
        return None
    rng = np.random.default_rng(0)
    critical = NormalDist().inv_cdf(1 - level / 2)
    pairs = finite.size + 1
    while pairs <= most:
        samples = rng.choice(finite, (_SAMPLES, pairs))
        error = samples.std(axis=1, ddof=1) / math.sqrt(pairs)
        far = np.abs(samples.mean(axis=1)) > stdtrit(pairs - 1, 1 - level / 2) * error
        ranks = np.array([doubled_midranks(np.abs(each)) for each in samples]) * np.sign(samples)
        signed = np.abs(ranks.sum(axis=1)) > critical * np.sqrt((ranks.astype(np.float64) ** 2).sum(axis=1))
        if smallest_p(pairs) <= level and (far & signed).mean() >= power:
            return pairs
        pairs = math.ceil(1.1 * pairs)
    return None
