# SPDX-License-Identifier: Apache-2.0
"""A gate for a change: the bound that a metric may not go beyond, and what the trials say about it.

The rule. Of m cells and bounds that can be tested, R fail, where R is the largest number such that R intervals at
1 − R × alpha / m lie beyond their bounds, wholly. That is Benjamini–Hochberg's procedure (1995) with the exact tests
against the bounds, and these intervals are Benjamini and Yekutieli's (2005) for the R cells that it selects. So a build
that stays within all bounds fails, in whichever cell, with a chance of at most alpha / 2 (the end that counts is one of
two). The estimate alone never fails a cell: with `> +3%`, an estimate of +5 % whose interval runs from +1 % to +9 %
passes.

Where the number of blocks could follow from looks, the intervals are confidence sequences at 1 − alpha / m
(Bonferroni), however many fail: then the same chance holds over all looks together.

All intervals allow for what the laboratory added to the trials. A cell that would fail without is not judged; nor is
one that the laboratory spoiled, where its interval does not exclude the bound.
"""

from __future__ import annotations

import enum
import itertools
import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.builds.change import Change, as_measured, at_level, is_disturbed, smallest_p, trials_of
from quiclab.compare.model import Conclusion, Metric
from quiclab.compare.not_judged import AGAIN
from quiclab.compare.statistics import Interval
from quiclab.model import number_text
from quiclab.model.errors import SpecError
from quiclab.model.units import Bitrate, ByteCount, Duration

GRAMMAR = "write METRIC > +NUMBER or METRIC < -NUMBER, with % or a unit: 'ttlb > +3%', 'setup > +5ms', 'goodput < -2%'"

_BOUND = re.compile(r"\s*([A-Za-z]\w*)\s*([<>])\s*([+-])\s*([0-9]+(?:\.[0-9]+)?)\s*(%|[A-Za-zµ][A-Za-zµ/]*|)\s*")
"""The grammar of a bound: metric, comparison, sign, number, and a unit if there is one."""


class Verdict(enum.StrEnum):
    """Verdict on one cell by one bound."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Bound:
    """A limit that a change must not exceed significantly."""

    text: str
    """The whole bound as the user wrote it: `ttlb > +3%`."""
    metric: str
    """The metric's name as the user wrote it: `ttlb` or `ttlb_ms`."""
    above: bool
    """True if growth beyond the bound fails, else a fall beyond it."""
    amount: str
    """Sign and digits."""
    unit: str


@dataclass(frozen=True)
class Judgement:
    """One cell against one bound."""

    bound: Bound
    change: Change
    verdict: Verdict
    reason: str
    """A sentence."""
    open_ended: bool = False
    """Passed, though the interval reaches beyond the bound."""


def parse_bound(text: str) -> Bound:
    """`ttlb > +3%`. Raises SpecError with the grammar for anything else."""
    match = _BOUND.fullmatch(text)
    if match is None:
        raise SpecError(f"{text!r} is not a bound", GRAMMAR)
    name, comparison, sign, digits, unit = match.groups()
    if (comparison == ">") != (sign == "+"):
        raise SpecError(f"{text!r} points the wrong way: > needs an increase (+), < a decrease (-)", GRAMMAR)
    return Bound(text.strip(), name, comparison == ">", sign + digits, unit)


def limit_of(bound: Bound, metric: Metric) -> float:
    """The bound in per cent, or in the metric's unit. Raises SpecError where the unit is not of this metric."""
    text = f"{bound.amount} {bound.unit}".strip()
    try:
        if bound.unit == "%":
            return float(bound.amount)
        if metric.unit in {"ms", "us"}:
            return Duration.parse(text).ns / {"ms": 1e6, "us": 1e3}[metric.unit]
        if metric.unit == "bit/s":
            return float(Bitrate.parse(text).bit_per_s)
        if metric.unit == "bytes":
            return float(ByteCount.parse(text).bytes)
    except ValueError as error:
        raise SpecError(f"the bound {bound.text!r} does not suit {metric.name}: {error}", GRAMMAR) from error
    if bound.unit not in {"", metric.unit} or metric.unit == "%":
        raise SpecError(
            f"the bound {bound.text!r} does not suit {metric.name}, which is in {metric.unit or 'no unit'}",
            "write it in %",
        )
    return float(bound.amount)


def judge(bounds: Iterable[tuple[Bound, str]], changes: Iterable[Change], alpha: float) -> tuple[Judgement, ...]:
    """Every change of a bound's metric against it; each bound with the name of its metric. Raises SpecError for a bound
    that does not suit its metric."""
    listed = tuple(changes)
    cells = [
        _Cell(bound, each, limit_of(bound, each.metric))
        for bound, metric in bounds
        for each in listed
        if each.metric.name == metric
    ]
    tested = [cell for cell in cells if not cell.change.refused]
    failed, level = _failing(tested, alpha)
    rejected = frozenset(map(id, failed))
    doubtful = _failing_as_measured(tested, alpha) - rejected
    # What one more cell, if it differed as clearly as its trials allow, would have been held against.
    more = 1 if _is_sequential(tested) else min(len(failed) + 1, len(tested))
    reach = alpha * more / max(1, len(tested))
    return tuple(
        _fails(each, level)
        if id(each) in rejected
        else _spoiled(each)
        if id(each) in doubtful
        else _does_not_fail(each, reach)
        for each in cells
    )


