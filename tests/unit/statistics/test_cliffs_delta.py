# SPDX-License-Identifier: Apache-2.0
"""Cliff's delta and its interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from quiclab.statistics import cliffs_delta


def test_counts_who_is_larger() -> None:
    """Of 2 × 3 comparisons the baseline wins three, loses two and ties once."""
    assert cliffs_delta(np.array([2.0, 5]), np.array([1.0, 2, 6]), 0.95).estimate == pytest.approx((3 - 2) / 6)


def test_a_failed_trial_is_the_largest_value() -> None:
    """Infinities compare, and tie with each other."""
    assert cliffs_delta(np.array([1.0, math.inf]), np.array([math.inf, 2.0]), 0.95).estimate == pytest.approx(-0.25)


def test_samples_apart_have_an_inner_bound() -> None:
    """No overlap of ten values: the interval ends at 1 and still leaves room for chance."""
    interval = cliffs_delta(np.arange(10.0) + 20, np.arange(10.0), 0.95).interval
    assert interval is not None
    assert interval.high == 1
    assert 0.3 < interval.low < 0.6


def test_nothing_of_nothing() -> None:
    """No value, no delta; two values, no interval."""
    assert math.isnan(cliffs_delta(np.array([]), np.array([1.0]), 0.95).estimate)
    assert cliffs_delta(np.array([1.0, 2]), np.array([1.0, 2]), 0.95).interval is None


@pytest.mark.parametrize("shift", [0.0, 0.5, 1.5])
def test_the_interval_covers_the_truth(shift: float) -> None:
    """From n = 20 on 93 to 97 % of nominal 95 % intervals hold the true delta of two shifted normals."""
    rng = np.random.default_rng(5)
    truth, inside, runs = 2 * norm.cdf(shift / math.sqrt(2)) - 1, 0, 2000
    for _ in range(runs):
        interval = cliffs_delta(rng.normal(shift, 1, 20), rng.normal(0, 1, 20), 0.95).interval
        assert interval is not None
        inside += interval.low <= truth <= interval.high
    assert 0.93 <= inside / runs <= 0.97
