# SPDX-License-Identifier: Apache-2.0
"""Counts out of totals: whether one exceeds a share, whether two differ (Fisher), and intervals of a single share."""

from __future__ import annotations

from math import comb

from quiclab.model.interval import Interval

_HALVINGS = 60
"""Halvings of the range 0 to 1: finer than a float near 1 can resolve."""


def fisher_exact_p(count_a: int, total_a: int, count_b: int, total_b: int) -> float:
    """Two-sided p that `count_a` of `total_a` and `count_b` of `total_b` share one proportion; 1 for empty totals."""
    marked, total = count_a + count_b, total_a + total_b
    ways = {
        k: comb(total_a, k) * comb(total_b, marked - k)
        for k in range(max(0, marked - total_b), min(total_a, marked) + 1)
    }
    return sum(way for way in ways.values() if way <= ways[count_a]) / comb(total, marked)


def binomial_p(successes: int, trials: int, share: float) -> float:
    """One-sided exact p that so many successes or more come of a probability of `share` (0 to 1) a trial."""
    fewer = sum(comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(min(successes, trials + 1)))
    return max(0.0, 1 - fewer)


def share_interval(successes: float, trials: float, confidence: float) -> Interval:
    """The exact interval of a share (Clopper and Pearson 1934, Biometrika 26); the whole range without a trial.

    Half successes (ties) lie between their neighbours, as the beta distribution has them.
    """
    from scipy.stats import beta  # imported late: it takes longer than the rest of an analysis

    miss = (1 - confidence) / 2
    low = float(beta.ppf(miss, successes, trials - successes + 1)) if successes else 0.0
    high = float(beta.isf(miss, successes + 1, trials - successes)) if successes < trials else 1.0
    return Interval(low, high, confidence)


def mid_p_interval(successes: float, trials: float, confidence: float) -> Interval:
    """The mid-p interval of a share: the observed count counts half in each tail (Lancaster 1961, J. Amer. Statist.
    Assoc. 56). It attains the confidence on average over all shares, not at the least favourable one."""
    miss = (1 - confidence) / 2
    low, high = (_mid_p_low(count, trials, miss) for count in (successes, trials - successes))
    return Interval(low, 1 - high, confidence)


def _mid_p_low(successes: float, trials: float, miss: float) -> float:
    """Share at which as many successes or more, as many counting half, have the probability `miss`."""
    from scipy.special import betainc  # imported late: it takes longer than the rest of an analysis

    if not successes:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        more = float(betainc(successes + 1, trials - successes, share)) if successes < trials else 0.0
        beyond = (float(betainc(successes, trials - successes + 1, share)) + more) / 2
        low, high = (share, high) if beyond < miss else (low, share)
    return low
