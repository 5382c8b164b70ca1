# SPDX-License-Identifier: Apache-2.0
"""The interval of a median: known values, censored ones, and coverage by simulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from quiclab.compare.statistics import median_interval

FloatArray = npt.NDArray[np.float64]

# Samples whose true median is zero.
SHAPES: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": lambda rng, n: rng.normal(0, 1, n),
    "skewed": lambda rng, n: rng.lognormal(0, 0.8, n) - 1,
    "bimodal": lambda rng, n: np.where(rng.random(n) < 0.5, -1, 1) * np.abs(rng.normal(0, 3, n)) ** 0.3,
}


def _coverage(shape: str, n: int, runs: int) -> float:
    rng = np.random.default_rng(n)
    spans = [median_interval(SHAPES[shape](rng, n), 0.95) for _ in range(runs)]
    return float(np.mean([span is not None and span.low <= 0 <= span.high for span in spans]))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [20, 21, 30, 75])
def test_coverage_from_twenty_values(shape: str, n: int) -> None:
    """93 to 97 % of nominal 95 % intervals hold the true median."""
    assert 0.93 <= _coverage(shape, n, 3000) <= 0.97


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [3, 5, 6, 12, 19])
def test_below_twenty_it_is_exact_and_says_its_level(shape: str, n: int) -> None:
    """As many hold the median as the interval says, which is at least 95 % from six values on."""
    span = median_interval(np.arange(float(n)), 0.95)
    assert span is not None
    assert (span.confidence >= 0.95) == (n >= 6)
    assert abs(_coverage(shape, n, 3000) - span.confidence) < 3 * np.sqrt(0.25 / 3000)


def test_known_values() -> None:
    """Of five values the range holds the median with 1 − 2/2^5; of ten the second and ninth with 97.9 %."""
    five, ten = (median_interval(np.arange(float(n)), 0.95) for n in (5, 10))
    assert five is not None
    assert ten is not None
    assert (five.low, five.high, five.confidence) == (0, 4, 1 - 2 / 32)
    assert (ten.low, ten.high, ten.confidence) == (1, 8, 1 - 2 * 11 / 1024)
    assert median_interval(np.array([1.0, 2.0, np.nan]), 0.95) is None


@pytest.mark.parametrize("n", [8, 40])
def test_censored_values_are_the_worst(n: int) -> None:
    """Failures push the upper end to infinity, and never make it unknown."""
    values = np.concatenate([np.arange(n / 2), np.full(n // 2, np.inf)])
    span = median_interval(values, 0.95)
    assert span is not None
    assert np.isfinite(span.low)
    assert span.high == np.inf
