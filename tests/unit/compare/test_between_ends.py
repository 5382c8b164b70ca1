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


def test_the_interval_holds_that_of_every_sample_between_the_ends() -> None:
    """Samples are drawn at random between the ends, and at both; the estimate stays the measured one."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        low = rng.normal(size=12)
        high = low + rng.exponential(0.3, 12)
        between = [low, high, *(rng.uniform(low, high) for _ in range(20))]
        measured = rng.uniform(low, high)
        found = widened(Between(measured, low, high), _hodges_lehmann)
        assert found.estimate == _hodges_lehmann(measured).estimate
        assert found.interval is not None
        for each in between:
            inner = _hodges_lehmann(each).interval
            assert inner is not None
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


def test_between_the_ends_the_sequential_test_hardly_says_more() -> None:
    """Values of a cluster and a tail, of which ranks change places between the ends, in any order. Of the samples
    drawn between them a few have a p that is greater than the told one, by less than three times."""
    rng = np.random.default_rng(3)
    ratios = []
    for pairs in (8, 20, 60):
        for _ in range(20):
            low = np.where(rng.random(pairs) < 0.6, rng.normal(1.0, 0.02, pairs), rng.normal(0.2, 0.5, pairs))
            high = low + rng.exponential(0.1, pairs)
            greatest = greatest_p(Between(rng.uniform(low, high), low, high), statistics.anytime_p, _estimate)
            ratios += [statistics.anytime_p(rng.uniform(low, high)) / greatest for _ in range(40)]
    assert np.mean(np.array(ratios) > 1.1) < 0.05
    assert max(ratios) < 3


def test_growth_is_that_of_the_wider_side() -> None:
    """Ends that failures own do not count."""
    narrow = Interval(1.0, 2.0, 0.95)
    assert growth(Interval(0.5, 2.1, 0.95), narrow) == pytest.approx(0.5)
    assert growth(Interval(0.5, float("inf"), 0.95), Interval(1.0, float("inf"), 0.95)) == pytest.approx(0.5)
    assert growth(None, narrow) == growth(narrow, narrow) == 0
