# SPDX-License-Identifier: Apache-2.0
"""The shift between two kinds of values within strata."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quiclab.compare.statistics import shift_of_two, stratified_shift


def test_the_level_of_a_stratum_cancels() -> None:
    """Strata a thousand apart, each with the same shift of two."""
    strata = [(np.array([0.0, 1, 2]) + level, np.array([2.0, 3, 4]) + level) for level in (0, 1000, 2000)]
    found = stratified_shift(strata, 0.95)
    assert found.estimate == 2
    assert found.interval is not None
    assert 0 < found.interval.low <= 2 <= found.interval.high < 4


def test_one_stratum_is_the_shift_of_two_samples() -> None:
    """The interval is that of Mann–Whitney's test, up to its normal approximation."""
    rng = np.random.default_rng(4)
    first, second = rng.standard_normal(30), rng.standard_normal(30) + 1
    found, exact = stratified_shift([(first, second)], 0.95), shift_of_two(first, second, 0.95)
    assert found.estimate == exact.estimate
    assert found.interval is not None
    assert exact.interval is not None
    assert found.interval.low == pytest.approx(exact.interval.low, abs=0.05)


def test_the_interval_holds_the_shift() -> None:
    """In about 95 % of samples of nine strata of three and four."""
    rng = np.random.default_rng(6)

    def holds() -> bool:
        strata = [(rng.standard_normal(3) + level, rng.standard_normal(4) + level + 1) for level in range(9)]
        interval = stratified_shift(strata, 0.95).interval
        return interval is not None and interval.low <= 1 <= interval.high

    assert sum(holds() for _ in range(400)) / 400 >= 0.93


def test_too_little_has_no_interval() -> None:
    """A stratum with one kind alone tells nothing; a few differences have an estimate."""
    assert math.isnan(stratified_shift([(np.array([1.0]), np.array([]))], 0.95).estimate)
    few = stratified_shift([(np.array([1.0]), np.array([3.0]))], 0.95)
    assert (few.estimate, few.interval) == (2, None)
