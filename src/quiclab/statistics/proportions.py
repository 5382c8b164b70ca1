# SPDX-License-Identifier: Apache-2.0
"""Whether two counts out of two totals differ: Fisher's exact test."""

from __future__ import annotations

from math import comb

from quiclab.statistics.interval import Interval


def fisher_exact_p(count_a: int, total_a: int, count_b: int, total_b: int) -> float:
    """Two-sided p that `count_a` of `total_a` and `count_b` of `total_b` share one proportion; 1 of empty totals."""
    marked, total = count_a + count_b, total_a + total_b
    ways = {
        k: comb(total_a, k) * comb(total_b, marked - k)
        for k in range(max(0, marked - total_b), min(total_a, marked) + 1)
    }
    return sum(way for way in ways.values() if way <= ways[count_a]) / comb(total, marked)


def share_interval(successes: int, trials: int, confidence: float) -> Interval:
    """The exact interval of a share (Clopper and Pearson 1934, Biometrika 26); the whole range without a trial."""
    from scipy.stats import beta  # imported late: it takes longer than the rest of an analysis

    miss = (1 - confidence) / 2
    low = float(beta.ppf(miss, successes, trials - successes + 1)) if successes else 0.0
    high = float(beta.isf(miss, successes + 1, trials - successes)) if successes < trials else 1.0
    return Interval(low, high, confidence)
