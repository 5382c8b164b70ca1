# SPDX-License-Identifier: Apache-2.0
"""Drift and values far out."""

from __future__ import annotations

import numpy as np
import pytest

from quiclab.compare.statistics import drift, far_out


def test_a_trend_is_seen_through_an_outlier() -> None:
    """A slope of 2 a step, one wild value among twenty."""
    values = 2.0 * np.arange(20)
    values[7] = 1000
    found = drift(values)
    assert found is not None
    assert found.per_step == pytest.approx(2)
    assert found.p < 0.001


def test_false_alarms_are_at_most_the_level() -> None:
    """Of values without a trend about 5 % have p below 0.05, skewed ones too."""
    rng = np.random.default_rng(3)
    found = [drift(rng.lognormal(sigma=1.0, size=30)) for _ in range(1000)]
    assert sum(each is not None and each.p < 0.05 for each in found) / 1000 <= 0.065


def test_failed_trials_keep_their_place() -> None:
    """A step without a value is still a step."""
    found = drift(np.array([0.0, np.inf, 2, np.nan, 4, 5, 6]))
    assert found is not None
    assert found.per_step == pytest.approx(1)


def test_too_few_or_equal_values_have_no_trend() -> None:
    """Nothing is said of four values, or of one value again and again."""
    assert drift(np.arange(4.0)) is None
    assert drift(np.ones(9)) is None


def test_only_values_beyond_the_outer_fences_are_far_out() -> None:
    """Three interquartile ranges from the quartiles; infinite ones are failures, not outliers."""
    values = np.array([1.0, 2, 3, 4, 5, 100, np.inf])
    assert far_out(values).tolist() == [False] * 5 + [True, False]
    assert not far_out(np.array([1.0, 1, 1, 100])).any()
