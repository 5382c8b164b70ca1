# SPDX-License-Identifier: Apache-2.0
"""Whether two counts out of two totals differ: Fisher's exact test."""

from __future__ import annotations

from math import comb


def fisher_exact_p(count_a: int, total_a: int, count_b: int, total_b: int) -> float:
    """Two-sided p that `count_a` of `total_a` and `count_b` of `total_b` share one proportion; 1 of empty totals."""
    marked, total = count_a + count_b, total_a + total_b
    ways = {
        k: comb(total_a, k) * comb(total_b, marked - k)
        for k in range(max(0, marked - total_b), min(total_a, marked) + 1)
    }
    return sum(way for way in ways.values() if way <= ways[count_a]) / comb(total, marked)
