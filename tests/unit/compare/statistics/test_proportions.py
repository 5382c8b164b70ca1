# SPDX-License-Identifier: Apache-2.0
"""Fisher's exact test, and intervals of a share."""

from __future__ import annotations

import pytest
from scipy.stats import binom, binomtest, fisher_exact

from quiclab.compare.statistics import binomial_p, fisher_exact_p, mid_p_interval, share_interval


@pytest.mark.parametrize("table", [(0, 10, 0, 10), (0, 10, 3, 10), (5, 8, 1, 30), (10, 200, 0, 200), (0, 0, 0, 0)])
def test_equals_scipy(table: tuple[int, int, int, int]) -> None:
    """The hand count equals scipy's p; empty totals are no evidence."""
    a, total_a, b, total_b = table
    expected = fisher_exact([[a, total_a - a], [b, total_b - b]]).pvalue if total_a else 1.0
    assert fisher_exact_p(*table) == pytest.approx(expected)


@pytest.mark.parametrize(("successes", "trials"), [(0, 7), (3, 7), (7, 7), (0, 0), (12, 400)])
def test_the_exact_interval_equals_scipys(successes: int, trials: int) -> None:
    """Clopper and Pearson's; the whole range of no trial."""
    found = share_interval(successes, trials, 0.9)
    expected = binomtest(successes, trials).proportion_ci(0.9, "exact") if trials else (0.0, 1.0)
    assert (found.low, found.high) == pytest.approx(tuple(expected))


@pytest.mark.parametrize(("successes", "trials"), [(1, 20), (7, 20), (10, 20), (19, 20)])
def test_mid_p_counts_the_result_itself_by_half(successes: int, trials: int) -> None:
    """At the ends of the interval the tails are 2.5 % each; it lies inside the exact one."""
    found, exact = (each(successes, trials, 0.95) for each in (mid_p_interval, share_interval))
    own_low, own_high = (binom.pmf(successes, trials, end) / 2 for end in (found.low, found.high))
    assert binom.sf(successes, trials, found.low) + own_low == pytest.approx(0.025)
    assert binom.cdf(successes, trials, found.high) - own_high == pytest.approx(0.025)
    assert exact.low < found.low < found.high < exact.high


def test_mid_p_of_all_or_nothing() -> None:
    """Ends at the edge, and is its own mirror image."""
    none, every = mid_p_interval(0, 20, 0.95), mid_p_interval(20, 20, 0.95)
    assert (none.low, every.high) == (0, 1)
    assert none.high == pytest.approx(1 - every.low)


@pytest.mark.parametrize(("successes", "trials"), [(0, 9), (2, 9), (9, 9), (4, 24), (0, 0)])
def test_the_binomial_p_is_scipys(successes: int, trials: int) -> None:
    """One-sided, of so many or more."""
    from scipy.stats import binom

    assert binomial_p(successes, trials, 0.05) == pytest.approx(float(binom.sf(successes - 1, trials, 0.05)), abs=1e-12)
