# SPDX-License-Identifier: Apache-2.0
"""Spread of paired samples: by hand, beside another implementation, and by simulation of equal spreads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from quiclab.compare.statistics import paired_spread


def test_coefficients_of_variation_and_the_test_are_those_of_the_textbook() -> None:
    """Wilcoxon's test of the absolute deviations from the medians of the logarithms, by scipy."""
    rng = np.random.default_rng(4)
    first, second = np.exp(rng.normal(5, 0.1, 12)), np.exp(rng.normal(3, 0.6, 12))
    found = paired_spread(first, second)
    assert found is not None
    deviations = [abs(np.log(each) - np.median(np.log(each))) for each in (first, second)]
    assert found.p == pytest.approx(stats.wilcoxon(deviations[1], deviations[0], mode="exact").pvalue)
    assert (found.first, found.second) == pytest.approx([stats.variation(each, ddof=1) for each in (first, second)])
    assert found.leans == 1
    assert found.change_pct == pytest.approx(100 * (found.second / found.first - 1))


def test_it_is_the_same_at_any_size() -> None:
    """A spread is for the size: values of a thousand times as much vary as much."""
    rng = np.random.default_rng(5)
    first, second = np.exp(rng.normal(0, 0.2, 10)), np.exp(rng.normal(0, 0.4, 10))
    small, large = paired_spread(first, second), paired_spread(first, 1000 * second)
    assert small is not None
    assert large is not None
    assert (small.p, small.change_pct) == pytest.approx((large.p, large.change_pct))


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0, 2.0, np.inf], [1.0, 0.0, 3.0], [1.0, 2.0, np.nan]])
def test_what_has_no_spread_has_none(values: list[float]) -> None:
    """Two pairs, a failure, a value without a logarithm."""
    assert paired_spread(np.array(values), np.arange(1.0, len(values) + 1)) is None


def test_what_does_not_vary_has_no_change_beside_it() -> None:
    """Nothing is a share of no spread; the test is there all the same."""
    found = paired_spread(np.full(8, 2.0), np.arange(1.0, 9.0))
    assert found is not None
    assert found.change_pct is None
    assert found.leans == 1


@pytest.mark.parametrize("tails", ["normal", "heavy"])
def test_equal_spreads_are_called_different_as_often_as_said(tails: str) -> None:
    """Samples of 20 pairs share a part, also with heavy tails, for which normal theory is of no use."""
    rng = np.random.default_rng(6)

    def draw() -> np.ndarray:
        return rng.standard_normal(20) if tails == "normal" else rng.standard_t(3, 20)

    called = 0
    for _ in range(600):
        shared = draw()
        found = paired_spread(np.exp((shared + draw()) / 4), np.exp((shared + draw()) / 4))
        assert found is not None
        called += found.p <= 0.05
    assert 10 <= called <= 46
