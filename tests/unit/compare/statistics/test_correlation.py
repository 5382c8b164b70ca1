# SPDX-License-Identifier: Apache-2.0
"""Rank correlations, and which of two is the stronger."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from quiclab.compare.statistics import Correlation, rank_correlation, stronger


def test_equals_scipy_and_leaves_unknown_values_out() -> None:
    """Ties have their mean rank; a pair with one unknown value is none."""
    rng = np.random.default_rng(3)
    one = rng.integers(0, 6, 30).astype(float)
    other = one + rng.normal(0, 2, 30)
    found = rank_correlation(one, other)
    assert found is not None
    assert (found.rho, found.count) == (pytest.approx(spearmanr(one, other).statistic), 30)
    unknown = np.append(other, math.nan)
    assert rank_correlation(np.append(one, 99.0), unknown) == found


@pytest.mark.parametrize("values", [[1, 2, 3, 4], [5, 5, 5, 5, 5, 5]])
def test_none_of_few_or_equal_values(values: list[float]) -> None:
    """Neither has a correlation that says something."""
    assert rank_correlation(np.array(values, dtype=float), np.arange(len(values), dtype=float)) is None


def test_the_stronger_is_found_whatever_its_sign() -> None:
    """0.9 and -0.9 are as strong; beside 0.1 either is stronger, with n = 40 significantly."""
    strong, weak = Correlation(-0.9, 40), Correlation(0.1, 40)
    found = stronger(weak, strong, 0.95)
    assert found.difference == pytest.approx(0.8)
    assert found.interval.low > 0.4
    assert found.p < 1e-6
    back = stronger(strong, weak, 0.95)
    assert (back.difference, back.p) == (pytest.approx(-found.difference), pytest.approx(found.p))
    assert (back.interval.low, back.interval.high) == pytest.approx((-found.interval.high, -found.interval.low))
    alike = stronger(Correlation(0.9, 40), strong, 0.95)
    assert (alike.difference, alike.p) == (0.0, 1.0)


def test_equal_strengths_are_seldom_called_different() -> None:
    """Of samples of one distribution about five in a hundred have p below 0.05, and their interval misses zero."""
    rng = np.random.default_rng(11)
    called = missed = 0
    for _ in range(800):
        pairs = []
        for _ in range(2):
            base = rng.normal(0, 1, 20)
            found = rank_correlation(base, base + rng.normal(0, 1.2, 20))
            assert found is not None
            pairs.append(found)
        told = stronger(pairs[0], pairs[1], 0.95)
        called += told.p < 0.05
        missed += not told.interval.low <= 0 <= told.interval.high
    assert 0.02 < called / 800 < 0.08
    assert 0.02 < missed / 800 < 0.08
