# SPDX-License-Identifier: Apache-2.0
"""The shift and its interval: known values, agreement with the test, simulated coverage."""

from __future__ import annotations

import numpy as np
import pytest

from quiclab.compare.statistics import hodges_lehmann, signed_rank


def test_known_values() -> None:
    """Six differences: the median of 21 Walsh averages, and the whole range at the only level above 95 %."""
    shift = hodges_lehmann(np.array([1.0, 2, 3, 4, 5, 6]), 0.95)
    assert shift.estimate == 3.5
    assert shift.interval is not None
    assert (shift.interval.low, shift.interval.high) == (1.0, 6.0)
    assert shift.interval.confidence == 1 - 2 / 2**6


def test_too_few_pairs_have_no_interval() -> None:
    """Five pairs attain 93.75 % at most, so there is none at 95 %; of no pairs there is not even an estimate."""
    assert hodges_lehmann(np.arange(5.0), 0.95).interval is None
    assert np.isnan(hodges_lehmann(np.array([]), 0.95).estimate)


def test_excludes_zero_exactly_when_the_test_rejects() -> None:
    """Interval and test are two sides of one thing: at the attained level they agree on every sample."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        differences = rng.normal(0.7, 1, 10)
        interval = hodges_lehmann(differences, 0.95).interval
        assert interval is not None
        rejected = signed_rank(differences).p <= 1 - interval.confidence + 1e-12
        assert (interval.low > 0 or interval.high < 0) == rejected


@pytest.mark.parametrize("tied", [False, True])
def test_coverage(tied: bool) -> None:
    """The true shift lies inside at least as often as the interval says, and without ties no oftener."""
    rng = np.random.default_rng(5)
    runs, inside = 4000, 0
    for _ in range(runs):
        noise = rng.integers(-3, 4, 9).astype(np.float64) if tied else rng.laplace(size=9)
        interval = hodges_lehmann(5 + noise, 0.95).interval
        assert interval is not None
        inside += interval.low <= 5 <= interval.high
    slack = 3 * np.sqrt(interval.confidence * (1 - interval.confidence) / runs)
    assert inside / runs >= interval.confidence - slack
    assert tied or inside / runs <= interval.confidence + slack


def test_failures_open_the_interval_on_their_side() -> None:
    """Failures of the baseline leave no upper bound; failures on both sides leave none at all, and no estimate."""
    one_sided = hodges_lehmann(np.array([np.inf, np.inf, np.inf, 1, 2, 3, 4, 5]), 0.95).interval
    assert one_sided is not None
    assert (one_sided.low, one_sided.high) == (2.0, np.inf)
    both = hodges_lehmann(np.array([np.inf, np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf, -np.inf]), 0.95)
    assert both.interval is not None
    assert (both.interval.low, both.interval.high) == (-np.inf, np.inf)
    assert np.isnan(both.estimate)


@pytest.mark.parametrize("shape", ["skewed", "bimodal"])
def test_coverage_from_twenty_pairs(shape: str) -> None:
    """Of times that are skewed or bimodal in both arms, 93 to 97 % of the intervals of 20 pairs hold the shift."""
    rng = np.random.default_rng(6)
    runs, inside = 3000, 0
    for _ in range(runs):
        if shape == "skewed":
            noise = rng.lognormal(0, 1, 20) - rng.lognormal(0, 1, 20)
        else:
            noise = rng.choice([0.0, 10.0], 20) - rng.choice([0.0, 10.0], 20) + rng.normal(size=20)
        interval = hodges_lehmann(5 + noise, 0.95).interval
        assert interval is not None
        inside += interval.low <= 5 <= interval.high
    assert 0.93 <= inside / runs <= 0.97


def test_an_unknown_difference_is_refused() -> None:
    """NaN would widen the interval to everything, or sort to one end of it."""
    with pytest.raises(ValueError, match="bounds no shift"):
        hodges_lehmann(np.array([1.0, np.nan, 2.0]), 0.95)
