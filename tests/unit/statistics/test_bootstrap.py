# SPDX-License-Identifier: Apache-2.0
"""The bootstrap interval of a median."""

from __future__ import annotations

import math

import numpy as np

from quiclab.statistics import median_interval


def test_covers_the_true_median() -> None:
    """Of simulated samples of 15, at least 90 % of the nominal 95 % intervals hold the true median."""
    rng = np.random.default_rng(9)
    inside = 0
    for _ in range(400):
        interval = median_interval(rng.exponential(size=15), 0.95)
        assert interval is not None
        inside += interval.low <= math.log(2) <= interval.high
    assert inside / 400 >= 0.90


def test_is_the_same_every_time() -> None:
    """The seed is fixed, so two analyses of the same trials print the same interval."""
    values = np.array([5.0, 1, 4, 2, 3])
    assert median_interval(values, 0.95) == median_interval(values[::-1], 0.95)


def test_failures_open_the_upper_end() -> None:
    """With many failures the interval has no upper bound; of two values there is no interval."""
    interval = median_interval(np.array([1.0, 2, 3, math.inf, math.inf]), 0.95)
    assert interval is not None
    assert interval.high == math.inf
    assert median_interval(np.array([1.0, 2.0]), 0.95) is None
