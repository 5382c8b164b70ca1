# SPDX-License-Identifier: Apache-2.0
"""Quantiles and their exact intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from by_night import by_night

from quiclab.compare.statistics import quantile


def test_the_estimate_is_a_value_of_the_sample() -> None:
    """p90 of 1 to 10 is the ninth."""
    found = quantile(np.arange(1.0, 11), 0.9, 0.95)
    assert found is not None
    assert found.estimate == 9


def test_a_small_sample_does_not_bound_a_tail() -> None:
    """Ten trials say from where p99 starts, and not where it ends."""
    found = quantile(np.arange(1.0, 11), 0.99, 0.95)
    assert found is not None
    assert math.isinf(found.interval.high)
    assert math.isfinite(found.interval.low)


def test_the_median_has_the_sign_tests_interval() -> None:
    """Of 20 values the 6th to the 15th hold the median with 95.86 % (Conover, table of the sign test)."""
    found = quantile(np.arange(1.0, 21), 0.5, 0.95)
    assert found is not None
    assert (found.interval.low, found.interval.high) == (6, 15)
    assert found.interval.confidence == pytest.approx(0.9586, abs=1e-4)


def test_failures_are_the_tail() -> None:
    """One failed trial of ten is p95."""
    found = quantile(np.array([*range(9), math.inf], dtype=np.float64), 0.95, 0.95)
    assert found is not None
    assert found.estimate == math.inf
    assert quantile(np.array([math.nan]), 0.5, 0.95) is None


@pytest.mark.parametrize("share", [0.9, *by_night(0.5, 0.95)])
@pytest.mark.parametrize("draw", ["normal", "lognormal", "bimodal"])
def test_the_interval_covers_what_it_says(share: float, draw: str) -> None:
    """Whatever the shape, at least the level that is attained holds the true quantile."""
    rng = np.random.default_rng(7)
    draws = {
        "normal": lambda n: rng.normal(size=n),
        "lognormal": lambda n: rng.lognormal(sigma=1.5, size=n),
        "bimodal": lambda n: np.where(rng.random(n) < 0.3, rng.normal(10, 1, n), rng.normal(0, 1, n)),
    }[draw]
    truth, inside, runs, attained = float(np.quantile(draws(2_000_000), share)), 0, 2000, 1.0
    for _ in range(runs):
        found = quantile(draws(80), share, 0.95)
        assert found is not None
        inside += found.interval.low <= truth <= found.interval.high
        attained = found.interval.confidence
    assert attained >= 0.95
    assert inside / runs == pytest.approx(attained, abs=0.02)
