# SPDX-License-Identifier: Apache-2.0
"""Judgement of a confirming run: six checks that were declared before it, and one verdict on the cause.

Each check is about the median, over the blocks, of one quantity of a block. Its interval is a confidence sequence, so
it holds however often it was looked at. A verdict needs all of its checks at once, and is wrong only where each of
them is: so none needs a correction for their number (intersection–union test, Berger 1982, Technometrics 24).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.statistics import Interval
from quiclab.why.account_shares import FloatArray
from quiclab.why.confirm.declaration import FAST, FAST_WITHOUT, LEAST_REMOVED, REPLAY, SHAM, WITH, WITHOUT, Declared
from quiclab.why.confirm.times import WHYS, Times

_MOST_LACKING = 0.2
"""Share of the blocks without a whole pair beyond which nothing is decided: what lacks may lack for a reason."""


class Verdict(enum.StrEnum):
    """Verdict of a confirming run."""

    CONFIRMED = "confirmed"
    CONDITION = "condition"
    """All checks hold of a setting of the path, which both arms share: the arms differ only where the path is so. Which
    setting of theirs makes them differ there is not shown."""
    REJECTED = "rejected"
    UNDECIDED = "undecided"

    @property
    def text(self) -> str:
        """The verdict in the word for readers; its value is the one that files keep."""
        return "inconclusive" if self is Verdict.UNDECIDED else self.value


class State(enum.StrEnum):
    """State of one check."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"
    """More blocks could tell."""
    NOT_RUN = "not run"
    """The setting has no such arm."""
    NOT_APPLICABLE = "not applicable"
    """The other arm's transport cannot have the mechanism."""


@dataclass(frozen=True)
class Check:
    """One check, with the median of its quantity over the blocks."""

    name: str
    """`removed`, `moved`, `stayed_away`, `dose`, `sham` or `given`."""
    state: State
    median: float | None
    """Milliseconds, except of `removed` (share of its own time that is gone) and of `dose` (share of the pairs of arms
    that are in order, less the share of those that are not)."""
    interval: Interval | None
    """Confidence sequence of the median; that of `removed` is of the time in ms by which the bar is passed."""
    blocks: int


@dataclass(frozen=True)
class Effect:
    """A measured difference of two roles' whole times: the median over the blocks."""

    name: str
    """`without` (replay − without), `with` (with − fast), `gap` (replay − fast) or `gap_without` (without − the
    other arm: fast, or of a path, which both share, fast-without)."""
    ms: float | None
    interval: Interval | None
    blocks: int


@dataclass(frozen=True)
class Judgement:
    """Result of a confirming run."""

    verdict: Verdict
    checks: tuple[Check, ...]
    effects: tuple[Effect, ...]
    blocks: int
    """Blocks in which `replay` and `without` both have an account or failed."""
    lacking: int
    """Further blocks, in which one of them has none."""
    limits_next: str | None
    """The *why* whose time grew most without the mechanism; None where none grew."""
    limits_next_ms: float

    @property
    def final(self) -> bool:
        """True if more blocks would change nothing: confirmed, rejected, or a check failed."""
        return self.verdict is not Verdict.UNDECIDED or any(check.state is State.FAILS for check in self.checks)

    @property
    def hidden(self) -> bool:
        """True if another cause may stand behind this one: it went, and its time, or a part of it, came back."""
        return self.check("removed").state is State.HOLDS and self.check("stayed_away").state is State.FAILS

    def check(self, name: str) -> Check:
        """The check of that name."""
        return next(each for each in self.checks if each.name == name)


def judge(declared: Declared, times: Mapping[str, Times]) -> Judgement:
    """Hold a run against what was declared before it; `times` has those of each role, with the same blocks."""
    replay, without = times[REPLAY], times[WITHOUT]
    fell = _difference(replay.total, without.total)
    known = int((~np.isnan(fell)).sum())
    lacking = int(fell.size) - known
    own_fell = replay.cause - without.cause
    checks = (
        _removed(declared, replay.cause, without.cause, times[FAST].cause if declared.equal else None),
        _moved(declared, fell),
        _stayed_away(declared, own_fell - fell - declared.replaced_ms),
        _dose(declared, times),
        _sham(declared, _difference(times[SHAM].total, replay.total)),
        _given(declared, fell, times),
    )
    label, grew = _limits_next(replay, without)
    without_it = FAST_WITHOUT if FAST_WITHOUT in times else FAST  # both arms share a path
    others = (("with", WITH, FAST), ("gap", REPLAY, FAST), ("gap_without", WITHOUT, without_it))
    effects = [_effect(WITHOUT, fell, declared.alpha)] + [
        _effect(name, _difference(times[first].total, times[second].total), declared.alpha)
        for name, first, second in others
        if first in times and second in times
    ]
    verdict = _verdict(declared, checks, fell)
    if lacking > _MOST_LACKING * max(1, fell.size):
        verdict = Verdict.UNDECIDED
    return Judgement(verdict, checks, tuple(effects), known, lacking, label, grew)


def _verdict(declared: Declared, checks: tuple[Check, ...], fell: FloatArray) -> Verdict:
    states = {check.name: check.state for check in checks}
    if not any(state in (State.FAILS, State.OPEN) for state in states.values()):
        return Verdict.CONDITION if declared.is_of_path else Verdict.CONFIRMED
    total = statistics.median_sequence(fell, declared.alpha)
    stayed = total is not None and -declared.tolerance_ms <= total.low and total.high <= declared.tolerance_ms
    # A sham that moves the total says that something else differs between the arms.
    if stayed and states["removed"] is State.HOLDS and states["sham"] is State.HOLDS:
        return Verdict.REJECTED
    return Verdict.UNDECIDED


