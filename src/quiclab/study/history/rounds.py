# SPDX-License-Identifier: Apache-2.0
"""Rounds of trials that compare the releases which a search asks about, and looks at what they showed.

A round has blocks of the releases of all pairs that are still open, so that they share seeds and minutes. Its number
follows from the sequential test alone: as many pairs as can decide at all, then a quarter more at a time. Nothing here
loads what reads tables, as this process enters the sandbox: looks happen in processes of their own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quiclab.model.errors import RAN
from quiclab.model.number_text import counted, percent
from quiclab.model.study import Study
from quiclab.processes import in_fresh_process
from quiclab.store.growth import read_growth
from quiclab.store.layout import StudyDir
from quiclab.study.history.bisection import Measured, Pair, Standing
from quiclab.study.history.history_plan import FIRST_BLOCKS
from quiclab.study.sequential_run import Goal, keep_growth

if TYPE_CHECKING:
    from quiclab.compare.release_pairs import PairsCompared

MOST_PAIRS = 400
"""Pairs of two releases at which they stay open, whatever the time."""
_SURVEY = FIRST_BLOCKS
"""Blocks of all releases before a search: a mirrored pair, which shows those that cannot run at all."""
_GROWTH = 0.25
_MOST_IDLE = 2
"""Rounds that add no pair, as each of their blocks was disturbed, after which no other follows."""

Trials = Callable[[Mapping[str, int], bool], int]
"""Runs all trials of the study that are planned and not done (cell → blocks); it is told whether they are the first of
this command. Returns an exit code."""
Ready = Callable[[str], str | None]
"""Makes a release ready to run; returns the reason where it cannot be."""


class EndedEarlyError(Exception):
    """A run of trials did not try all of them: it was interrupted, or this machine cannot."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class PairsSeen:
    """Result of a look at some pairs, for a process that must not load what reads tables."""

    standings: Mapping[Pair, Standing]
    pairs: Mapping[Pair, int]
    differences_pct: Mapping[Pair, float | None]
    failing: Mapping[str, str]
    """Releases whose trials all failed, each with the reason."""
    least_pairs: int
    """Fewest pairs with which one pair of releases can be shown to differ."""


