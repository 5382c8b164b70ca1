# SPDX-License-Identifier: Apache-2.0
"""Error rates of a study's tests on a machine that disturbs its trials, simulated.

The functions that a report calls are fed with arms of which the truth is known, and with disturbances as a laboratory
would predict them.

A machine adds time to attempts, to those of one arm more than to the other's, and to long ones more often. What it
added is predicted with an error, and now and then not at all. A block of which an attempt is predicted to have lost
more than 1 % of its time runs again, with trials drawn anew; what was added by less stays in.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import error_rates
import numpy as np
import numpy.typing as npt
from error_rates import ALPHA, TTLB, Shape, Times

from quiclab.compare.cell_comparison import arm_result, compare, decide_all
from quiclab.compare.conclusions import conclude_all, conclude_by_sequence
from quiclab.compare.disturbance import between, selection
from quiclab.compare.model import ArmResult, Comparison, Conclusion, TrialResult
from quiclab.compare.not_judged import bare
from quiclab.compare.sequential import sequentially

TOLERATED = 0.01
"""Share of its time that a trial may have lost and still count."""
ATTEMPTS = 10
"""Most attempts at a block."""


@dataclass(frozen=True)
class Machine:
    """A machine that does other things, too."""

    name: str
    rates: tuple[float, float]
    """Disturbances in 200 ms of a trial of each arm, on average."""
    mean_ms: float = 1.5
    """Time that each of them adds, on average; exponentially distributed."""
    grows: float = 1.0
    """Power of the trial's time with which the number of disturbances grows."""


MACHINES = (
    Machine("both arms alike", (0.5, 0.5)),
    Machine("one arm ten times as often", (0.1, 1.0)),
    Machine("one arm, long trials far more often", (0.1, 1.0), grows=3.0),
    Machine("one arm, more than every other block again", (0.2, 2.5)),
)
SHAPES = tuple(shape for shape in error_rates.SHAPES if shape.assumed and "drift" not in shape.name)


@dataclass(frozen=True)
class Drawn:
    """Attempts of both arms at so many blocks; rows are arms."""

    times: Times
    """Times as measured, with what was added."""
    cost: Times
    """Predicted part of them that was added."""
    most: Times
    """Predicted bound of it."""


def attempts(machine: Machine, shape: Shape, rng: np.random.Generator, blocks: int, factor: float) -> Drawn:
    """Draw attempts; the other arm takes `factor` times as long. Predictions are off by a third, of one attempt in
    twenty the bound is too low, and one attempt in a hundred has 2 % that nobody predicts."""
    own = shape.draw(rng, blocks) * np.array([[1.0], [factor]])
    known = np.where(np.isfinite(own), own, 200.0)
    expected = np.array(machine.rates)[:, None] * (known / 200) ** machine.grows
    number = rng.poisson(np.minimum(expected, 50))
    added = machine.mean_ms * rng.gamma(np.maximum(number, 1e-9))
    cost = added * rng.lognormal(0, 0.3, own.shape)
    unseen = 0.02 * known * (rng.random(own.shape) < 0.01)
    return Drawn(own + added + unseen, np.minimum(cost, 0.9 * known), 1.6 * cost)


def arms(
    machine: Machine, shape: Shape, rng: np.random.Generator, pairs: int, factor: float = 1.0
) -> tuple[ArmResult, ArmResult]:
    """Both arms of a cell whose disturbed blocks were run again; blocks that never count are lost."""
    counted: list[list[tuple[float, float, float] | None]] = [[None] * pairs, [None] * pairs]
    repeated: list[dict[int, list[float]]] = [{}, {}]
    waiting = np.arange(pairs)
    for _ in range(ATTEMPTS):
        drawn = attempts(machine, shape, rng, pairs, factor)
        void = (drawn.cost > TOLERATED * drawn.times).any(axis=0)
        for block in waiting:
            for row in (0, 1):
                values = (float(drawn.times[row, block]), float(drawn.cost[row, block]), float(drawn.most[row, block]))
                if not void[block]:
                    counted[row][block] = values
                elif np.isfinite(values[0]):
                    repeated[row].setdefault(int(block), []).append(values[0] - values[1])
        waiting = waiting[void[waiting]]
        if not waiting.size:
            break
    first, second = (_arm(name, kept, again) for name, kept, again in zip(("h2", "h3"), counted, repeated, strict=True))
    return first, second


