# SPDX-License-Identifier: Apache-2.0
"""The deciding test against enumeration, against scipy, and against simulated nulls."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import wilcoxon

from quiclab.compare.statistics import signed_rank
from quiclab.compare.statistics.ranks import doubled_midranks


def enumerated_p(differences: np.ndarray) -> float:
    """The definition: the share of all sign flips whose rank sum lies at least as far from its mean."""
    ranks = doubled_midranks(np.abs(differences))[differences != 0]
    signs = np.sign(differences[differences != 0])
    observed = abs(int((ranks * signs).sum()))
    flips = [abs(int((ranks * np.array(flip)).sum())) for flip in product((-1, 1), repeat=ranks.size)]
    return sum(flip >= observed for flip in flips) / len(flips)


def test_midranks_share_the_mean_rank() -> None:
    """Tied values get twice their mean rank, and infinities tie with each other."""
    assert doubled_midranks(np.array([3.0, 1.0, 1.0, np.inf, np.inf])).tolist() == [6, 3, 3, 9, 9]


@pytest.mark.parametrize("levels", [3, 7, 1000])
def test_equals_enumeration_with_ties_and_zeros(levels: int) -> None:
    """The counted p equals the definition for data from heavily tied to untied."""
    rng = np.random.default_rng(levels)
    for _ in range(25):
        differences = rng.integers(-levels, levels + 1, 9).astype(np.float64)
        assert signed_rank(differences).p == pytest.approx(enumerated_p(differences), rel=1e-12)


def test_equals_scipy_without_ties() -> None:
    """Without ties and zeros it is the textbook's exact test."""
    rng = np.random.default_rng(1)
    for n in (5, 12, 40):
        differences = rng.normal(0.4, 1, n)
        assert signed_rank(differences).p == pytest.approx(wilcoxon(differences, method="exact").pvalue, rel=1e-9)


def test_failures_rank_worst() -> None:
    """Infinite differences take the largest ranks: eight of one sign give the smallest p there is."""
    assert signed_rank(np.array([np.inf, np.inf, 1, 2, 3, 4, 5, 6])).p == 2 / 2**8
    assert signed_rank(np.array([-np.inf, 1, 2, 3, 4, 5, 6, 7])).p > 2 / 2**8


def test_zeros_take_the_lowest_ranks() -> None:
    """Two zeros leave ranks 3 to 8; a negative rank sum of 7 or less has 7 of 64 sign patterns."""
    result = signed_rank(np.array([0.0, 0, 1, 2, 3, 4, -5, 6]))
    assert (result.zeros, result.pairs, result.p) == (2, 8, 2 * 7 / 64)


@pytest.mark.parametrize("differences", [[], [0.0], [0.0, 0.0, 0.0]])
def test_nothing_to_test_is_no_evidence(differences: list[float]) -> None:
    """Without a single difference p is 1."""
    assert signed_rank(np.array(differences)).p == 1.0


@pytest.mark.parametrize(
    "kind", ["normal", "heavy tails", "skewed", "bimodal", "tied with zeros", "failures on both sides"]
)
def test_false_alarms_stay_below_the_level(kind: str) -> None:
    """Where both arms are alike, at most alpha of simulated cells are called different."""
    rng = np.random.default_rng(20)
    cells, n = 4000, 9
    samples = {
        "normal": rng.normal(size=(cells, n)),
        "heavy tails": rng.standard_cauchy((cells, n)),
        "skewed": rng.lognormal(0, 1, (cells, n)) - rng.lognormal(0, 1, (cells, n)),  # times of two equal arms
        "bimodal": rng.choice([0.0, 10.0], (cells, n))
        - rng.choice([0.0, 10.0], (cells, n))
        + rng.normal(size=(cells, n)),
        "tied with zeros": rng.integers(-2, 3, (cells, n)).astype(np.float64),
        "failures on both sides": np.where(rng.random((cells, n)) < 0.2, np.inf, 1.0)
        * rng.choice([-1.0, 1.0], (cells, n))
        * rng.random((cells, n)),
    }[kind]
    p = np.array([signed_rank(cell).p for cell in samples])
    for alpha in (0.01, 0.05, 0.2):
        assert np.mean(p <= alpha) <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / cells)


def test_unequal_spread_of_skewed_times_alone_rejects() -> None:
    """The null hypothesis is symmetry, not equal medians: those of a steady and of an erratic arm, both 1, are called
    different about twice as often as 5 % of times, as the documents say; of symmetric times they are not."""
    rng = np.random.default_rng(8)
    skewed = [signed_rank(rng.lognormal(0, 0.1, 20) - rng.lognormal(0, 1, 20)).p <= 0.05 for _ in range(2000)]
    even = [signed_rank(rng.normal(0, 0.1, 20) - rng.normal(0, 1, 20)).p <= 0.05 for _ in range(2000)]
    assert 0.08 < np.mean(skewed) < 0.14
    assert np.mean(even) < 0.065


def test_finds_a_real_effect() -> None:
    """A shift of two standard deviations is found in most cells of ten pairs."""
    rng = np.random.default_rng(3)
    p = [signed_rank(rng.normal(2, 1, 10)).p for _ in range(200)]
    assert np.mean(np.array(p) <= 0.05) > 0.95


def test_an_unknown_difference_is_refused() -> None:
    """NaN has no rank, and a p of the others would be silent about it."""
    with pytest.raises(ValueError, match="no rank"):
        signed_rank(np.array([1.0, np.nan, 2.0]))
