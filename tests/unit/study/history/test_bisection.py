# SPDX-License-Identifier: Apache-2.0
"""The search for releases that changed a result, driven by results that are made here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from quiclab.compare import statistics
from quiclab.compare.paired import FloatArray
from quiclab.model.history_record import most_pairs
from quiclab.study.history.bisection import Measured, Pair, Standing, bisect, compare_neighbours

NAMES = tuple(f"0.{number}" for number in range(40, 49))
MATTERS_PCT = 2.0


@dataclass
class Truth:
    """Releases with known times, which are compared without noise."""

    times: Mapping[str, float]
    broken: frozenset[str] = frozenset()
    rounds: list[list[Pair]] = field(default_factory=list)

    def __call__(self, pairs: Sequence[Pair]) -> Measured:
        self.rounds.append(list(pairs))
        unusable = {each: "every trial failed" for pair in pairs for each in pair if each in self.broken}
        return Measured({pair: self._standing(pair) for pair in pairs if not unusable.keys() & {*pair}}, unusable)

    def _standing(self, pair: Pair) -> Standing:
        older, newer = (self.times[each] for each in pair)
        return Standing.DIFFERENT if abs(newer / older - 1) > MATTERS_PCT / 100 else Standing.SAME

    @property
    def pairs(self) -> list[Pair]:
        return [pair for each in self.rounds for pair in each]


def _truth(*steps: tuple[int, float], broken: Sequence[int] = ()) -> Truth:
    """Releases of 300 ms, which change by so much from the release of a number on."""
    times = {name: 300.0 + sum(by for at, by in steps if at <= number) for number, name in enumerate(NAMES)}
    return Truth(times, frozenset(NAMES[number] for number in broken))


@pytest.mark.parametrize("at", range(1, len(NAMES)))
def test_a_step_is_found_wherever_it_is(at: int) -> None:
    """The ends come first; a search among nine releases takes three halvings, of two pairs each."""
    truth = _truth((at, -40.0))
    found = bisect(NAMES, truth)
    assert found.steps == ((NAMES[at - 1], NAMES[at]),)
    assert found.spans == ()
    assert truth.rounds[0] == [(NAMES[0], NAMES[-1])]
    assert len(truth.rounds) <= 4
    assert len(truth.pairs) == len(set(truth.pairs)) <= 7


def test_releases_without_a_step_are_compared_once() -> None:
    """Ends that are alike are all that is measured."""
    truth = _truth()
    found = bisect(NAMES, truth)
    assert (found.steps, found.spans) == ((), ())
    assert truth.pairs == [found.ends]


def test_two_steps_of_one_direction_are_both_found() -> None:
    """Each half with a difference is halved, all of one width at once."""
    truth = _truth((2, -40.0), (7, -20.0))
    assert bisect(NAMES, truth).steps == ((NAMES[1], NAMES[2]), (NAMES[6], NAMES[7]))
    assert len(truth.rounds) <= 4


def test_a_step_back_is_found_by_neighbours_alone() -> None:
    """Two steps that cancel out leave the ends alike: comparing neighbours finds both."""
    truth = _truth((3, -40.0), (6, 40.0))
    found = bisect(NAMES, truth)
    assert found.steps == ()
    assert compare_neighbours(found, truth).steps == ((NAMES[2], NAMES[3]), (NAMES[5], NAMES[6]))


def test_neighbours_that_were_compared_are_not_compared_again() -> None:
    """A search with its neighbours takes no more pairs than its level allows for."""
    truth = _truth((1, -40.0), (4, 30.0), (8, -10.0))
    found = compare_neighbours(bisect(NAMES, truth), truth)
    assert len(found.steps) == 3
    assert len(truth.pairs) == len(set(truth.pairs)) <= most_pairs(len(NAMES))


def test_a_creeping_change_names_no_release() -> None:
    """Eight steps of less than what matters: the ends differ, and no two neighbours do."""
    truth = _truth(*((at, 4.0) for at in range(1, len(NAMES))))
    found = compare_neighbours(bisect(NAMES, truth), truth)
    assert found.steps == ()
    assert found.spans
    assert all(found.asked[span] is Standing.DIFFERENT for span in found.spans)


@pytest.mark.parametrize("broken", [(0,), (8,), (4,), (3, 4, 5), (0, 1, 4, 8)])
def test_a_release_that_cannot_be_measured_is_left_out(broken: tuple[int, ...]) -> None:
    """Another one takes its place; a step beside it is told with the releases that may have made it."""
    truth = _truth((6, -40.0), broken=broken)
    found = bisect(NAMES, truth)
    assert found.unusable.keys() <= {NAMES[number] for number in broken}
    (step,) = found.steps
    assert step[1] == NAMES[6]
    assert found.between(step) == tuple(NAMES[number] for number in broken if NAMES.index(step[0]) < number < 6)
    assert not set(broken) & {NAMES.index(each) for pair in found.asked for each in pair}


def test_a_search_in_which_nothing_can_be_measured_ends() -> None:
    """One release that works is compared with nothing."""
    found = bisect(NAMES, _truth(broken=range(1, len(NAMES))))
    assert (found.steps, found.spans, found.ends) == ((), (), None)
    assert len(found.unusable) == len(NAMES) - 1


def test_what_stays_open_is_not_halved() -> None:
    """Ends that are not told apart in time say nothing of what lies between them."""
    asked: list[Pair] = []

    def undecided(pairs: Sequence[Pair]) -> Measured:
        asked.extend(pairs)
        return Measured(dict.fromkeys(pairs, Standing.OPEN))

    found = bisect(NAMES, undecided)
    assert asked == [(NAMES[0], NAMES[-1])]
    assert (found.steps, found.spans) == ((), ())


def test_a_difference_whose_halves_stay_open_is_told_whole() -> None:
    """The time may be over before a step is located."""

    def ends_alone(pairs: Sequence[Pair]) -> Measured:
        whole = (NAMES[0], NAMES[-1])
        return Measured({pair: Standing.DIFFERENT if pair == whole else Standing.OPEN for pair in pairs})

    found = bisect(NAMES, ends_alone)
    assert (found.steps, found.spans) == ((), ((NAMES[0], NAMES[-1]),))


def _noisy(seed: int, step_pct: float, noise_pct: float = 3.0, most: int = 60) -> tuple[Pair, ...]:
    """Search by the sequential test among releases with a step at the sixth; return the steps that it finds."""
    draw = np.random.default_rng(seed)
    level = 0.05 / most_pairs(len(NAMES))

    def measure(pairs: Sequence[Pair]) -> Measured:
        standings = {}
        for pair in pairs:
            moved = (NAMES.index(pair[1]) >= 5) - (NAMES.index(pair[0]) >= 5)
            shift = moved * np.log1p(step_pct / 100)
            logs = shift + draw.normal(0, noise_pct / 100, most)
            standings[pair] = _standing(logs, level)
        return Measured(standings)

    return compare_neighbours(bisect(NAMES, measure), measure).steps


def _standing(logs: FloatArray, level: float) -> Standing:
    """Standing at the first look that decides it, as a search looks after some pairs."""
    for pairs in (10, 14, 20, 30, 45, logs.size):
        interval = statistics.anytime_shift(logs[:pairs], level).interval
        if interval is None:
            continue
        low, high = (statistics.per_cent(end) for end in (interval.low, interval.high))
        if low >= MATTERS_PCT or high <= -MATTERS_PCT:
            return Standing.DIFFERENT
        if low > -MATTERS_PCT and high < MATTERS_PCT:
            return Standing.SAME
    return Standing.OPEN


def test_noise_makes_no_step() -> None:
    """Forty searches among releases that are all alike: a false step in one of twenty is what the level allows."""
    assert sum(bool(_noisy(seed, 0.0)) for seed in range(40)) <= 2


def test_a_step_is_found_in_noise() -> None:
    """A step of 12 % is located in nearly all searches, and no other release is named beside it."""
    found = [_noisy(seed, -12.0) for seed in range(20)]
    assert sum(steps == ((NAMES[4], NAMES[5]),) for steps in found) >= 18
