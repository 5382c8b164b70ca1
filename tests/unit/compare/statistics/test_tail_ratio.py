# SPDX-License-Identifier: Apache-2.0
"""The difference of two tails: by hand, and how often its interval holds the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from quiclab.compare.statistics.tail_ratio import least_for_tail, tail_difference

Noise = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]

NOISES: dict[str, Noise] = {
    "normal": lambda rng, n: rng.normal(0, 0.1, n),
    "skewed": lambda rng, n: np.log(rng.gamma(2, 1, n)),
    "timeouts": lambda rng, n: 0.02 * rng.normal(0, 1, n) + (rng.random(n) < 0.2),
}


def test_the_fewest_pairs_that_tell_of_it() -> None:
    """0.9^36 is less than 0.025, 0.9^35 is not."""
    assert least_for_tail(0.9, 0.95) == 36
    assert 0.9**36 < 0.025 < 0.9**35
    assert tail_difference(np.zeros(35), np.zeros(35), 0.9, 0.95) is None


def test_by_hand() -> None:
    """p90 of forty values is the 36th; equal samples differ by nothing; the same call gives the same interval."""
    values = np.arange(40.0)
    found = tail_difference(values + 3, values, 0.9, 0.95)
    assert found is not None
    assert found.estimate == 3
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (3, 3)  # pairs are drawn whole
    assert tail_difference(values + 3, values, 0.9, 0.95) == found
    shuffled = tail_difference(values[::-1] + 3, values, 0.9, 0.95)
    assert shuffled is not None
    assert shuffled.interval is not None
    assert shuffled.interval.low < 3 < shuffled.interval.high


def test_failures_in_the_tail() -> None:
    """Where one arm's tail fails it is infinitely worse; where both do, nothing is known of the difference."""
    fails = np.where(np.arange(40) % 4 == 0, math.inf, 0.0)
    found = tail_difference(fails, np.zeros(40), 0.9, 0.95)
    assert found is not None
    assert (found.estimate, found.interval and found.interval.high) == (math.inf, math.inf)
    both = tail_difference(fails, fails, 0.9, 0.95)
    assert both is not None
    assert both.interval is not None
    assert (both.interval.low, both.interval.high) == (-math.inf, math.inf)


@pytest.mark.parametrize("pairs", [36, 60])
@pytest.mark.parametrize("noise", NOISES)
def test_the_interval_holds_the_difference(noise: str, pairs: int) -> None:
    """95 % of 150 studies of equal tails, with half of their noise shared or not, less three standard errors."""
    rng, runs, held = np.random.default_rng(7), 150, 0
    for run in range(runs):
        shared = rng.normal(0, 0.1, pairs) if run % 2 else 0.0
        found = tail_difference(shared + NOISES[noise](rng, pairs), shared + NOISES[noise](rng, pairs), 0.9, 0.95)
        assert found is not None
        assert found.interval is not None
        held += found.interval.low <= 0 <= found.interval.high
    assert held / runs >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / runs)


def test_a_stall_in_one_of_six_trials_is_hardly_ever_overlooked() -> None:
    """Of 36 pairs of which one arm stalls in 17 % at most one study in forty has tails within 2 % of each other."""
    rng, runs, overlooked = np.random.default_rng(8), 200, 0
    for _ in range(runs):
        stalls = rng.random(36) < 1 / 6
        found = tail_difference(rng.normal(0, 0.004, 36) + stalls, rng.normal(0, 0.004, 36), 0.9, 0.95)
        assert found is not None
        assert found.interval is not None
        overlooked += found.interval.high < 0.02
    assert overlooked <= runs / 40
