# SPDX-License-Identifier: Apache-2.0
"""Whether values depend on those before them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from quiclab.compare.statistics import independence
from quiclab.compare.statistics.independence import FloatArray


def course(rng: np.random.Generator, values: int, coupling: float) -> FloatArray:
    """An autoregressive series of a variance of one."""
    noise = rng.standard_normal(values)
    for at in range(1, values):
        noise[at] = coupling * noise[at - 1] + math.sqrt(1 - coupling**2) * noise[at]
    return noise


def share_called_dependent(coupling: float, runs: int) -> float:
    """Of studies of nine cells of 20 pairs, whose arms each have a course of their own."""
    rng = np.random.default_rng(5)
    called = 0
    for _ in range(runs):
        found = independence([[course(rng, 20, coupling) - course(rng, 20, coupling)] for _ in range(9)])
        assert found is not None
        called += found.neighbours_depend or found.moves
    return called / runs


def test_coupled_arms_are_seen_and_independent_ones_left_alone() -> None:
    """Nearly all of AR 0.6, few of none: `tests/nightly` has more of them."""
    assert share_called_dependent(0.6, 20) >= 0.95
    assert share_called_dependent(0.0, 40) <= 0.15


def test_the_permutation_p_is_that_of_all_orders() -> None:
    """Six values have 720 orders, which can be counted."""
    values = np.array([1.0, 2, 4, 3, 6, 5])
    found = independence([[values]])
    assert found is not None
    ranks = values - values.mean()
    products = [float(np.dot(order[:-1], order[1:])) for order in map(np.array, itertools.permutations(ranks))]
    exact = np.mean([product >= np.dot(ranks[:-1], ranks[1:]) - 1e-9 for product in products])
    assert found.autocorrelation_p == pytest.approx(exact, abs=0.03)
    assert found.tau == pytest.approx(11 / 15)


def test_tau_is_scipys_of_one_series_with_ties() -> None:
    """The same statistic and the same variance, less half a step for its being whole."""
    from scipy.stats import kendalltau

    values = np.random.default_rng(1).integers(0, 12, 60).astype(np.float64) + np.arange(60) / 12
    found = independence([[values]])
    assert found is not None
    assert found.tau_p == pytest.approx(kendalltau(np.arange(60), values, method="asymptotic").pvalue, rel=0.1)


def test_gaps_and_failures_keep_their_place() -> None:
    """NaN is left out, and an infinite value ranks last as any other above all would."""
    values = np.random.default_rng(2).standard_normal(12)
    with_gap, failed, large = np.append(values, np.nan), values.copy(), values.copy()
    failed[3], large[3] = math.inf, 99
    assert independence([[failed]]) == independence([[large]])
    gap, whole = independence([[with_gap]]), independence([[values]])
    assert gap is not None
    assert whole is not None
    assert (gap.values, gap.autocorrelation, gap.tau_p) == (whole.values, whole.autocorrelation, whole.tau_p)


def test_too_few_or_equal_values_tell_nothing() -> None:
    """Neither four values nor one again and again."""
    assert independence([[np.arange(4.0)], [np.ones(30)]]) is None
    assert independence([]) is None