@dataclass
class ReleaseRounds:
    """The study of a history while it runs: measures pairs of its releases, each until it is decided or the time is
    over."""

    study: Study
    study_dir: StudyDir
    cell: str
    family: int
    """Number of pairs that may be compared: their level is shared."""
    trials: Trials
    ready: Ready
    until_s: float
    """Time from which no round begins (`time.monotonic`)."""
    tell: Callable[[str], None]
    code: int = 0
    """Exit code of the rounds so far: the first that is not 0."""
    unusable: dict[str, str] = field(default_factory=dict)
    """Releases that could not be made ready, each with the reason."""
    _prepared: set[str] = field(default_factory=set)
    _told: set[Pair] = field(default_factory=set)
    _has_run: bool = False

    def survey(self, releases: Sequence[str]) -> Mapping[str, str]:
        """Run a mirrored pair of blocks of all releases. Returns those that cannot be measured, with reasons."""
        self._prepare(releases)
        usable = [each for each in releases if each not in self.unusable]
        if not self._arms and len(usable) > 1:
            self._run(usable, _SURVEY)
        return {**self.unusable, **self._pairs_seen([]).failing}

    def __call__(self, pairs: Sequence[Pair]) -> Measured:
        """Compare pairs: see `bisection.Measure`. Raises EndedEarlyError where a run was interrupted."""
        self._prepare([each for pair in pairs for each in pair])
        idle, before = 0, -1
        while True:
            seen = self._pairs_seen(pairs)
            unusable = {**self.unusable, **seen.failing}
            self._tell_decided(seen)
            still_open = [
                pair
                for pair in pairs
                if not unusable.keys() & {*pair}
                and seen.standings[pair] is Standing.OPEN
                and seen.pairs[pair] < MOST_PAIRS
            ]
            now = sum(seen.pairs[pair] for pair in still_open)
            idle = idle + 1 if now == before else 0
            found_broken = any(unusable.keys() & {*pair} for pair in pairs)
            if not still_open or found_broken or idle >= _MOST_IDLE or time.monotonic() >= self.until_s:
                return Measured(seen.standings, unusable)
            before = now
            fewest = min(seen.pairs[pair] for pair in still_open)
            self._run(self._in_order(still_open), self._round_size(still_open, fewest, seen.least_pairs))

    @property
    def _arms(self) -> tuple[tuple[str, ...], ...]:
        """Arms of each block so far."""
        grown = read_growth(self.study_dir.root)
        return grown.arms.get(self.cell, ()) if grown else ()

    def _round_size(self, still_open: Sequence[Pair], fewest: int, least: int) -> int:
        """Blocks of the next round: even, so that each release runs as often before another as after it."""
        have_run = {arm for block in self._arms for arm in block}
        if any(each not in have_run for pair in still_open for each in pair):
            return _SURVEY
        wanted = least - fewest if fewest < least else math.ceil(_GROWTH * fewest)
        return max(2, wanted + wanted % 2)

    def _in_order(self, pairs: Sequence[Pair]) -> list[str]:
        asked = {each for pair in pairs for each in pair}
        return [arm.name for arm in self.study.measured_arms if arm.name in asked]

    def _prepare(self, releases: Sequence[str]) -> None:
        for each in dict.fromkeys(releases):
            if each in self._prepared:
                continue
            self._prepared.add(each)
            if (why := self.ready(each)) is not None:
                self.unusable[each] = why
                self.tell(f"{each} is left out: {why}")

    def _run(self, arms: Sequence[str], blocks: int) -> None:
        planned = [*self._arms, *[tuple(arms)] * blocks]
        self._keep(planned, ())
        first, self._has_run = not self._has_run, True
        code = self.trials({self.cell: len(planned)}, first)
        if code not in RAN:
            raise EndedEarlyError(code)
        self.code = self.code or code

    def _pairs_seen(self, pairs: Sequence[Pair]) -> PairsSeen:
        seen: PairsSeen = in_fresh_process(_look_at_pairs, (self.study_dir, tuple(pairs), self.family))
        if self._arms:
            names = {pair: f"{self.cell} {pair[0]}..{pair[1]}" for pair in pairs}
            noted = {
                "pairs": {names[pair]: number for pair, number in seen.pairs.items()},
                "states": {names[pair]: standing.value for pair, standing in seen.standings.items()},
            }
            self._keep(self._arms, (noted,))
        return seen

    def _keep(self, arms: Sequence[Sequence[str]], noted: Sequence[Mapping[str, object]]) -> None:
        """Keep the blocks that are planned, and what was seen: the study is a sequential one before its first look."""
        grown = read_growth(self.study_dir.root)
        looks = [*(grown.looks if grown else ()), *noted]
        goal = Goal(self.study.matters.pct, MOST_PAIRS)
        keep_growth(self.study_dir, self.study, goal, {self.cell: len(arms)}, looks, {self.cell: arms})

    def _tell_decided(self, seen: PairsSeen) -> None:
        words = {Standing.DIFFERENT: "different", Standing.SAME: f"the same to within {self.study.matters.pct:g} %"}
        for pair, standing in seen.standings.items():
            if standing in words and pair not in self._told and not seen.failing.keys() & {*pair}:
                self._told.add(pair)
                by = f" ({percent(seen.differences_pct[pair])})" if standing is Standing.DIFFERENT else ""
                self.tell(f"{pair[0]} → {pair[1]}: {words[standing]}{by}, {counted(seen.pairs[pair], 'pair')}")


def _look_at_pairs(asked: tuple[StudyDir, Sequence[Pair], int]) -> PairsSeen:
    from quiclab.compare.release_pairs import compare_pairs, least_pairs
    from quiclab.compare.study import read_study
    from quiclab.study.tables import make_tables

    study_dir, pairs, family = asked
    folders = (study_dir.root / name for name in ("trials", "failed"))
    if study_dir.ledger.exists() and any(any(folder.glob("*/trial.json")) for folder in folders):
        make_tables(study_dir)
    found = compare_pairs(read_study(study_dir.root), pairs, family)
    return PairsSeen(
        {pair: standing_of(found, pair) for pair in pairs},
        {pair: found.comparisons[pair].pairs if pair in found.comparisons else 0 for pair in pairs},
        {pair: each.difference_pct for pair, each in found.comparisons.items()},
        found.failing,
        least_pairs(found.alpha, family),
    )


def standing_of(found: PairsCompared, pair: Pair) -> Standing:
    """Standing of a pair that was compared."""
    if found.is_step(pair):
        return Standing.DIFFERENT
    return Standing.SAME if found.is_same(pair) else Standing.OPEN
