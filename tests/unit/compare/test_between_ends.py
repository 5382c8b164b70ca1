# SPDX-License-Identifier: Apache-2.0
"""Tests and intervals of values between two ends: none of the samples there may say more."""

from __future__ import annotations

import numpy as np
import pytest

from quiclab.compare import statistics
from quiclab.compare.between_ends import Between, greatest_p, growth, widened
from quiclab.compare.paired import FloatArray
from quiclab.compare.statistics import Interval, Shift


def _estimate(values: FloatArray) -> float:
    return statistics.hodges_lehmann(values, 0.95).estimate


def _hodges_lehmann(values: FloatArray) -> Shift:
    return statistics.hodges_lehmann(values, 0.95)


def _sequence(values: FloatArray) -> Shift:
    return Shift(statistics.median(values), statistics.median_sequence(values, 0.05))


@pytest.mark.parametrize("shift_of", [_hodges_lehmann, _sequence])
def test_the_interval_holds_that_of_every_sample_between_the_ends(shift_of: object) -> None:
    """Samples are drawn at random between the ends, and at both; the estimate stays the measured one."""
    rng = np.random.default_rng(1)
    assert callable(shift_of)
    for _ in range(50):
        low = rng.normal(size=12)
        high = low + rng.exponential(0.3, 12)
        between = [low, high, *(rng.uniform(low, high) for _ in range(20))]
        measured = rng.uniform(low, high)
        found = widened(Between(measured, low, high), shift_of)
        assert found.estimate == shift_of(measured).estimate
        assert found.interval is not None
        for each in between:
            inner = shift_of(each).interval
            assert found.interval.low <= inner.low
            assert inner.high <= found.interval.high


def test_no_sample_between_the_ends_has_a_greater_p() -> None:
    """The p of the signed-rank test is the greatest one, and 1 if some samples lean to the other side."""
    rng = np.random.default_rng(2)

    def p_of(values: FloatArray) -> float:
        return statistics.signed_rank(values).p

    for shift in (0.0, 0.5, -1.0, 2.0):
        low = rng.normal(shift, 1, 10)
        high = low + rng.exponential(0.2, 10)
        greatest = greatest_p(Between(rng.uniform(low, high), low, high), p_of, _estimate)
        assert all(p_of(rng.uniform(low, high)) <= greatest for _ in range(50))
    low = rng.normal(-1, 0.1, 10)
    assert greatest_p(Between(low + 0.1, low, low + 3), p_of, _estimate) == 1.0


def test_growth_is_that_of_the_wider_side() -> None:
    """Ends that failures own do not count."""
    narrow = Interval(1.0, 2.0, 0.95)
    assert growth(Interval(0.5, 2.1, 0.95), narrow) == pytest.approx(0.5)
    assert growth(Interval(0.5, float("inf"), 0.95), Interval(1.0, float("inf"), 0.95)) == pytest.approx(0.5)
    assert growth(None, narrow) == growth(narrow, narrow) == 0
