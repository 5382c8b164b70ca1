# SPDX-License-Identifier: Apache-2.0
"""A race of settings with simulated times: it finds a planted best, and fresh blocks are seldom wrong about nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quiclab.compare.statistics import anytime_p, hodges_lehmann
from quiclab.study.tune.racing import (
    FINALISTS,
    Standing,
    combined,
    greedy,
    rounds_of,
    standings,
    survivors,
)

_ALPHA = 0.05
_LOOKS = (6, 8, 10, 13, 17, 22, 28, 35)
"""Fresh pairs at each look: a quarter more, at least two."""


def _raced(rng: np.random.Generator, worth: dict[str, float], noise: float, blocks: int) -> tuple[Standing, ...]:
    """Standings at the end of a race: in each round every setting that goes on runs in the same blocks, and the noise
    of the arm as it is is in all of its differences."""
    alive, pooled = tuple(worth), dict[str, list[float]]()
    for round_ in range(len(rounds_of(len(worth)))):
        shared = rng.normal(0, noise, blocks)
        for name in alive:
            pooled.setdefault(name, []).extend(worth[name] + rng.normal(0, noise, blocks) - shared)
        found = standings({name: pooled[name] for name in alive})
        alive = survivors(found)
        if not alive or round_ == len(rounds_of(len(worth))) - 1:
            return found
    raise AssertionError("a race ends")


def test_a_planted_best_is_found() -> None:
    """One of 16 settings takes 6 % of the time away, with 2 % of noise and two blocks a round."""
    rng = np.random.default_rng(1)
    worth = dict.fromkeys((f"s{number}" for number in range(15)), 0.0) | {"best": -6.0}
    won = sum(_raced(rng, worth, 2.0, 2)[0].name == "best" for _ in range(200))
    assert won >= 190


def test_settings_without_effect_are_seldom_called_faster() -> None:
    """The race always has a fastest one, and its estimate is far from zero; fresh blocks call it faster in at most
    alpha of the searches, at all looks together."""
    rng = np.random.default_rng(2)
    worth = dict.fromkeys((f"s{number}" for number in range(16)), 0.0)
    searches, wrong, lucky = 400, 0, 0
    for _ in range(searches):
        best = _raced(rng, worth, 3.0, 2)[0]
        lucky += best.difference_pct < -1
        fresh = rng.normal(0, 3, _LOOKS[-1]) - rng.normal(0, 3, _LOOKS[-1])
        wrong += any(
            anytime_p(fresh[:pairs]) <= _ALPHA and hodges_lehmann(fresh[:pairs], 0.95).estimate < 0 for pairs in _LOOKS
        )
    assert lucky > searches / 2, "the race by itself would call most of these faster: the winner's curse"
    assert wrong <= _ALPHA * searches


def test_the_faster_half_goes_on() -> None:
    """Down to the finalists, and none that is no faster; a setting that failed is the last."""
    found = standings({f"s{number}": [float(number - 6)] * 3 for number in range(10)} | {"failed": [math.inf] * 3})
    assert found[-1] == Standing("failed", math.inf, 3)
    assert survivors(found) == ("s0", "s1", "s2", "s3", "s4", "s5")
    assert survivors(found[4:]) == ("s4", "s5")
    assert survivors(found[7:]) == ()


@pytest.mark.parametrize(
    ("settings", "rounds"), [(1, (1,)), (3, (3,)), (4, (4, 3)), (5, (5, 3)), (16, (16, 8, 4, 3)), (0, (0,))]
)
def test_rounds(settings: int, rounds: tuple[int, ...]) -> None:
    """Each has half of the one before, and the last one has the finalists."""
    assert rounds_of(settings) == rounds
    assert rounds_of(settings)[-1] <= FINALISTS


def test_what_is_combined() -> None:
    """The fastest, and others that gain enough and set other keys."""
    keys = {
        "a": frozenset({("server", "initial_window")}),
        "b": frozenset({("server", "initial_window")}),
        "c": frozenset({("server", "pacing")}),
    }
    found = [Standing("a", -9.0, 4), Standing("b", -8.0, 4), Standing("c", -3.0, 4)]
    assert combined(keys, found, 2.0) == ("a", "c")
    assert combined(keys, found, 4.0) == ("a",)
    assert combined(keys, [Standing("a", -0.5, 4)], 4.0) == ("a",)
    assert combined(keys, [Standing("a", 0.5, 4)], 4.0) == ()


def test_parts_are_added_as_long_as_they_gain() -> None:
    """The gain of a part is measured in the blocks of the combination that it is added to."""
    parts = ("a", "b", "c")
    differences = {
        ("a", "b"): {0: -5.0, 1: -5.2, 2: -4.8},
        ("a", "c"): {0: -1.0, 1: -1.1, 2: -0.9},
        ("a", "b", "c"): {0: -5.5, 1: -5.6, 2: -5.4},
    }
    assert greedy(parts, differences, 2.0) == ("a", "b")
    assert greedy(parts, differences, 0.3) == ("a", "b", "c")
    assert greedy(parts, differences, 6.0) == ("a",)
    assert greedy(parts, {}, 0.1) == ("a",)
    assert greedy(parts, {("a", "b"): {0: -9.0, 1: -9.0, 2: 0.1}}, 2.0) == ("a",), "one block was slower"
