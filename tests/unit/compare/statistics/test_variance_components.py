# SPDX-License-Identifier: Apache-2.0
"""Components of variance, by simulation and by hand; the test of occasions, by scipy and by its level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from quiclab.compare.statistics import occasions_differ_p, variance_components


@pytest.mark.parametrize("sizes", [(8, 8, 8, 8, 8), (3, 12, 5, 9, 2)])
@pytest.mark.parametrize("sds", [(3.0, 2.0, 1.0), (0.0, 2.0, 1.0), (3.0, 0.0, 1.0)])
def test_what_was_put_in_comes_out(sizes: tuple[int, ...], sds: tuple[float, float, float]) -> None:
    """Variances are right on average, of occasions of one size and of several; arms may differ in their means."""
    rng = np.random.default_rng(4)
    occasions = np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for _ in range(800):
        blocks = rng.normal(0, sds[0], len(sizes))[occasions] + rng.normal(0, sds[1], occasions.size)
        values = blocks[:, None] + rng.normal(0, sds[2], (occasions.size, 2)) + np.array([0.0, 50.0])
        components = variance_components(values, occasions)
        assert components is not None
        found.append((components.occasions**2, components.blocks**2, components.within**2))
    mean = np.mean(found, axis=0)
    assert mean[2] == pytest.approx(sds[2] ** 2, rel=0.05)
    assert mean[1] == pytest.approx(sds[1] ** 2, rel=0.08, abs=0.15)
    assert mean[0] == pytest.approx(sds[0] ** 2, rel=0.15, abs=0.5)


def test_a_single_value_in_each_block() -> None:
    """By hand: means 1 and 5, squares within 2 each of 2 degrees of freedom together, between 2 × 2 × 4 = 16."""
    found = variance_components(np.array([0.0, 2, 4, 6]), np.array([1, 1, 2, 2]))
    assert found is not None
    assert found.blocks == pytest.approx(math.sqrt(2))
    assert found.occasions == pytest.approx(math.sqrt((16 - 2) / 2))
    assert math.isnan(found.within)


@pytest.mark.parametrize("occasions", [[1, 1, 1], [1, 2, 3]])
def test_too_few_tell_nothing(occasions: list[int]) -> None:
    """One occasion, or one block on each."""
    assert variance_components(np.arange(3.0), np.array(occasions)) is None
    assert occasions_differ_p(np.arange(3.0), np.array(occasions)) is None


def test_the_test_is_that_of_kruskal_and_wallis() -> None:
    """Whose chi-square is near enough with so many values; a failure ranks last."""
    rng = np.random.default_rng(5)
    occasions = np.repeat([1, 2, 3], 15)
    values = rng.normal(0, 1, 45) + 0.5 * occasions
    groups = [values[occasions == each] for each in (1, 2, 3)]
    assert occasions_differ_p(values, occasions) == pytest.approx(stats.kruskal(*groups).pvalue, abs=0.02)
    values[np.argmax(values)] = math.inf
    assert occasions_differ_p(values, occasions) == pytest.approx(stats.kruskal(*groups).pvalue, abs=0.02)


def test_occasions_that_do_not_differ_are_called_different_seldom() -> None:
    """At its level, of skewed values too."""
    rng = np.random.default_rng(6)
    occasions = np.repeat([1, 2, 3], (4, 7, 5))
    alarms = 0
    for _ in range(300):
        p = occasions_differ_p(rng.lognormal(0, 1, 16), occasions)
        alarms += p is not None and p <= 0.05
    assert alarms / 300 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)
