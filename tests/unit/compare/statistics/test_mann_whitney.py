# SPDX-License-Identifier: Apache-2.0
"""Mann–Whitney, against all choices of its ranks and against scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from quiclab.compare.statistics import mann_whitney_p, smallest_p_of_two
from quiclab.compare.statistics.mann_whitney import MOST_COUNTED


def test_exact_without_ties() -> None:
    """Four against four, fully apart: 2 of 70 arrangements."""
    assert mann_whitney_p(np.arange(4.0), np.arange(10.0, 14.0)) == pytest.approx(2 / 70)


def test_a_failure_ranks_last() -> None:
    """One failure changes nothing but the rank: it equals any value above all others."""
    baseline = np.array([1.0, 2, 3, 4])
    assert mann_whitney_p(baseline, np.array([5.0, 6, 7, math.inf])) == mann_whitney_p(
        baseline, np.array([5.0, 6, 7, 99])
    )


@pytest.mark.parametrize("other", [[], [math.nan], [2.0, 2.0]])
def test_nothing_to_rank_has_no_p(other: list[float]) -> None:
    """Empty or constant samples give None."""
    assert mann_whitney_p(np.array([2.0, 2.0]), np.array(other)) is None


def by_all_choices(baseline: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    """Twice the smaller tail of the rank sum over every choice of as many of the values."""
    ranks = stats.rankdata(np.concatenate([baseline, other]))
    found = ranks[: baseline.size].sum()
    sums = np.array([ranks[list(each)].sum() for each in itertools.combinations(range(ranks.size), baseline.size)])
    return min(1.0, 2 * float(min((sums <= found + 1e-9).mean(), (sums >= found - 1e-9).mean())))


@pytest.mark.parametrize(("first", "second"), [(1, 5), (2, 7), (3, 3), (7, 7), (9, 4)])
@pytest.mark.parametrize("levels", [2, 3, 6])
def test_exact_with_ties(first: int, second: int, levels: int) -> None:
    """Values of few levels, so that most are tied, also failures: as all choices of the midranks have it."""
    rng = np.random.default_rng(first * 100 + second * 10 + levels)
    for _ in range(20):
        values = rng.choice([*range(levels - 1), math.inf], first + second) * 1.0
        if np.unique(values).size == 1:
            continue
        baseline, other = values[:first], values[first:]
        p = mann_whitney_p(baseline, other)
        assert p == pytest.approx(by_all_choices(baseline, other), rel=1e-9)
        assert p == pytest.approx(mann_whitney_p(other, baseline), rel=1e-9)


@pytest.mark.parametrize("size", [2, 9, 25, MOST_COUNTED // 2])
def test_exact_for_larger_samples_too(size: int) -> None:
    """Against scipy's own count, which knows no ties."""
    rng = np.random.default_rng(size)
    baseline, other = rng.normal(size=size), rng.normal(0.5, size=size)
    exact = stats.mannwhitneyu(baseline, other, method="exact").pvalue
    assert mann_whitney_p(baseline, other) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("size", [4, 5, 20])
def test_ties_give_no_p_below_what_can_be_reached(size: int) -> None:
    """As many times 190 ms against as many times 200 ms: the normal approximation calls that rarer than it can be."""
    assert mann_whitney_p(np.full(size, 190.0), np.full(size, 200.0)) == pytest.approx(smallest_p_of_two(size, size))


def test_samples_too_large_to_count() -> None:
    """The normal distribution meets the count where the one takes over from the other."""
    rng = np.random.default_rng(1)
    values = np.round(10 * rng.normal(size=MOST_COUNTED + 1))
    values[50:] += 4
    counted = mann_whitney_p(values[1:50], values[50:])
    assert counted == pytest.approx(stats.mannwhitneyu(values[1:50], values[50:], method="asymptotic").pvalue, rel=0.05)
    beyond = stats.mannwhitneyu(values[:50], values[50:], method="asymptotic").pvalue
    assert mann_whitney_p(values[:50], values[50:]) == beyond
