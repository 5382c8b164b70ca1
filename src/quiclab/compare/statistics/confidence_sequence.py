# SPDX-License-Identifier: Apache-2.0
"""The median of paired differences, with an error rate that holds however often one looks and whenever one stops.

For a bound m, each difference lies above m or not. If the median is at most m, a difference above it is no likelier
than a coin's head, so the likelihood ratio against a coin, mixed evenly over all heads' shares p from 1/2 to 1, is a
supermartingale that starts at 1: the chance that it ever reaches 1/a is at most a (Ville 1939; Robbins 1970, Ann.
Math. Statist. 41; Howard and Ramdas 2022, Bernoulli 28). Every m at which it has reached 2/alpha, from below or from
above, is outside the interval. Nothing is assumed of the distribution, ties and failures (±inf) included; differences
must be independent of those before them.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from quiclab.model.interval import Interval

FloatArray = npt.NDArray[np.float64]


def log_evidence(above: int, of: int) -> float:
    """Logarithm of the mixture's likelihood ratio when `above` of `of` differences lie above the bound.

    It is 2^(n+1) times the integral of p^k (1-p)^(n-k) over p from 1/2 to 1.
    """
    from scipy.special import betainc, betaln  # imported late: it takes longer than the rest of an analysis

    a, b = above + 1, of - above + 1
    share = float(betainc(b, a, 0.5))  # of the beta distribution beyond 1/2
    return (of + 1) * math.log(2) + float(betaln(a, b)) + (math.log(share) if share > 0 else -math.inf)


@functools.cache
def needed_above(pairs: int, alpha: float) -> int | None:
    """Fewest differences on one side of a bound that exclude it, out of `pairs`; None if not even all of them do."""
    found = None
    for above in range(pairs, pairs // 2, -1):
        if log_evidence(above, pairs) < math.log(2 / alpha):
            break
        found = above
    return found


def median_sequence(differences: FloatArray, alpha: float) -> Interval | None:
    """Interval of the median, as far as is known: with probability 1 − alpha the intervals of all looks contain it.

    None if there are so few differences that nothing is excluded.
    """
    ordered = np.sort(differences[~np.isnan(differences)])
    needed = needed_above(int(ordered.size), alpha)
    if needed is None:
        return None
    return Interval(float(ordered[ordered.size - needed]), float(ordered[needed - 1]), 1 - alpha)
