# SPDX-License-Identifier: Apache-2.0
"""The shift of two samples and its interval: known values, agreement with Mann–Whitney's test, simulated coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from quiclab.compare.statistics import shift_of_two, smallest_p_of_two


def test_known_values() -> None:
    """Four against four: 2 of 70 orders are the most extreme, so the interval is the whole range of the differences."""
    shift = shift_of_two(np.array([1.0, 2, 3, 4]), np.array([11.0, 12, 13, 14]), 0.95)
    assert shift.estimate == 10
    assert shift.interval is not None
    assert (shift.interval.low, shift.interval.high) == (7.0, 13.0)
    assert shift.interval.confidence == pytest.approx(1 - 2 / 70)
    assert smallest_p_of_two(4, 4) == 2 / 70


def test_too_few_values_have_no_interval() -> None:
    """Three against three attain 90 % at most; of nothing there is not even an estimate."""
    assert shift_of_two(np.arange(3.0), np.arange(3.0), 0.95).interval is None
    assert np.isnan(shift_of_two(np.array([]), np.arange(3.0), 0.95).estimate)


@pytest.mark.parametrize(("m", "n"), [(5, 9), (9, 5), (8, 8)])
def test_excludes_zero_exactly_when_the_test_rejects(m: int, n: int) -> None:
    """Interval and exact test are two sides of one thing, whichever sample is the larger."""
    rng = np.random.default_rng(4)
    rejections = 0
    for _ in range(300):
        baseline, other = rng.normal(0, 1, m), rng.normal(1.2, 1, n)
        interval = shift_of_two(baseline, other, 0.95).interval
        assert interval is not None
        p = mannwhitneyu(baseline, other, method="exact").pvalue
        rejected = p <= 1 - interval.confidence + 1e-12
        rejections += rejected
        assert (interval.low > 0 or interval.high < 0) == rejected
    assert 0 < rejections < 300


@pytest.mark.parametrize(("m", "n"), [(8, 11), (120, 130)])
def test_coverage(m: int, n: int) -> None:
    """The true shift lies inside as often as the interval says, counted exactly or by the normal distribution."""
    rng = np.random.default_rng(5)
    runs, inside = 1500, 0
    for _ in range(runs):
        interval = shift_of_two(rng.laplace(size=m), 5 + rng.laplace(size=n), 0.95).interval
        assert interval is not None
        inside += interval.low <= 5 <= interval.high
    assert inside / runs == pytest.approx(interval.confidence, abs=3.5 * np.sqrt(0.05 * 0.95 / runs))


def test_failures_open_the_interval_on_their_side() -> None:
    """Failures of the other sample leave no upper bound; failures on both sides tie."""
    baseline = np.array([1.0, 2, 3, 4, 5, 6])
    interval = shift_of_two(baseline, np.array([11.0, 12, 13, 14, np.inf, np.inf]), 0.95).interval
    assert interval is not None
    assert np.isfinite(interval.low)
    assert interval.high == np.inf
    assert shift_of_two(np.full(5, np.inf), np.full(5, np.inf), 0.95).estimate == 0
