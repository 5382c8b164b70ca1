# SPDX-License-Identifier: Apache-2.0
"""The signed-rank test of paired differences, with an error rate that holds however often one looks and whenever one
stops.

For a bound m, a difference has a sign, above m or not, and a share: how many of the differences so far lie no further
from m than it does. If the differences are symmetric about m, each sign is a coin's head or tail whatever the shares
are. Where more lie above m, the farther ones do so more surely: for a strength s the chance of a sign + is
1 / (1 + exp(−2 s share)). The likelihood ratio of that against the coin, mixed over strengths, is a martingale that
starts at 1, so the chance that it ever reaches 1/a is at most a (Ville 1939; Robbins 1970, Ann. Math. Statist. 41;
sequential ranks: Reynolds 1975, Ann. Statist. 3). It falls as m grows. So every m at which it has reached 2/alpha, from
below or from above, is outside an interval, and that is one of the pseudomedian, as that of Hodges and Lehmann.

Beyond the order in which they came nothing else is assumed: ties, failures (±inf) and a changing spread are allowed.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from quiclab.compare.statistics.hodges_lehmann import Shift, hodges_lehmann
from quiclab.model.interval import Interval

FloatArray = npt.NDArray[np.float64]

_STRENGTHS = np.geomspace(0.25, 32, 15)
"""Strengths of the alternatives, of one weight each. A normal difference of d standard deviations is near 1.5 d."""


def anytime_p(differences: FloatArray) -> float:
    """Two-sided p of differences that are symmetric about zero, in the order in which they came: the chance that it
    ever falls to alpha or below is at most alpha. Raises ValueError for NaN."""
    evidence = max(_Above(each).log_evidence(0.0) for each in (differences, -differences))
    return min(1.0, 2 * math.exp(-evidence))


def anytime_shift(differences: FloatArray, alpha: float) -> Shift:
    """The Hodges–Lehmann estimate of differences in the order in which they came, with an interval: with probability
    1 − alpha the intervals of all looks contain the pseudomedian. Raises ValueError for NaN.

    An end is infinite where failures own it, or where nothing on that side is excluded yet; where nothing is at all,
    there is no interval.
    """
    estimate = hodges_lehmann(differences, 1 - alpha).estimate
    threshold = math.log(2 / alpha)
    ends = _Above(differences).least_left(threshold), -_Above(-differences).least_left(threshold)
    if ends == (-math.inf, math.inf):
        return Shift(estimate, None)
    # The estimate knows no order, which may move the interval off it.
    return Shift(estimate, Interval(min(ends[0], estimate), max(ends[1], estimate), 1 - alpha))


class _Above:
    """Evidence that differences lie above a bound."""

    def __init__(self, differences: FloatArray) -> None:
        if np.isnan(differences).any():
            raise ValueError("a difference that is unknown (NaN) has no rank: leave it out")
        column, row = differences[:, None], differences[None, :]
        self._differences = differences
        self._earlier = np.tri(differences.size, k=-1, dtype=np.bool_)
        self._no_higher, self._no_lower = row <= column, row >= column
        with np.errstate(invalid="ignore"):  # two failures, one of each arm, have no middle
            self._sums = column + row

    def log_evidence(self, bound: float) -> float:
        """Logarithm of the likelihood ratio just above a bound, so that a difference at the bound lies below."""
        number, above = self._differences.size, self._differences > bound
        beyond = self._sums > 2 * bound  # the middle of two: the upper one is the farther
        no_farther = np.where(above[:, None], beyond & self._no_higher, ~beyond & self._no_lower)
        shares = ((no_farther & self._earlier).sum(axis=1) + 1) / np.arange(1, number + 1)
        signed = np.where(above, shares, -shares)
        each = number * math.log(2) - np.logaddexp(0, -2 * _STRENGTHS[:, None] * signed).sum(axis=1)
        return float(np.logaddexp.reduce(each)) - math.log(_STRENGTHS.size)

    def least_left(self, threshold: float) -> float:
        """Least bound at which the evidence is below the threshold; −inf where it is at all of them."""
        middles = self._sums[np.tril_indices(self._differences.size)] / 2
        bounds = np.concatenate([[-np.inf], np.unique(middles[np.isfinite(middles)])])
        excluded, left = -1, bounds.size  # the evidence falls from bound to bound
        while left - excluded > 1:
            at = (excluded + left) // 2
            excluded, left = (at, left) if self.log_evidence(float(bounds[at])) >= threshold else (excluded, at)
        if excluded < 0:
            return -math.inf
        return float(bounds[left]) if left < bounds.size else math.inf
