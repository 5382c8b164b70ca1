# SPDX-License-Identifier: Apache-2.0
"""Pairs for an effect in normal noise, against the test itself."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from quiclab.compare.statistics import (
    mean,
    pairs_by_resampling,
    pairs_for_noise,
    pairs_in_noise_of,
    signed_rank,
    smallest_p,
)


@pytest.mark.parametrize(("sd", "effect", "alpha"), [(3, 2, 0.05), (10, 4, 0.05), (3, 2, 0.05 / 9), (1, 2, 0.05 / 9)])
def test_so_many_pairs_find_it_in_four_studies_of_five(sd: float, effect: float, alpha: float) -> None:
    """By simulation of the deciding test; hardly fewer where small numbers are coarse, and more where the least p sets
    the number."""
    rng = np.random.default_rng(1)
    pairs = pairs_for_noise(sd, effect, alpha)
    found = sum(signed_rank(rng.normal(effect, sd, pairs)).p <= alpha for _ in range(1500)) / 1500
    assert found >= 0.8 - 0.06
    assert found <= 0.9 or smallest_p(pairs - 2) > alpha


def test_what_the_noise_never_hides_is_bounded_by_the_test() -> None:
    """Six pairs are the least at 5 %, nine at a ninth of that."""
    assert pairs_for_noise(0.01, 2, 0.05) == 6
    assert pairs_for_noise(0.01, 2, 0.05 / 9) == 9


@pytest.mark.parametrize(("sd", "effect"), [(0, 1), (1, 0), (-1, 1)])
def test_nothing_is_no_noise_and_no_effect(sd: float, effect: float) -> None:
    """Both are sizes."""
    with pytest.raises(ValueError, match="above zero"):
        pairs_for_noise(sd, effect, 0.05)


def test_ten_times_the_noise_takes_a_hundred_times_the_pairs() -> None:
    """Where the effect is small beside it."""
    assert math.isclose(pairs_for_noise(100, 1, 0.05) / pairs_for_noise(10, 1, 0.05), 100, rel_tol=0.05)


@pytest.mark.parametrize("shape", ["normal", "skewed", "stalls"])
def test_the_noise_of_pairs_at_hand_takes_as_many(shape: str) -> None:
    """Many pairs tell the number with which four of five studies of such pairs find the effect."""
    rng = np.random.default_rng(2)

    def noise(count: int) -> npt.NDArray[np.float64]:
        times = {
            "normal": lambda: rng.normal(0, 3, (2, count)),
            "skewed": lambda: 3 * rng.lognormal(0, 0.8, (2, count)),
            "stalls": lambda: rng.normal(0, 3, (2, count)) + 20 * (rng.random((2, count)) < 0.1),
        }[shape]()
        return times[0] - times[1]

    pairs = pairs_in_noise_of(noise(400), 2.5, 0.05)
    assert pairs is not None
    found = sum(signed_rank(noise(pairs) + 2.5).p <= 0.05 for _ in range(800)) / 800
    assert 0.68 <= found <= 0.92


def test_too_few_pairs_tell_no_noise() -> None:
    """Nor does one in which every effect is lost; noise that never hides it leaves the least number."""
    assert pairs_in_noise_of(np.arange(4.0), 1, 0.05) is None
    assert pairs_in_noise_of(np.array([0.0, 0, 0, 0, 0, 0.1]), 1, 0.05) == 6


def test_a_shift_of_the_pairs_at_hand_is_no_noise() -> None:
    """Only their spread counts."""
    noise = np.random.default_rng(2).normal(0, 1, 50)
    assert pairs_in_noise_of(noise, 0.5, 0.05) == pairs_in_noise_of(noise + 100, 0.5, 0.05)


def test_without_noise_the_tests_own_limit_stays() -> None:
    """Identical differences: as few pairs as can reach alpha at all."""
    pairs = pairs_in_noise_of(np.full(6, 3.0), 1.0, 0.05)
    assert pairs is not None
    assert smallest_p(pairs) <= 0.05 < smallest_p(pairs - 1)


def test_unknown_noise_has_no_answer() -> None:
    """Four pairs do not tell their spread, nor do failures."""
    assert pairs_in_noise_of(np.array([1.0, 2, 3, 4]), 1.0, 0.05) is None
    assert pairs_in_noise_of(np.array([1.0, 2, np.inf, np.inf, -np.inf]), 1.0, 0.05) is None


def test_pairs_by_resampling_show_it_as_often_as_is_said() -> None:
    """Seven of eight pairs agree: of studies drawn from them, with so many pairs, about four of five show it."""
    differences = np.array([-38.9, -20.0, -37.8, -14.1, -17.6, 20.1, -20.0])
    pairs = pairs_by_resampling(differences, 0.02)
    assert pairs is not None
    rng = np.random.default_rng(1)
    samples = rng.choice(differences, (300, pairs))
    shown = [signed_rank(each).p <= 0.02 and not _holds_0(each, 0.98) for each in samples]
    assert 0.7 < np.mean(shown) < 0.93


def _holds_0(differences: npt.NDArray[np.float64], confidence: float) -> bool:
    found = mean(differences, confidence)
    return found is None or found.interval is None or bool(found.interval.low <= 0 <= found.interval.high)


@pytest.mark.parametrize(
    "differences",
    [[0.0, 0, 0, 0, 75.4, 0, 0], [1.0, 2, 3, 4], [1.0, -1, 1, -1, 1, -1, 1, -1]],
    ids=["one", "few", "none"],
)
def test_nothing_is_said_of_pairs_that_tell_too_little(differences: list[float]) -> None:
    """One of seven that moved, four pairs, or an effect that 400 pairs do not show."""
    assert pairs_by_resampling(np.array(differences), 0.05) is None