@dataclass(frozen=True)
class _Cell:
    """A change, and what it is held against."""

    bound: Bound
    change: Change
    limit: float

    def interval(self, confidence: float | None = None) -> Interval | None:
        """Interval of the change in the bound's unit, at the change's own level or at another."""
        change = self.change if confidence is None else at_level(self.change, confidence)
        return change.interval_pct if self.bound.unit == "%" else change.shift.interval

    def fails(self, confidence: float) -> bool:
        """True if the whole interval at this level is beyond the bound."""
        interval = self.interval(confidence)
        return interval is not None and _beyond(
            interval.low if self.bound.above else interval.high, self.limit, self.bound
        )


def _failing(tested: Sequence[_Cell], alpha: float) -> tuple[list[_Cell], float]:
    """Return the cells that fail, and the level of their intervals: the step-up procedure, from all cells downwards."""
    left = list(tested)
    if _is_sequential(tested):
        level = 1 - alpha / len(tested)
        return [each for each in tested if each.fails(level)], level
    for number in range(len(tested), 0, -1):
        level = 1 - alpha * number / len(tested)
        left = [each for each in left if each.fails(level)]  # the intervals only grow
        if len(left) >= number:
            return left, level
    return [], 1 - alpha


def _failing_as_measured(tested: Sequence[_Cell], alpha: float) -> frozenset[int]:
    """Ids of the cells that would fail if the laboratory had added nothing to the trials."""
    if not any(is_disturbed(each.change) for each in tested):
        return frozenset()
    bare = {id(each): _Cell(each.bound, as_measured(each.change, alpha), each.limit) for each in tested}
    failed = frozenset(map(id, _failing(list(bare.values()), alpha)[0]))
    return frozenset(cell for cell, each in bare.items() if id(each) in failed)


def _is_sequential(tested: Sequence[_Cell]) -> bool:
    """True if these cells are decided by confidence sequences: all of them are, or none."""
    return any(each.change.sequential for each in tested)


def _fails(cell: _Cell, level: float) -> Judgement:
    interval = cell.interval(level)
    assert interval is not None, "it lies beyond the bound"
    bound = cell.bound
    told = f"{_text(interval, bound, cell.change.metric)} (at {number_text.level(level)})"
    reason = f"Changed by {told}: all of it is beyond {bound.amount}{bound.unit}."
    return Judgement(bound, cell.change, Verdict.FAILED, reason)


def _spoiled(cell: _Cell) -> Judgement:
    bound = cell.bound
    reason = (
        f"What this machine added to the trials could account for a change beyond {bound.amount}{bound.unit}. {AGAIN}"
    )
    return Judgement(bound, cell.change, Verdict.NOT_JUDGED, reason)


def _does_not_fail(cell: _Cell, reach: float) -> Judgement:
    bound, found = cell.bound, cell.change
    interval = cell.interval()
    if found.refused:
        return Judgement(bound, found, Verdict.NOT_JUDGED, found.why)
    if bound.unit == "%" and found.change_pct is None:
        return Judgement(
            bound, found, Verdict.NOT_JUDGED, "A value of zero has no percentage: use a bound with a unit."
        )
    if interval is None:
        return Judgement(bound, found, Verdict.NOT_JUDGED, _too_few(found, 1 - found.confidence))
    told = _text(interval, bound, found.metric)
    if not _beyond(interval.high if bound.above else interval.low, cell.limit, bound):
        return Judgement(bound, found, Verdict.PASSED, f"Changed by {told}: within the bound.")
    if smallest_p(found) > reach:
        return Judgement(bound, found, Verdict.NOT_JUDGED, _too_few(found, reach))
    passed = f"Changed by {told}: more than the bound is not excluded"
    if found.conclusion is Conclusion.NOT_JUDGED:  # a pass must not rest on what the machine did
        return Judgement(
            bound, found, Verdict.NOT_JUDGED, f"{passed}, and the machine disturbed this cell. {found.why}"
        )
    return Judgement(bound, found, Verdict.PASSED, f"{passed}.", True)


def _beyond(value: float, limit: float, bound: Bound) -> bool:
    """True if a value is beyond the bound. Exactly at it is not, also where rounding puts it a last digit beyond."""
    if math.isclose(value, limit, rel_tol=1e-9):
        return False
    return value > limit if bound.above else value < limit


def _too_few(found: Change, error: float) -> str:
    """Reason why no outcome could have failed the cell, and the fewest trials that could make one."""
    told = f"Too few: with {trials_of(found)}, a change in this cell alone could not fail the gate"
    if found.pairs is not None:
        return f"{told}; {_pairs_needed(found, error)} pairs are the fewest that can."
    each = next(n for n in itertools.count(2) if statistics.smallest_p_of_two(n, n) <= error)
    return f"{told}; {each} and {each} trials are the fewest that can."


def _pairs_needed(found: Change, error: float) -> int:
    if not found.sequential:
        return statistics.pairs_needed(error, 1)
    return next(n for n in itertools.count(1) if statistics.anytime_p(np.ones(n)) <= error)


def _text(interval: Interval, bound: Bound, metric: Metric) -> str:
    if bound.unit == "%":
        return number_text.interval_text(interval, unit=" %")
    return number_text.ends_text(interval.low, interval.high, lambda end: number_text.quantity(end, metric.unit))


def exit_verdict(judgements: Collection[Judgement]) -> Verdict:
    """Return the verdict of the whole gate: failed by any cell, and passed only if every cell was judged."""
    verdicts = {each.verdict for each in judgements}
    if Verdict.FAILED in verdicts:
        return Verdict.FAILED
    return Verdict.PASSED if verdicts == {Verdict.PASSED} else Verdict.NOT_JUDGED
