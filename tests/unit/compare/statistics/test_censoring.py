# SPDX-License-Identifier: Apache-2.0
"""Failures rank worst and unknown values are left out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quiclab.compare.statistics import censored, median, paired_differences


def test_worst_depends_on_the_direction() -> None:
    """A failure is +inf where lower is better and −inf where higher is."""
    values, failed = np.array([1.0, 2.0]), np.array([False, True])
    assert censored(values, failed).tolist() == [1.0, math.inf]
    assert censored(values, failed, lower_is_better=False).tolist() == [1.0, -math.inf]


def test_two_failures_tie_and_unknown_pairs_go() -> None:
    """Both failed: 0. One failed: infinite, the sign says which. NaN: no pair."""
    baseline = np.array([math.inf, math.inf, 3.0, 3.0, math.nan])
    other = np.array([math.inf, 1.0, math.inf, 1.0, 1.0])
    assert paired_differences(baseline, other).tolist() == [0.0, math.inf, -math.inf, 2.0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3, math.inf], 2.5),
        ([1, math.inf, math.inf], math.inf),
        ([math.nan, 4.0], 4.0),
        ([1, math.inf], math.inf),
    ],
)
def test_median_counts_failures_as_worst(values: list[float], expected: float) -> None:
    """Failures shift the median, and own it once they are half of all."""
    assert median(np.array(values)) == expected


def test_median_of_nothing_is_nan() -> None:
    """No known value, no median."""
    assert math.isnan(median(np.array([math.nan])))
