# SPDX-License-Identifier: Apache-2.0
"""Worth of the same seed: how far replays of a trial lie apart, what two arms of a block share, and so how many pairs a
predicted effect takes.

All noise is in per cent, as 100 × the natural logarithm of a time: 5 is 5 % to first order. A value is taken as the
mean of its arm, plus what the seed does to that arm, plus what a replay adds to that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from quiclab.compare.statistics import pairs_for_noise

POWER = 0.8
"""Share of plans that find an effect that is there."""
_LEAST_FOR_INTERVAL = 4
"""Fewest pairs whose correlation has an interval (Fisher 1921 divides by their number less 3)."""


@dataclass(frozen=True)
class Noise:
    """Noise of one arm over one path."""

    replay_pct: float
    """Standard deviation of replays under one seed."""
    seed_pct: float
    """Standard deviation of what the seed does; 0 where replays explain all."""
    seeds: int
    runs: int

    @property
    def total_pct(self) -> float:
        """Standard deviation of single trials of different seeds."""
        return math.hypot(self.replay_pct, self.seed_pct)

    @property
    def reproduced(self) -> float:
        """Share of the variance between trials that the seed fixes: 1 if replays are alike, 0 if seeds are."""
        return self.seed_pct**2 / self.total_pct**2 if self.total_pct else 1.0


def noise(times_by_seed: Iterable[Sequence[float]]) -> Noise | None:
    """Noise of an arm by its times (above zero), a sequence of replays for each seed.

    Components of variance by mean squares of unequal sizes (Searle, Casella and McCulloch 1992, 3.6); a negative one is
    zero. None unless two seeds have times and one of them a replay.
    """
    groups = [100 * np.log(np.asarray(times, dtype=np.float64)) for times in times_by_seed if len(times)]
    seeds, runs = len(groups), sum(map(len, groups))
    if seeds < 2 or runs == seeds:
        return None
    within = sum(float(np.square(group - group.mean()).sum()) for group in groups) / (runs - seeds)
    middle = sum(float(group.sum()) for group in groups) / runs
    between = sum(len(group) * (float(group.mean()) - middle) ** 2 for group in groups) / (seeds - 1)
    usual_size = (runs - sum(len(group) ** 2 for group in groups) / runs) / (seeds - 1)
    return Noise(math.sqrt(within), math.sqrt(max(0.0, between - within) / usual_size), seeds, runs)


@dataclass(frozen=True)
class Correlation:
    """Correlation of two arms' times within blocks."""

    value: float
    low: float
    high: float
    """Bounds of the 95 % interval; -1 and 1 of too few pairs."""
    pairs: int


def correlation(pairs: Iterable[tuple[float, float]]) -> Correlation | None:
    """Pearson's correlation of the logarithms of two arms' times, a pair for each block, with Fisher's interval.

    None of fewer than three pairs, or where one arm does not vary.
    """
    logs = np.log(np.asarray(list(pairs), dtype=np.float64).reshape(-1, 2))
    if len(logs) < 3 or np.ptp(logs, axis=0).min() == 0:
        return None
    value = float(np.clip(np.corrcoef(logs.T)[0, 1], -1, 1))
    return _with_interval(value, len(logs), len(logs) - 3)


def pooled(found: Iterable[Correlation]) -> Correlation | None:
    """One correlation of several cells, each weighted by its pairs less three as Fisher's transformation has it; None
    where no cell has an interval."""
    cells = [each for each in found if each.pairs >= _LEAST_FOR_INTERVAL]
    weight = sum(each.pairs - 3 for each in cells)
    if not weight:
        return None
    mean = sum((each.pairs - 3) * _fisher(each.value) for each in cells) / weight
    return _with_interval(math.tanh(mean), sum(each.pairs for each in cells), weight)


def _fisher(value: float) -> float:
    return math.atanh(min(max(value, -1 + 1e-9), 1 - 1e-9))


def _with_interval(value: float, pairs: int, weight: int) -> Correlation:
    if weight < 1:
        return Correlation(value, -1.0, 1.0, pairs)
    half = NormalDist().inv_cdf(0.975) / math.sqrt(weight)
    return Correlation(value, math.tanh(_fisher(value) - half), math.tanh(_fisher(value) + half), pairs)


@dataclass(frozen=True)
class Plan:
    """Pairs that a predicted effect takes, of two arms in one block."""

    effect_pct: float
    """Size of the effect on the scale of the noise."""
    floor_pct: float
    """Standard deviation of the difference where the seed does the same to both arms: nothing but replays differ."""
    expected_pct: float
    """Standard deviation of the difference by the correlation; never below the floor."""
    least: int
    """Pairs if the seed does the same to both arms."""
    expected: int
    """Pairs by the correlation."""

    @property
    def below_noise(self) -> bool:
        """True if two replays of one trial differ by more than the effect as often as not: then nothing is planned."""
        return self.effect_pct < NormalDist().inv_cdf(0.75) * self.floor_pct


def plan_pairs(
    change_pct: float, first: Noise, second: Noise, shared: float = 0.0, alpha: float = 0.05, power: float = POWER
) -> Plan:
    """Pairs with which the signed-rank test finds a change of `change_pct` per cent (of -20, the time becomes 0.8 of
    what it was) between two arms of this noise.

    `shared` is the correlation of the two arms within blocks: that of `correlation` where such pairs have run, its low
    bound to be careful, 0 where nothing is known. Raises ValueError for a change of 0 or of -100 per cent and beyond.
    """
    if change_pct <= -100 or change_pct == 0:
        raise ValueError(f"a time cannot change by {change_pct:g} %, or does not change")
    effect = abs(100 * math.log1p(change_pct / 100))
    floor = math.hypot(first.replay_pct, second.replay_pct)
    apart = first.total_pct**2 + second.total_pct**2 - 2 * shared * first.total_pct * second.total_pct
    expected = max(floor, math.sqrt(max(0.0, apart)))
    least, usual = (pairs_for_noise(max(sd, 1e-6), effect, alpha, power) for sd in (floor, expected))
    return Plan(effect, floor, expected, least, usual)