def _removed(declared: Declared, replay: FloatArray, without: FloatArray, fast: FloatArray | None) -> Check:
    """The manipulation check: at least four fifths of the mechanism's time are gone; where the setting makes the arms
    equal, of what the arm has more than the other one."""
    if fast is not None:
        replay, without = replay - fast, without - fast
    beyond = (1 - LEAST_REMOVED) * replay - without
    found = _checked("removed", beyond, declared.alpha, above=0.0)
    before, after = _median(replay), _median(without)
    share = None if before is None or after is None or before <= 0 else 1 - after / before
    return replace(found, median=share)


def _moved(declared: Declared, fell: FloatArray) -> Check:
    """The total fell, and by as much as was predicted."""
    found = _checked("moved", fell, declared.alpha, above=0.0)
    low, high = declared.expected_ms
    if found.interval is None:
        return found
    if found.interval.high < low or found.interval.low > high:
        return replace(found, state=State.FAILS)
    return found


def _stayed_away(declared: Declared, came_back: FloatArray) -> Check:
    """Check that what the mechanism lost did not come back elsewhere: the total fell by as much as its time did, less
    what another limit was predicted to take in its place."""
    found = _checked("stayed_away", -came_back, declared.alpha, above=-declared.tolerance_ms)
    interval = None if found.interval is None else found.interval.scaled(-1)
    return replace(found, median=None if found.median is None else -found.median, interval=interval)


def _dose(declared: Declared, times: Mapping[str, Times]) -> Check:
    """The arm with less of the mechanism is faster, of each two doses that differ in its time.

    Doses that leave as much of it as each other, such as two windows that no longer limit, say nothing.
    """
    roles = [role for role in declared.dose_roles if role in times]
    if len(roles) < 2:
        return Check("dose", State.NOT_RUN, None, None, 0)
    own, whole = (
        np.array([_difference(first, second) for first, second in combinations(each, 2)])
        for each in ([times[role].cause for role in roles], [times[role].total for role in roles])
    )
    with np.errstate(invalid="ignore"):
        counts = np.abs(own) > declared.tolerance_ms
    order = np.where(counts, np.sign(own) * np.sign(whole), 0.0).sum(axis=0)
    counted = counts.sum(axis=0)
    share = np.divide(order, counted, out=np.full(counted.shape, np.nan), where=counted > 0)
    return _checked("dose", share, declared.alpha, above=0.0)


def _sham(declared: Declared, moved: FloatArray) -> Check:
    """The value that was there anyway moves nothing."""
    interval = statistics.median_sequence(moved, declared.alpha)
    bound, state = declared.tolerance_ms, State.OPEN
    if interval is not None:
        inside = -bound <= interval.low and interval.high <= bound
        outside = interval.low > bound or interval.high < -bound
        state = State.HOLDS if inside else State.FAILS if outside else State.OPEN
    return Check("sham", state, _median(moved), interval, _count(moved))


def _given(declared: Declared, fell: FloatArray, times: Mapping[str, Times]) -> Check:
    """The mechanism is what makes the arms differ: the other arm gets slower when it is given it. Of a path, which both
    arms share, that the arm loses more by it than the other arm does."""
    if WITH in times:
        slower = _difference(times[WITH].total, times[FAST].total)
    elif FAST_WITHOUT in times:
        slower = _difference(fell, _difference(times[FAST].total, times[FAST_WITHOUT].total))
    else:
        return Check("given", State.NOT_RUN if declared.applicable else State.NOT_APPLICABLE, None, None, 0)
    found = _checked("given", slower, declared.alpha, above=0.0)
    if found.interval is not None and found.interval.high < declared.tolerance_ms:
        return replace(found, state=State.FAILS)
    return found


def _checked(name: str, values: FloatArray, alpha: float, *, above: float) -> Check:
    """A check that holds where the interval lies above a bound, and fails where it lies at or below it."""
    interval = statistics.median_sequence(values, alpha)
    state = State.OPEN
    if interval is not None:
        state = State.HOLDS if interval.low > above else State.FAILS if interval.high <= above else State.OPEN
    return Check(name, state, _median(values), interval, _count(values))


def _effect(name: str, values: FloatArray, alpha: float) -> Effect:
    return Effect(name, _median(values), statistics.median_sequence(values, alpha), _count(values))


def _limits_next(replay: Times, without: Times) -> tuple[str | None, float]:
    grown = without.why - replay.why
    whole = grown[~np.isnan(grown).any(axis=1)]
    if not whole.size:
        return None, 0.0
    medians = np.median(whole, axis=0)
    most = int(medians.argmax())
    return (str(WHYS[most]), float(medians[most])) if medians[most] > 0 else (None, 0.0)


def _difference(first: FloatArray, second: FloatArray) -> FloatArray:
    """First − second: infinite where one of them failed, NaN where both did or one is not known."""
    with np.errstate(invalid="ignore"):
        return np.asarray(first - second, dtype=float)


def _median(values: FloatArray) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else None


def _count(values: FloatArray) -> int:
    return int((~np.isnan(values)).sum())
