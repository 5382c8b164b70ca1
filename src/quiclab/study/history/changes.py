# SPDX-License-Identifier: Apache-2.0
"""Findings of a history: which releases changed the time, by how much, and what they spend it on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.compare.model import Comparison, StudyAnalysis
from quiclab.compare.release_pairs import PairsCompared, compare_pairs, least_pairs
from quiclab.compare.study import Study
from quiclab.model.history_record import HistoryRecord
from quiclab.study.history.bisection import Bisection, Pair, Standing
from quiclab.study.history.rounds import standing_of
from quiclab.why.explanation import Explanation, readable_explanations

_MOST_WAITS = 3
"""Waits of a step that are told, the largest first."""
_LEAST_SHARE = 0.1
"""Share of all that moves between two releases below which a wait is not told."""


@dataclass(frozen=True)
class WaitChange:
    """Time that two releases spend otherwise on one wait."""

    wait: str
    """Name of the wait, such as `pacing`."""
    difference_ms: float
    """Mean of the newer release less that of the older one, in ms."""
    shown: bool
    """True if the pairs show it at the study's level."""


@dataclass(frozen=True)
class ReleasePair:
    """Two releases beside one another."""

    older: str
    """Name of the older release."""
    newer: str
    """Name of the newer one."""
    standing: Standing
    """`different`: the whole interval is more than what matters; `same`: it is less; `open`: neither."""
    pairs: int
    """Pairs of trials."""
    difference_pct: float | None
    """Time of the newer release less that of the older one in the typical pair, in per cent of the latter."""
    low_pct: float | None
    """Lower end of the interval, at the level of the whole search; null where there is none."""
    high_pct: float | None
    """Upper end."""
    older_median_in_unit: float | None
    """Median of the older release, in the metric's unit."""
    newer_median_in_unit: float | None
    """Median of the newer one."""


@dataclass(frozen=True)
class ReleaseChange:
    """Two releases that differ, and the reasons."""

    pair: ReleasePair
    """The two releases."""
    located: bool
    """True if no release that could be measured lies between them: the newer one made the change, or one of
    `not_measured`."""
    not_measured: tuple[str, ...]
    """Releases between them that could not be measured."""
    why: str
    """Sentence about its causes."""
    waits: tuple[WaitChange, ...]
    """The largest changes of the time breakdown; empty where no pair has one."""


@dataclass(frozen=True)
class ReleaseResult:
    """One release."""

    name: str
    """Version, or the beginning of a commit's name."""
    date: str | None
    """Date of the release or the commit."""
    subject: str | None
    """First line of the commit's message; null of a release."""
    trials: int
    """Trials that count."""
    median_in_unit: float | None
    """Median of the metric; null without a trial, and where failures own it."""
    unusable: str | None
    """Reason why it could not be measured; null where it could."""


@dataclass(frozen=True)
class HistoryFindings:
    """Findings of a history."""

    program: str
    """Name of the program."""
    role: str
    """Role of the program in every arm: `server` or `client`."""
    metric: str
    """Name of the metric."""
    unit: str
    """Unit of the metric."""
    matters_pct: float
    """Smallest difference that matters, in per cent."""
    alpha: float
    """Level of all comparisons together."""
    comparisons: int
    """Pairs of releases that a search among so many can compare, among which the level is shared."""
    least_pairs: int
    """Fewest pairs of trials with which two releases can be shown to differ."""
    releases: tuple[ReleaseResult, ...]
    """The oldest first."""
    changes: tuple[ReleaseChange, ...]
    """Releases that changed the time, the oldest first; those that are not located too."""
    compared: tuple[ReleasePair, ...]
    """Every pair that was compared, in the order of the search."""

    @property
    def steps(self) -> tuple[ReleaseChange, ...]:
        """Changes of one release each."""
        return tuple(each for each in self.changes if each.located)


def findings(
    study: Study, directory: Path, analysis: StudyAnalysis, record: HistoryRecord, search: Bisection, family: int
) -> HistoryFindings:
    """Say what a search found, by the files of its study."""
    changed = (*search.steps, *search.spans)
    found = compare_pairs(study, list(dict.fromkeys([*search.asked, *changed])), family)
    explained = _explained(directory, analysis, [found.comparisons[pair] for pair in changed])
    steps = frozenset(search.steps)
    changes = [
        ReleaseChange(
            _pair(found, pair),
            pair in steps,
            search.between(pair),
            *_reasons(explained.get(pair), analysis.alpha),
        )
        for pair in sorted(changed, key=lambda pair: search.every.index(pair[0]))
    ]
    return HistoryFindings(
        record.program,
        record.role,
        found.metric.name,
        found.metric.unit,
        found.matters_pct,
        found.alpha,
        family,
        least_pairs(found.alpha, family),
        tuple(_release(found, record, search)),
        tuple(changes),
        tuple(_pair(found, pair) for pair in search.asked if pair in found.comparisons),
    )


def _pair(found: PairsCompared, pair: Pair) -> ReleasePair:
    comparison = found.comparisons[pair]
    interval = comparison.interval_pct
    return ReleasePair(
        *pair,
        standing_of(found, pair),
        comparison.pairs,
        comparison.difference_pct,
        None if interval is None else interval.low,
        None if interval is None else interval.high,
        comparison.baseline.median,
        comparison.other.median,
    )


def _release(found: PairsCompared, record: HistoryRecord, search: Bisection) -> Iterable[ReleaseResult]:
    for each in record.releases:
        arm = found.arms.get(each.arm)
        yield ReleaseResult(
            each.arm,
            each.date,
            each.subject,
            0 if arm is None else len(arm.trials) - arm.failures,
            None if arm is None else arm.median,
            search.unusable.get(each.arm),
        )


def _explained(directory: Path, analysis: StudyAnalysis, comparisons: Sequence[Comparison]) -> dict[Pair, Explanation]:
    """Pair → its explanation; none where the study's tables cannot be read."""
    if not comparisons:
        return {}
    told = readable_explanations(directory, analysis, comparisons, foretold=False) or ()
    return {(each.comparison.baseline.arm, each.comparison.other.arm): each for each in told}


def _reasons(explanation: Explanation | None, alpha: float) -> tuple[str, tuple[WaitChange, ...]]:
    """Sentence about the causes of a change, and its largest waits."""
    from quiclab.report.words.short_answer import because

    if explanation is None:
        return because(None), ()
    waterfall = explanation.waterfall
    large = [
        step
        for step in sorted(waterfall.steps, key=lambda step: -abs(step.difference_ms))
        if step.label is not None and abs(step.difference_ms) >= _LEAST_SHARE * waterfall.gross_ms > 0
    ]
    waits = tuple(
        WaitChange(step.label.heading, step.difference_ms, step.differs(alpha))
        for step in large[:_MOST_WAITS]
        if step.label is not None
    )
    return because(explanation), waits
