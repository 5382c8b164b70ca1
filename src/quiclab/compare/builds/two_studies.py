# SPDX-License-Identifier: Apache-2.0
"""Two studies of one spec, run with two builds: every arm in every cell, NEW against OLD."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.analyse import alpha_of, matters_of, measured_cells, metric_of, tolerated_pct, usual_metric
from quiclab.compare.builds.change import (
    Change,
    as_measured,
    at_level,
    change,
    concluded,
    decided,
    is_disturbed,
    judged,
    lies_within,
    refused,
    smallest_p,
)
from quiclab.compare.builds.setting import Difference
from quiclab.compare.cell_comparison import arm_result, compare
from quiclab.compare.interim_analyses import builds_note, looks_at
from quiclab.compare.model import ArmResult, Conclusion, Metric
from quiclab.compare.not_judged import advice_for, turned_by_others
from quiclab.compare.sequential import rule_of
from quiclab.compare.step_up import step_up
from quiclab.compare.study import KINDS, Study
from quiclab.model import number_text
from quiclab.store.go_on import going_on

_INTERLEAVED = "Interleaved: each block ran both builds back to back, each as often first"
_EXACT, _SEQUENCE = "exact signed-rank test", "sequential signed-rank test"
Place = tuple[str, str, str]
"""Workload, path, arm."""


@dataclass(frozen=True)
class Floor:
    """Measurement of one study where nothing differs: its arms against themselves."""

    study: str
    """'OLD' or 'NEW'."""
    metric: Metric
    reach_pct: float | None
    """Farthest bound of the intervals of its A/A cells; None without one."""


@dataclass(frozen=True)
class StudiesCompared:
    """Everything that comparing two studies found."""

    old: str
    new: str
    """Names of the two directories."""
    paired: bool
    sequential: bool
    """True if the number of blocks could follow from looks: then confidence sequences decide, where trials pair up."""
    interleaved: bool
    """True if both builds ran in the same blocks of one study."""
    pairing: str
    """Pairing of the trials and its reason: the first line of every result."""
    alpha: float
    matters_pct: float
    """Smallest change that matters, in per cent of OLD."""
    metrics: tuple[Metric, ...]
    differences: tuple[Difference, ...]
    """Differences of the studies' set-ups: what was meant to change, and what the user accepted."""
    changes: tuple[Change, ...]
    """Everything that was asked for, by metric, arm, path and workload."""
    controls: tuple[Change, ...]
    """Arms in which nothing was meant to change, asked for or not: they show what else changed between the studies."""
    floors: tuple[Floor, ...]
    path_titles: dict[str, str]
    workload_titles: dict[str, str]
    notes: tuple[str, ...]
    """Gaps and limits of what can be said; a sentence each."""

    def cell_name(self, found: Change) -> str:
        """The cell by the names that the figures use."""
        path = self.path_titles.get(found.path, found.path)
        return f"{path}, {self.workload_titles.get(found.workload, found.workload)}"


