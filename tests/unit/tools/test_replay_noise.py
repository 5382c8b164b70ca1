# SPDX-License-Identifier: Apache-2.0
"""Noise of replays, what arms of a block share, and the pairs that follow, on values whose noise is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from replay_noise import Correlation, Noise, correlation, noise, plan_pairs, pooled

from quiclab.compare.statistics import pairs_for_noise

RANDOM = np.random.default_rng(20261124)


def times(seeds: int, replays: int, seed_pct: float, replay_pct: float) -> list[list[float]]:
    """Times around one second, with this noise."""
    of_seed = RANDOM.normal(0, seed_pct / 100, (seeds, 1))
    return (1000 * np.exp(of_seed + RANDOM.normal(0, replay_pct / 100, (seeds, replays)))).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(("seed_pct", "replay_pct"), [(10.0, 2.0), (0.0, 3.0), (5.0, 5.0)])
def test_noise_is_split_as_it_was_made(seed_pct: float, replay_pct: float) -> None:
    """Between what the seed does and what a replay adds."""
    found = noise(times(400, 5, seed_pct, replay_pct))
    assert found is not None
    assert (found.seeds, found.runs) == (400, 2000)
    assert found.replay_pct == pytest.approx(replay_pct, rel=0.06)
    assert found.seed_pct == pytest.approx(seed_pct, abs=0.11 * max(seed_pct, replay_pct))
    assert found.total_pct == pytest.approx(math.hypot(seed_pct, replay_pct), rel=0.1)


def test_seeds_may_have_different_numbers_of_replays() -> None:
    """One with twenty, and others with two, as a measurement of both has them."""
    values = [times(1, 20, 0, 2)[0], *times(60, 2, 8, 2), *times(40, 1, 8, 2), []]
    found = noise(values)
    assert found is not None
    assert (found.seeds, found.runs) == (101, 180)
    assert found.replay_pct == pytest.approx(2, rel=0.25)
    assert 5 < found.seed_pct < 11
    assert 0.8 < found.reproduced < 1


def test_noise_needs_seeds_and_replays() -> None:
    """One seed cannot tell seeds apart, and single runs cannot tell replays."""
    assert noise([[1.0, 2.0]]) is None
    assert noise([[1.0], [2.0], []]) is None
    assert noise([]) is None
    alike = noise([[5.0, 5.0], [5.0, 5.0]])
    assert alike == Noise(0.0, 0.0, 2, 4)
    assert alike.reproduced == 1


def test_correlation_is_that_of_the_logarithms() -> None:
    """With Fisher's interval around it; it knows no scale."""
    shared = RANDOM.normal(0, 0.1, 4000)
    first, second = (1000 * np.exp(shared + RANDOM.normal(0, 0.05, 4000)) for _ in range(2))
    found = correlation(zip(first, 7 * second, strict=True))
    assert found is not None
    assert found.value == pytest.approx(0.8, abs=0.03)
    assert found.low < found.value < found.high
    assert found.high - found.low == pytest.approx(2 * 1.96 * (1 - 0.64) / math.sqrt(4000), rel=0.1)


def test_correlation_needs_pairs_that_vary() -> None:
    """Three pairs have a value without bounds; an arm that does not vary has none."""
    three = correlation([(1, 2), (2, 3), (4, 9)])
    assert three is not None
    assert (three.low, three.high) == (-1, 1)
    assert correlation([(1, 2), (2, 3)]) is None
    assert correlation([(1, 2), (2, 2), (3, 2)]) is None


def test_cells_are_pooled_by_their_pairs() -> None:
    """A cell of three pairs weighs nothing, and the interval is that of all."""
    one, few = Correlation(0.5, 0, 0, 103), Correlation(-0.9, -1, 1, 3)
    found = pooled([one, few])
    assert found is not None
    assert found.value == pytest.approx(0.5)
    assert found.pairs == 103
    both = pooled([one, Correlation(-0.5, 0, 0, 103)])
    assert both is not None
    assert both.value == pytest.approx(0)
    assert both.high == pytest.approx(math.tanh(1.96 / math.sqrt(200)), rel=1e-3)
    assert pooled([few]) is None
    certain = pooled([Correlation(1.0, 1, 1, 9)])
    assert certain is not None
    assert 0.99 < certain.value <= 1


def test_pairs_follow_from_noise_and_correlation() -> None:
    """Between replays alone and no shared seed at all; the test is the one that decides."""
    arm = Noise(replay_pct=2.0, seed_pct=6.0, seeds=10, runs=20)
    effect = abs(100 * math.log(0.9))
    alone = plan_pairs(-10, arm, arm)
    assert alone.effect_pct == pytest.approx(effect)
    assert alone.expected == pairs_for_noise(math.sqrt(2) * math.hypot(2, 6), effect, 0.05)
    assert alone.least == pairs_for_noise(math.sqrt(2) * 2, effect, 0.05)
    half = plan_pairs(-10, arm, arm, shared=0.5)
    assert alone.least <= half.expected < alone.expected
    assert plan_pairs(-10, arm, arm, shared=0.5, alpha=0.005).expected > half.expected
    # A correlation beyond what replays allow is chance: they are the floor.
    assert plan_pairs(-10, arm, arm, shared=1.0).expected == alone.least


def test_what_lies_below_the_noise_is_told() -> None:
    """Two replays differ by more than two thirds of a standard deviation as often as not."""
    arm = Noise(replay_pct=4.0, seed_pct=0.0, seeds=5, runs=10)
    assert plan_pairs(3, arm, arm).below_noise
    assert not plan_pairs(5, arm, arm).below_noise
    silent = Noise(0.0, 0.0, 5, 10)
    assert not plan_pairs(0.1, silent, silent).below_noise
    for change in (0, -100, -120):
        with pytest.raises(ValueError, match="cannot change"):
            plan_pairs(change, arm, arm)