def _arm(
    name: str, counted: Sequence[tuple[float, float, float] | None], repeated: Mapping[int, Sequence[float]]
) -> ArmResult:
    known = {block: each for block, each in enumerate(counted) if each is not None and np.isfinite(each[0])}
    chosen = selection({block: time - cost for block, (time, cost, _) in known.items()}, repeated)
    shift_pct = chosen.shift_pct if chosen else 0.0
    trials = []
    for block, each in enumerate(counted):
        if each is None:
            continue
        time, _, most = each
        trial = TrialResult(f"{name}{block}", block, "verified", time, "")
        failed = replace(trial, status="failed", value=None)
        trials.append(between(trial, most / time, shift_pct, TTLB) if np.isfinite(time) else failed)
    lost = [block for block, each in enumerate(counted) if each is None]
    return arm_result(name, trials, len(counted), 0, TTLB, lost_blocks=lost, selection=chosen)


def concluded(found: Sequence[tuple[ArmResult, ArmResult]], matters_pct: float) -> list[Comparison]:
    """The comparisons of a study as a report tells them."""
    cells = [compare(("w/p", "main", "w", "p"), *both, TTLB, ALPHA) for both in found]
    return conclude_all([(each, TTLB) for each in decide_all(cells, ALPHA)], ALPHA, matters_pct)


@dataclass(frozen=True)
class Rates:
    """Shares of cells."""

    different: float
    """Called different."""
    different_as_measured: float
    """Called different if nobody allowed for what the machine added."""
    not_judged: float
    held: float
    """Intervals that hold the truth."""


def rates(machine: Machine, shape: Shape, pairs: int, runs: int, factor: float = 1.0) -> Rates:
    """Rates of studies of one cell, in which the other arm takes `factor` times as long."""
    rng = _rng(machine, shape, pairs)
    different = measured = not_judged = held = 0
    for _ in range(runs):
        both = arms(machine, shape, rng, pairs, factor)
        (found,) = concluded([both], error_rates.MATTERS_PCT)
        (naive,) = concluded([(bare(both[0]), bare(both[1]))], error_rates.MATTERS_PCT)
        different += found.conclusion.found
        measured += naive.conclusion.found
        not_judged += found.conclusion is Conclusion.NOT_JUDGED
        interval, truth = found.interval_pct, 100 * (factor - 1)
        held += interval is None or interval.low <= truth <= interval.high
    return Rates(*(count / runs for count in (different, measured, not_judged, held)))


def alike_wrongly(machine: Machine, shape: Shape, pairs: int, matters_pct: float, runs: int) -> float:
    """Share of cells said to differ by less than what matters, where they differ by exactly that."""
    rng, wrong = _rng(machine, shape, pairs, 1), 0
    said = (Conclusion.ALIKE, Conclusion.MEDIAN_ALIKE, Conclusion.SMALL)
    for _ in range(runs):
        both = arms(machine, shape, rng, pairs, 1 - matters_pct / 100)
        wrong += concluded([both], matters_pct)[0].conclusion in said
    return wrong / runs


def ever_different(machine: Machine, shape: Shape, looks: Sequence[int], runs: int) -> float:
    """Share of studies of one cell, without a difference, that some look of `--until` calls different."""
    rng, found = _rng(machine, shape, len(looks), 2), 0
    for _ in range(runs):
        whole = arms(machine, shape, rng, max(looks))
        for pairs in looks:
            first, second = (
                replace(arm, trials=tuple(trial for trial in arm.trials if trial.block < pairs)) for arm in whole
            )
            cell = compare(("w/p", "main", "w", "p"), first, second, TTLB, ALPHA)
            (told,) = conclude_by_sequence(sequentially([cell], TTLB, ALPHA), TTLB, ALPHA, error_rates.MATTERS_PCT)
            if told.conclusion.found:
                found += 1
                break
    return found / runs


def spells(rng: np.random.Generator, blocks: int, series: int) -> npt.NDArray[np.float64]:
    """Shares of time that a machine adds which is busy for some blocks and then idle for some: at most what counts."""
    busy = np.zeros((series, blocks), dtype=np.bool_)
    for at in range(blocks):
        changes = rng.random(series) < 0.2
        busy[:, at] = np.where(changes, rng.random(series) < 0.5, busy[:, at - 1]) if at else rng.random(series) < 0.5
    return TOLERATED * rng.random((series, blocks)) * busy


def _rng(machine: Machine, shape: Shape, *numbers: int) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(f"{machine.name} {shape.name}".encode()), *numbers])