def compare_studies(
    old: Study,
    new: Study,
    metrics: Sequence[str],
    arms: Sequence[str],
    differences: Sequence[Difference],
    *,
    interleaved: bool = False,
) -> StudiesCompared:
    """Compare these arms by these metrics; `differences` are those that were accepted before; `interleaved` says that
    OLD and NEW are the two builds of one study."""
    alpha, paired = alpha_of(old), _seed(old) is not None and _seed(old) == _seed(new)
    stopping = _stopping([("This study", old)] if interleaved else [("OLD", old), ("NEW", new)])
    sequential = bool(stopping)
    asked: list[Change] = []
    others: list[Change] = []
    floors: list[Floor] = []
    notes = [f"{label}: {note}" for label, study in (("OLD", old), ("NEW", new)) for note in study.missing]
    notes += stopping
    quantities = tuple(metric_of(old if _has(old, name) else new, name) for name in metrics)
    for metric in quantities:
        (before, floor_before), (after, floor_after) = (_results(study, metric, alpha) for study in (old, new))
        floors += [Floor("OLD", metric, floor_before), Floor("NEW", metric, floor_after)]
        common = {arm for _, _, arm in before} & {arm for _, _, arm in after}
        for place in sorted((p for p in before.keys() | after.keys() if p[2] in common), key=_order(old)):
            nothing = arm_result(place[2], (), 0, 0, metric)
            ends = before.get(place, nothing), after.get(place, nothing)
            found = change(place, *ends, metric, 1 - alpha, paired=paired, sequential=sequential)
            found = refused(found, alpha)
            (asked if place[2] in arms else others).append(found)
        if metric is quantities[0]:
            notes += _missing(before, after, paired)
    matters_pct = matters_of(old)
    correct = corrected_by_sequence if sequential else corrected
    again = "the same command" if interleaved else f"`{going_on(new.directory)}`"
    asked, others = (
        [
            replace(each, why=advice_for(each.why, again, tolerated_pct(new)))
            for each in correct(found, alpha, matters_pct)
        ]
        for found in (asked, others)
    )
    changed = {arm for each in differences for arm in each.arms}
    controls = [each for each in (*asked, *others) if changed and each.arm not in changed]
    return StudiesCompared(
        str(old.directory),
        str(new.directory),
        paired,
        sequential,
        interleaved,
        _pairing(old, new, paired, interleaved=interleaved, test=_SEQUENCE if sequential else _EXACT),
        alpha,
        matters_pct,
        quantities,
        tuple(differences),
        tuple(asked),
        tuple(controls),
        tuple(floors),
        new.titles("paths") | old.titles("paths"),
        new.titles("workloads") | old.titles("workloads"),
        tuple(notes),
    )


def _stopping(studies: Sequence[tuple[str, Study]]) -> list[str]:
    """Warnings where a study's number of blocks could follow from what was seen of it."""
    told = []
    for label, study in studies:
        looks = looks_at(study, [usual_metric(study)])
        note = builds_note(looks) if looks is not None else None
        if rule_of(study) is not None:
            note = "it was run until it was decided (--until)."
        if note is not None:
            told.append(f"{label}: {note}")
    return told


def _has(study: Study, metric: str) -> bool:
    return metric in study.metrics["name"]


def _seed(study: Study) -> object:
    return study.spec.seed


def _pairing(old: Study, new: Study, paired: bool, *, interleaved: bool, test: str) -> str:
    if interleaved:
        return f"{_INTERLEAVED} ({test})."
    if paired:
        return (
            f"Paired: both studies have seed {_seed(old)}, so that the trials of a block met the same draws ({test})."
        )
    told = " and ".join("unknown" if _seed(study) is None else str(_seed(study)) for study in (old, new))
    return f"Unpaired: the studies' seeds are {told}, so that no two trials met the same draws (Mann–Whitney's test)."


def _results(study: Study, metric: Metric, alpha: float) -> tuple[dict[Place, ArmResult], float | None]:
    """Return the results of every arm of the main cells, and how far the A/A cells' intervals reach, in per cent."""
    results: dict[Place, ArmResult] = {}
    reach: float | None = None
    for place, baselines, arms in measured_cells(study, metric):
        _, kind, workload, path = place
        if kind == "main":
            results |= {(workload, path, arm): result for arm, result in arms.items() if result.attempts}
            continue
        for twin, first in baselines.items():
            if twin == first:
                continue
            interval = compare(place, arms[first], arms[twin], metric, alpha).interval_pct
            if interval is not None:
                reach = max(reach or 0.0, abs(interval.low), abs(interval.high))
    return results, reach


def _order(study: Study) -> Callable[[Place], tuple[int, ...]]:
    """Arms, then paths, then workloads, as the spec has them; what it does not name comes last."""
    ranks = [{name: number for number, name in enumerate(study.names(kind))} for kind in reversed(KINDS)]
    return lambda place: tuple(rank.get(name, len(rank)) for rank, name in zip(ranks, reversed(place), strict=True))


def _missing(before: dict[Place, ArmResult], after: dict[Place, ArmResult], paired: bool) -> list[str]:
    """Arms that only one study has, and blocks that find no partner."""
    arms = [list(dict.fromkeys(arm for _, _, arm in results)) for results in (before, after)]
    notes = [
        f"{label} has no trial of {arm}: not compared."
        for label, here, there in (("NEW", arms[0], arms[1]), ("OLD", arms[1], arms[0]))
        for arm in here
        if arm not in there
    ]
    common = before.keys() & after.keys() if paired else set()
    alone = [len({t.block for t in before[p].trials} ^ {t.block for t in after[p].trials}) for p in common]
    if any(alone):
        notes.append(f"{number_text.counted(sum(alone), 'trial')} without a partner in the other study left out.")
    return notes


