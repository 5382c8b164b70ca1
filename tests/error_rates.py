# SPDX-License-Identifier: Apache-2.0
"""How often the tests of a study err, simulated on shapes of times that real networks have: the functions that a report
calls, fed with arms of which the truth is known."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from quiclab.compare.cell_comparison import arm_result, compare, decide_all
from quiclab.compare.conclusions import conclude_all
from quiclab.compare.model import ArmResult, Comparison, Metric, TrialResult
from quiclab.compare.over_occasions import held_over_occasions
from quiclab.compare.sequential import sequentially

Times = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Times]
"""Draws the times of two arms without a difference between them, in ms: two rows of so many blocks; inf fails."""

TTLB = Metric("ttlb_ms", "time to last byte", "ms", lower_is_better=True)
ALPHA = 0.05
MATTERS_PCT = 0.01
"""Smallest difference that matters, far below every noise here: what is found is different, not small."""
CELLS = 9
PAIRS = (7, 20, 40)
LOOKS = (7, 9, 12, 15, 19, 24, 30)
"""Pairs at which `--until` looks, from seven blocks on and a quarter more each time."""
ADDED = (7, 10, 14, 20)
"""Pairs at which somebody looks who adds blocks by hand until there is a difference."""


@dataclass(frozen=True)
class Shape:
    """Noise of some kind, and what the tests may make of it."""

    name: str
    draw: Draw
    alarms_most: tuple[float, ...] = (0.05, 0.05, 0.05)
    """Most of the cells without a difference that may be called different, in each number of `PAIRS`."""
    holds_least: float = 0.95
    """Least of the intervals that hold the truth."""
    assumed: bool = True
    """Whether pairs are independent and arms exchangeable, as the test takes for granted."""


def _same(draw: Callable[[np.random.Generator, tuple[int, int]], Times], rng: np.random.Generator, n: int) -> Times:
    return draw(rng, (2, n))


def _stalls(rng: np.random.Generator, size: tuple[int, int]) -> Times:
    return np.asarray(rng.normal(200, 4, size) + 200 * (rng.random(size) < 0.2))


def _heavy_and_failing(rng: np.random.Generator, size: tuple[int, int]) -> Times:
    return np.where(rng.random(size) < 0.02, np.inf, 200 * np.exp(0.1 * rng.standard_t(3, size)))


def _blocks_of_unequal_spread(rng: np.random.Generator, n: int) -> Times:
    spread = rng.choice([0.02, 0.1, 0.4], n)
    return np.asarray(200 * np.exp(spread * rng.normal(size=(2, n))))


def _course(coupling: float, rng: np.random.Generator, rows: int, n: int) -> Times:
    values = rng.normal(size=(rows, n))
    for at in range(1, n):
        values[:, at] = coupling * values[:, at - 1] + math.sqrt(1 - coupling**2) * values[:, at]
    return values


def _shared(coupling: float, common: float, own: float, rng: np.random.Generator, n: int) -> Times:
    """Blocks that share most of their noise, of which neighbours may resemble each other."""
    return np.asarray(200 * np.exp(common * _course(coupling, rng, 1, n) + own * rng.normal(size=(2, n))))


def _each_arm_by_itself(coupling: float, rng: np.random.Generator, n: int) -> Times:
    return np.asarray(200 * np.exp(0.1 * _course(coupling, rng, 2, n)))


def _felt_twice(rng: np.random.Generator, n: int) -> Times:
    drift = 0.1 * _course(0.95, rng, 1, n) * np.array([[1.0], [2.0]])
    return np.asarray(200 * np.exp(drift + 0.03 * rng.normal(size=(2, n))))


def _unequal_spread(first: float, second: float, rng: np.random.Generator, n: int) -> Times:
    return np.asarray(200 * np.exp(np.array([[first], [second]]) * rng.normal(size=(2, n))))


def _one_arm_stalls(rng: np.random.Generator, n: int) -> Times:
    """Medians are the same: what stalls was among the slower half already."""
    times = 200 * np.exp(0.05 * rng.normal(size=(2, n)))
    times[1] += 30 * ((times[1] > 200) & (rng.random(n) < 0.4))
    return np.asarray(times)


def _coupled(coupling: float, alarms_most: tuple[float, ...], holds_least: float) -> Shape:
    """Arms whose trials resemble those of the block before, each its own."""
    draw = partial(_each_arm_by_itself, coupling)
    return Shape(f"each arm drifts by itself ({coupling})", draw, alarms_most, holds_least, assumed=False)


def _spreads(first: float, second: float) -> Shape:
    """Arms of one median that spread unequally; the logarithms of their ratios are symmetric all the same."""
    return Shape(f"same median, sigma {first:g} and {second:g}", partial(_unequal_spread, first, second))


SHAPES = (
    Shape("lognormal, sigma 0.1", partial(_same, lambda rng, size: 200 * rng.lognormal(0, 0.1, size))),
    Shape("lognormal, sigma 0.5", partial(_same, lambda rng, size: 200 * rng.lognormal(0, 0.5, size))),
    Shape("gamma, shape 2", partial(_same, lambda rng, size: 100 * rng.gamma(2, 1, size))),
    Shape("a timeout of 200 ms in 20 %", partial(_same, _stalls)),
    Shape("Student's t with 3 degrees, 2 % fail", partial(_same, _heavy_and_failing)),
    Shape("ticks of 10 ms", partial(_same, lambda rng, size: np.round(20 * rng.lognormal(0, 0.1, size)) * 10)),
    Shape("blocks of unequal spread", _blocks_of_unequal_spread),
    Shape("blocks share 99 % of the variance", partial(_shared, 0.0, 0.2, 0.02)),
    Shape("both arms drift alike (lag 1: 0.95)", partial(_shared, 0.95, 0.2, 0.03)),
    _spreads(0.1, 0.3),
    _spreads(0.1, 1.0),
    Shape("same median, one arm stalls", _one_arm_stalls, (0.12, 0.16, 0.28), 0.7, assumed=False),
    _coupled(0.3, (0.16, 0.17, 0.18), 0.82),
    _coupled(0.6, (0.33, 0.36, 0.37), 0.63),
    Shape("one arm feels a drift twice", _felt_twice, (0.7, 0.78, 0.82), 0.2, assumed=False),
)


def arm(name: str, times: Times) -> ArmResult:
    """An arm with a trial in each block."""
    trials = [
        TrialResult(f"{name}{block}", block, "verified", float(time), "")
        if math.isfinite(time)
        else TrialResult(f"{name}{block}", block, "failed", None, "")
        for block, time in enumerate(times)
    ]
    return arm_result(name, trials, len(trials), 0, TTLB)


def _rng(shape: Shape, *numbers: int) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(shape.name.encode()), *numbers])


def cell(shape: Shape, rng: np.random.Generator, pairs: int, factor: float = 1.0) -> Comparison:
    """A comparison in which the other arm takes `factor` times as long."""
    first, second = shape.draw(rng, pairs)
    return compare(("w/p", "main", "w", "p"), arm("h2", first), arm("h3", factor * second), TTLB, ALPHA)


def is_alarm(found: Comparison) -> bool:
    """Whether the test that decides finds a difference."""
    return found.adjusted_p is not None and found.adjusted_p <= ALPHA


def alarms(shape: Shape, pairs: int, runs: int, cells: int = 1) -> float:
    """Share of studies of so many cells, all without a difference, in which at least one is called different."""
    rng = _rng(shape, pairs, cells)
    family = ([cell(shape, rng, pairs) for _ in range(cells)] for _ in range(runs))
    return sum(any(map(is_alarm, decide_all(each, ALPHA))) for each in family) / runs


def holds(shape: Shape, pairs: int, factor: float, runs: int) -> float:
    """Share of intervals that hold the truth: in per cent of the baseline's value, positive where less is better."""
    rng = _rng(shape, pairs, round(10 * factor))
    truth, held = 100 * (1 - factor), 0
    for _ in range(runs):
        interval = cell(shape, rng, pairs, factor).interval_pct
        held += interval is None or interval.low - 1e-9 <= truth <= interval.high + 1e-9
    return held / runs


