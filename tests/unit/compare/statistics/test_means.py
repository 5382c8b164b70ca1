# SPDX-License-Identifier: Apache-2.0
"""Means, and ratios of means, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from by_night import by_night
from scipy import stats

from quiclab.compare.statistics import mean, ratio_of_means

FloatArray = npt.NDArray[np.float64]


def test_a_mean_has_students_interval() -> None:
    """As scipy has it, of few values; those that are not known do not count."""
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


def test_intervals_of_ratios_cover_as_often_as_they_say() -> None:
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


# Samples with their true mean.
SHAPES: dict[str, tuple[Callable[[np.random.Generator, int], FloatArray], float]] = {
    "normal": (lambda rng, n: rng.normal(10, 1, n), 10.0),
    "exponential": (lambda rng, n: rng.exponential(1, n), 1.0),
    "lognormal 0.5": (lambda rng, n: rng.lognormal(0, 0.5, n), math.exp(0.125)),
    "lognormal 1": (lambda rng, n: rng.lognormal(0, 1, n), math.exp(0.5)),
    "bimodal": (lambda rng, n: rng.choice([1.0, 10.0], n, p=[0.8, 0.2]) + rng.normal(0, 0.1, n), 2.8),
}


def coverage(shape: str, n: int, runs: int = 2000) -> float:
    """Share of nominal 95 % intervals that hold the mean."""
    rng, (draw, truth) = np.random.default_rng(9), SHAPES[shape]
    found = [mean(draw(rng, n), 0.95) for _ in range(runs)]
    spans = [each.interval for each in found if each and each.interval]
    assert len(spans) == runs
    return sum(span.low <= truth <= span.high for span in spans) / runs


@pytest.mark.parametrize("n", [20, *by_night(40)])
@pytest.mark.parametrize("shape", ["exponential", *by_night("normal", "lognormal 0.5")])
def test_intervals_of_means_cover_as_often_as_they_say(shape: str, n: int) -> None:
    """93 to 97 % of normal and of skewed times."""
    assert 0.93 <= coverage(shape, n) <= 0.97


@pytest.mark.parametrize(
    ("shape", "n", "low", "high"),
    [("lognormal 1", 5, 0.79, 0.85), ("bimodal", 20, 0.95, 1.0),
     *by_night(("lognormal 1", 40, 0.93, 0.97), ("lognormal 1", 20, 0.90, 0.95), ("lognormal 1", 10, 0.89, 0.93),
               ("bimodal", 40, 0.95, 1.0))],
)  # fmt: skip
def test_the_limits_are_as_the_report_states_them(shape: str, n: int, low: float, high: float) -> None:
    """Very skewed times need more than twenty values; Student's interval of 20 would hold 87 %."""
    assert low <= coverage(shape, n) <= high


def test_intervals_lean_to_the_tail_and_are_the_same_each_time() -> None:
    """The upper end of skewed times lies farther off; resamples are drawn from one seed."""
    values = np.random.default_rng(3).lognormal(0, 1, 25)
    first, again = mean(values, 0.95), mean(values, 0.95)
    assert first is not None
    assert first == again
    assert first.interval is not None
    assert first.interval.high - first.estimate > 1.2 * (first.estimate - first.interval.low)


@pytest.mark.parametrize(
    ("values", "student"),
    [([5] * 11 + [6], 2.201), ([375.7, 375.6, 375.8, 375.5, 375.9, 375.4, 376, 375.7, 375.6, 328.6], 2.262)],
)
def test_a_lone_other_value_leaves_a_mean_within_its_reach(values: list[float], student: float) -> None:
    """Towards it the end is farther off than Student's, as it could be rarer still or more frequent; but a third of the
    resamples lack it, and that those have next to no standard error of their own moves the end to nowhere."""
    rare = mean(np.array(values, dtype=np.float64), 0.95)
    assert rare is not None
    assert rare.interval is not None
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    towards, away = rare.interval.high - rare.estimate, rare.estimate - rare.interval.low
    if values[-1] < values[0]:
        towards, away = away, towards
    assert away == pytest.approx(student * error, rel=0.01)
    assert student * error < towards < 2.5 * student * error
    assert rare.p < 0.001


def test_of_equal_values_nothing_is_open() -> None:
    """Their mean is theirs."""
    same = mean(np.full(12, 0.1), 0.95)
    assert same is not None
    assert same.interval is not None
    assert (same.interval.low, same.interval.high) == pytest.approx((0.1, 0.1))