# Everything that was asked of two builds, corrected together: by the exact tests, or by the sequential ones.
_Correct = Callable[[list[Change], float, float], list[Change]]


def corrected(changes: list[Change], alpha: float, matters_pct: float) -> list[Change]:
    """Return the changes with their outcomes and conclusions; those that were refused are of no family.

    Of m changes R are significant: their intervals are at 1 − R × alpha / m, so that of the intervals of what was
    selected at most a share alpha misses the truth (Benjamini and Yekutieli 2005). Changes that have an outcome only
    without what the laboratory added to the trials are not judged.
    """
    return _judged(changes, alpha, matters_pct, _corrected, by_all=True)


def corrected_by_sequence(changes: list[Change], alpha: float, matters_pct: float) -> list[Change]:
    """Return the changes as the sequential signed-rank test decides them, corrected after Bonferroni: right however
    often one looks, and whatever made the number of blocks."""
    return _judged(changes, alpha, matters_pct, _corrected_by_sequence)


def _judged(
    changes: list[Change], alpha: float, matters_pct: float, correct: _Correct, *, by_all: bool = False
) -> list[Change]:
    """The changes as `correct` decides them, called not judged where they are; `by_all` is true of a correction in
    which a change rests on the p of the others."""
    found = measured = correct(changes, alpha, matters_pct)
    if not any(map(is_disturbed, changes)):
        return [judged(each, each, matters_pct) for each in found]
    bare = [as_measured(each, alpha) for each in changes]
    measured = correct(bare, alpha, matters_pct)

    def alone(at: int) -> Conclusion:
        return correct([*bare[:at], changes[at], *bare[at + 1 :]], alpha, matters_pct)[at].conclusion

    ends = [(each.conclusion, without.conclusion) for each, without in zip(found, measured, strict=True)]
    names = [f"{each.workload}/{each.path} ({each.arm}, {each.metric.title})" for each in found]
    disturbed = [*map(is_disturbed, changes)]
    others = [turned_by_others(at, ends, disturbed, names, alone if by_all else None) for at in range(len(found))]
    return [
        judged(each, without, matters_pct, told) for each, without, told in zip(found, measured, others, strict=True)
    ]


def _corrected(changes: list[Change], alpha: float, matters_pct: float) -> list[Change]:
    p = np.array([math.nan if each.p is None or each.refused else each.p for each in changes])
    adjusted = statistics.adjusted_p_values(p)
    found = [
        each
        if math.isnan(own)
        else decided(each, float(own), alpha, statistics.smallest_adjusted_p(p, at, smallest_p(each)))
        for at, (each, own) in enumerate(zip(changes, adjusted, strict=True))
    ]
    tested = int((~np.isnan(p)).sum())
    level = 1 - alpha * max(1, int((adjusted <= alpha).sum())) / max(1, tested)
    # The interval of a change that only the correction takes from those that are significant holds 0 at this level.
    found = [
        each if math.isnan(own) or own > alpha else at_level(each, level) for each, own in zip(found, p, strict=True)
    ]

    def wider(each: Change, asked: float) -> Change:
        return each if each.outcome.significant and each.confidence >= asked else at_level(each, asked)

    candidates = {at: each for at, each in enumerate(found) if not each.refused}
    within = step_up(candidates, tested, alpha, wider, lambda each: lies_within(each, matters_pct))
    return [concluded(within.get(at, each), matters_pct, within=at in within) for at, each in enumerate(found)]


def _corrected_by_sequence(changes: list[Change], alpha: float, matters_pct: float) -> list[Change]:
    tested = sum(not each.refused for each in changes)
    level = 1 - alpha / max(1, tested)
    found = []
    for each in changes:
        if each.refused or each.p is None:
            found.append(concluded(each, matters_pct, within=False))
            continue
        adjusted, least = (min(1.0, p * tested) for p in (each.p, smallest_p(each)))
        told = at_level(decided(each, adjusted, alpha, least), level)
        found.append(concluded(told, matters_pct, within=lies_within(told, matters_pct)))
    return found
