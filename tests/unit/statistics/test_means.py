# SPDX-License-Identifier: Apache-2.0
"""Means, and ratios of means, with their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from quiclab.statistics import mean, ratio_of_means


def test_a_mean_has_students_interval() -> None:
    """As scipy has it; values that are not known do not count."""
    values = np.array([9.7, 10.1, math.nan, 9.9, 10.6])
    found = mean(values, 0.95)
    known = values[~np.isnan(values)]
    expected = stats.t.interval(0.95, 3, known.mean(), stats.sem(known))
    assert found is not None
    assert found.interval is not None
    assert (found.count, found.estimate) == (4, pytest.approx(10.075))
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)


def test_no_interval_of_two_values_and_no_mean_of_a_failure() -> None:
    """Neither would mean anything."""
    two = mean(np.array([1.0, 2.0]), 0.95)
    assert two is not None
    assert two.interval is None
    assert mean(np.array([1.0, math.inf, 2.0]), 0.95) is None
    assert mean(np.array([]), 0.95) is None
    assert ratio_of_means(np.array([1.0, 2, 3]), np.array([1.0, math.inf, 2]), 0.95) is None
    assert ratio_of_means(np.zeros(3), np.ones(3), 0.95) is None


def test_what_a_pair_shares_cancels() -> None:
    """Pairs that differ tenfold from each other but each have the same ratio leave no doubt about it."""
    first = np.array([1.0, 10, 100, 1000])
    found = ratio_of_means(first, 0.5 * first, 0.95)
    assert found is not None
    assert found.interval is not None
    assert found.estimate == pytest.approx(0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.5, 0.5))


def test_intervals_cover_as_often_as_they_say() -> None:
    """Of 2,000 simulated studies of 20 pairs with skewed times, 93 to 97 % hold the true ratio."""
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(2000):
        shared = rng.gamma(9, 1, 20)
        found = ratio_of_means(shared + rng.gamma(4, 0.5, 20), 0.8 * shared + rng.gamma(4, 0.5, 20), 0.95)
        assert found is not None
        assert found.interval is not None
        covered += found.interval.low <= (0.8 * 9 + 2) / 11 <= found.interval.high
    assert 0.93 <= covered / 2000 <= 0.97