def ever_alarms(shape: Shape, looks: Sequence[int], runs: int, *, sequence: bool) -> float:
    """Share of studies of one cell that some look calls different: by the sequential test, or by the test of a
    fixed number of pairs at each."""
    rng = _rng(shape, len(looks), sequence)
    found = 0
    for _ in range(runs):
        first, second = shape.draw(rng, max(looks))
        for pairs in looks:
            whole = compare(("w/p", "main", "w", "p"), arm("h2", first[:pairs]), arm("h3", second[:pairs]), TTLB, ALPHA)
            (decided,) = sequentially([whole], TTLB, ALPHA) if sequence else decide_all([whole], ALPHA)
            if is_alarm(decided):
                found += 1
                break
    return found / runs


@dataclass(frozen=True)
class Course:
    """A study on several occasions, of pairs without a difference on average."""

    name: str
    occasions: int
    blocks: int
    """Blocks of each occasion."""
    varies: float = 0.0
    """Standard deviation of the difference between occasions, in that of a pair's difference on one."""
    spreads: tuple[float, ...] = (1.0,)
    """Spread of the pairs of each occasion, over and over."""


COURSES = (
    Course("3 sessions alike", 3, 8),
    Course("6 sessions alike", 6, 4),
    Course("3 that spread by 1, 3 and 10", 3, 8, spreads=(0.3, 1.0, 3.0)),
    Course("3, and the difference varies by half", 3, 8, varies=0.5),
    Course("6, and the difference varies by half", 6, 4, varies=0.5),
    Course("3, and the difference varies by as much", 3, 8, varies=1.0),
    Course("6, and the difference varies by as much", 6, 4, varies=1.0),
)


def occasion_alarms(course: Course, effect: float, runs: int) -> tuple[float, float]:
    """Share of studies of one cell that find a difference on their occasions, and for others: wrongly so where the
    `effect`, in standard deviations of a pair's difference, is 0."""
    rng = np.random.default_rng([zlib.crc32(course.name.encode()), round(10 * effect)])
    blocks, sd = course.occasions * course.blocks, 0.05
    occasion = np.repeat(np.arange(course.occasions), course.blocks)
    of = {f"{name}{block}": int(occasion[block]) for name in ("h2", "h3") for block in range(blocks)}
    found = held = 0
    for _ in range(runs):
        shift = effect + course.varies * rng.normal(size=course.occasions)
        spread = np.resize(course.spreads, course.occasions)[occasion]
        logs = sd * (shift[occasion] + spread * rng.normal(size=blocks))
        common = rng.lognormal(0, 0.2, blocks)
        whole = compare(
            ("w/p", "main", "w", "p"), arm("h2", 200 * common), arm("h3", 200 * common * np.exp(-logs)), TTLB, ALPHA
        )
        main = conclude_all([(each, TTLB) for each in decide_all([whole], ALPHA)], ALPHA, MATTERS_PCT)
        found += main[0].conclusion.found
        held += main[0].conclusion.found and bool(held_over_occasions(main, TTLB, of, ALPHA, MATTERS_PCT))
    return found / runs, held / runs


def allowance(rate: float, runs: int) -> float:
    """Three standard errors of a rate over so many runs."""
    return 3 * math.sqrt(max(rate * (1 - rate), 0.01) / runs)
