# SPDX-License-Identifier: Apache-2.0
"""Two arms' accounts of time against each other: by how much each part of a transfer's time differs, cell by cell.

In each pair the differences by *why* add up to that of the whole times (to the last byte; of a video to its start, or
of its stalls), to the nanosecond, and so do those by *what*. Over pairs means add up and medians do not, so that the
steps are means over the pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.model import ArmResult, Comparison, Conclusion
from quiclab.compare.statistics import Interval, Mean
from quiclab.compare.study import read_record
from quiclab.compare.study_tables import OpenedStudy
from quiclab.evidence.metrics import Unknown, evidence_of
from quiclab.model import number_text
from quiclab.model.tables import TABLES
from quiclab.why.account import MetricScope, What, Why, accounts_of
from quiclab.why.account_shares import WHATS, WHYS, FloatArray, Shares, categories, shares
from quiclab.why.divergence import Role, roles

LEAST_MOVED_PCT = 1.0
"""Share of what moves within pairs in all, whatever its sign, below which a part is not tested."""


@dataclass(frozen=True)
class Step:
    """One category of the time, or all of it, in both arms: means over the pairs, in ms."""

    label: Why | What | Role | None
    """The category; None where the step is the whole time."""
    baseline_ms: float
    """Mean of the baseline."""
    other_ms: float
    """Mean of the other arm."""
    difference_ms: float
    """Mean of other − baseline: positive where the other arm takes longer."""
    interval_ms: Interval | None
    """Interval of the difference. Those of categories allow for the choice of those that are told: at most a share
    alpha of the intervals told is expected to miss (Benjamini and Yekutieli 2005). It excludes 0 exactly where the
    difference is shown; None where the pairs bound none."""
    p: float | None = None
    """The larger of two: of the exact signed-rank test of the pairs' differences, and of the interval of their mean;
    None without a pair."""
    adjusted_p: float | None = None
    """Adjusted p: for the number of categories tested (Benjamini–Hochberg); of the whole time it is `p`. None where
    the category hardly moves within pairs, and is not tested."""
    sums_up: tuple[Why, ...] = ()
    """Finer categories that this one sums up, where an arm's evidence cannot tell them apart."""
    baseline_decided_by: tuple[str, ...] = ()
    """Tables that decided the category in the baseline."""
    other_decided_by: tuple[str, ...] = ()
    """Tables that decided it in the other arm."""

    def differs(self, alpha: float) -> bool:
        """True if the pairs show the difference at the level `alpha` after the adjustment for all categories, by the
        mean and by the exact test, which needs no shape: then the interval excludes 0, and else it does not."""
        if self.interval_ms is None or self.adjusted_p is None:
            return False
        return self.adjusted_p <= alpha and not self.interval_ms.low <= 0 <= self.interval_ms.high


@dataclass(frozen=True)
class Wait:
    """Mean time of one *why* in both arms, as each arm's records have it."""

    why: Why
    baseline_ms: float
    other_ms: float


@dataclass(frozen=True)
class Waterfall:
    """The way from the baseline's time to the other arm's, category by category, in one cell."""

    comparison: Comparison
    pairs: int
    """Pairs in which both trials have an account."""
    without: int
    """Further pairs of verified trials, in which one or both have none."""
    total: Step
    steps: tuple[Step, ...]
    """One step for each *why* that has time in either arm, in the order of `Why`; empty without a pair."""
    floor: tuple[Step, ...]
    """Steps by *what*: the physical side."""
    roles: tuple[Step, ...]
    """Steps by role in the transfer: handshake, request, each tenth of the bytes, an upload's answer."""
    served_bytes: tuple[float, float]
    """Mean bytes that the bottleneck served towards the client: baseline, other."""
    first_without: str | None = None
    """The first trial without an account."""
    of: MetricScope = MetricScope.TTLB
    """Scope of the accounts."""
    waits: tuple[Wait, ...] = ()
    """Each *why* that has time in either arm, none summed up: the timeline's, in the order of `Why`."""

    @property
    def tested(self) -> int:
        """Number of reasons that are tested."""
        return sum(step.adjusted_p is not None for step in self.steps)

    @property
    def gross_ms(self) -> float:
        """Sum of the steps' differences without their signs: what moved, also where it cancels."""
        return sum(abs(step.difference_ms) for step in self.steps)


def waterfalls(study: OpenedStudy, comparisons: Sequence[Comparison], alpha: float, metric: str) -> list[Waterfall]:
    """One waterfall for each comparison by a metric, in their order: of stalls where it is the time of these, else of
    the time to the last byte, or of a video's start-up. Raises DecodeError for a table that cannot be read."""
    known = shares(study, metric)

    def stages(pairs: Sequence[tuple[str, str]]) -> Sequence[FloatArray]:
        return roles(study, pairs)

    return [waterfall_of(each, known, alpha, stages) for each in comparisons]


def _untested(found: Waterfall) -> Waterfall:
    """The waterfall without tests and intervals where its cell is not judged: then nothing is shown to differ."""
    if found.comparison.conclusion is not Conclusion.NOT_JUDGED:
        return found

    def without(steps: Sequence[Step]) -> tuple[Step, ...]:
        return tuple(replace(step, adjusted_p=None, interval_ms=None) for step in steps)

    (total,) = without([found.total])
    return replace(
        found, total=total, steps=without(found.steps), floor=without(found.floor), roles=without(found.roles)
    )


def why_without(study: OpenedStudy, waterfall: Waterfall) -> str:
    """Reason why the first trial without an account has none; "" where all have one."""
    trial_id = waterfall.first_without
    if trial_id is None:
        return ""
    tables = {name: table for name in TABLES if (table := study.trial_table(name, trial_id)) is not None}
    if "account" in tables:
        return "its sums (the table account_totals) are not there, as another version made its account"
    try:
        accounts_of(evidence_of(tables, read_record(study.directory / "trials" / trial_id)))
    except Unknown as unknown:
        return str(unknown)
    again = f"`quiclab report {number_text.from_here(study.directory)} --again`"
    return f"tables of it are missing, or were made by another version; {again} makes them anew"


Stages = Callable[[Sequence[tuple[str, str]]], Sequence[FloatArray]]
"""Pairs of trials → their time in each stage, arrays (pairs, arms)."""


def waterfall_of(comparison: Comparison, known: Shares, alpha: float, stages: Stages | None = None) -> Waterfall:
    """The waterfall of one comparison, from sums that are known; without `stages` none of these is told."""
    return _untested(_waterfall(comparison, known, alpha, stages))


def _waterfall(comparison: Comparison, known: Shares, alpha: float, stages: Stages | None) -> Waterfall:
    pairs = pairs_of(comparison.baseline, comparison.other)
    whole = [pair for pair in pairs if all(trial in known.why_ms for trial in pair)]
    lacking = next((trial for pair in pairs for trial in pair if trial not in known.why_ms), None)
    # (pairs, arms, labels)
    why_ms = np.array([[known.why_ms[trial] for trial in pair] for pair in whole]).reshape(len(whole), 2, len(WHYS))
    total = step_of(None, why_ms[:, 0].sum(axis=1), why_ms[:, 1].sum(axis=1), 1 - alpha)
    total = replace(total, adjusted_p=total.p)
    total = _with_one_verdict(total, why_ms[:, 1].sum(axis=1) - why_ms[:, 0].sum(axis=1), alpha, 1 - alpha)
    if not whole:
        return Waterfall(comparison, 0, len(pairs), total, (), (), (), (0.0, 0.0), lacking)
    what_ms = np.array([[known.what_ms[trial] for trial in pair] for pair in whole])
    served = np.array([[known.served_bytes[trial] for trial in pair] for pair in whole]).mean(axis=0)
    return Waterfall(
        comparison,
        len(whole),
        len(pairs) - len(whole),
        total,
        _by_why(known, whole, why_ms, alpha),
        _adjusted(WHATS, [what_ms[:, :, at] for at in range(len(WHATS))], alpha),
        _adjusted(tuple(Role), _roles(stages, known, whole), alpha),
        (float(served[0]), float(served[1])),
        lacking,
        known.of[whole[0][0]],
        tuple(Wait(why, *map(float, ms)) for why, ms in zip(WHYS, why_ms.mean(axis=0).T, strict=True) if ms.any()),
    )


def _roles(stages: Stages | None, known: Shares, pairs: Sequence[tuple[str, str]]) -> Sequence[FloatArray]:
    """Time of each role; none of stalls, which have no handshake or first tenth that every trial had."""
    none = stages is None or known.of[pairs[0][0]] is MetricScope.STALL
    return [np.zeros((len(pairs), 2)) for _ in Role] if none or stages is None else stages(pairs)


def _by_why(known: Shares, pairs: Sequence[tuple[str, str]], ms: FloatArray, alpha: float) -> tuple[Step, ...]:
    groups = categories(ms)
    at = {why: place for place, why in enumerate(WHYS)}
    sums = [ms[:, :, [at[why] for why in members]].sum(axis=2) for _, members in groups]
    fine = dict(groups)
    arms = [[pair[arm] for pair in pairs] for arm in (0, 1)]
    found = []
    for step in _adjusted([category for category, _ in groups], sums, alpha):
        members = fine[step.label] if isinstance(step.label, Why) else ()
        decided = (known.evidence_of(arm, members) for arm in arms)
        found.append(replace(step, sums_up=members, baseline_decided_by=next(decided), other_decided_by=next(decided)))
    return tuple(found)


def _adjusted(labels: Sequence[Why | What | Role], ms: Sequence[FloatArray], alpha: float) -> tuple[Step, ...]:
    """Steps of arrays (pairs, arms) with p and intervals adjusted for their number; those without time are left out."""
    present = [(label, each) for label, each in zip(labels, ms, strict=True) if each.any()]
    steps = family([each for _, each in present], alpha)
    return tuple(replace(step, label=label) for (label, _), step in zip(present, steps, strict=True))


def family(ms: Sequence[FloatArray], alpha: float) -> tuple[Step, ...]:
    """One step for each array (pairs, arms) of ms, with p and intervals adjusted for the number of those tested.

    Those that hardly move within pairs are not tested: they would only weaken the others. The choice rests on the sizes
    of the differences within pairs alone, of which signs, and so the signed-rank test, are independent where arms are
    alike (Bourgon, Gentleman and Huber 2010, PNAS 107, independent filtering).
    """
    steps = [step_of(None, each[:, 0], each[:, 1], 1 - alpha) for each in ms]
    moved_ms = np.array([np.abs(each[:, 1] - each[:, 0]).mean() if len(each) else 0.0 for each in ms])
    tested = moved_ms >= LEAST_MOVED_PCT / 100 * moved_ms.sum()
    raw = np.array(
        [step.p if test and step.p is not None else np.nan for step, test in zip(steps, tested, strict=True)]
    )
    adjusted = statistics.adjusted_p_values(raw)
    level = 1 - alpha * max(1, int((adjusted <= alpha).sum())) / max(1, int(tested.sum()))
    found = (
        replace(step_of(None, each[:, 0], each[:, 1], level), adjusted_p=None if np.isnan(p) else float(p))
        for each, p in zip(ms, adjusted, strict=True)
    )
    return tuple(
        _with_one_verdict(step, each[:, 1] - each[:, 0], alpha, level) for step, each in zip(found, ms, strict=True)
    )


def _with_one_verdict(step: Step, differences: FloatArray, alpha: float, level: float) -> Step:
    """The step with an interval that excludes 0 only where the step differs.

    Student's interval of few pairs may exclude 0 where the exact test, which knows no shape, does not. What neither
    excludes together is the interval then: it reaches as far as that of the exact test, and over 0. Where so few pairs
    bound none at the level, or where the step is not tested, there is none.
    """
    interval = step.interval_ms
    if interval is None or interval.low <= 0 <= interval.high or step.differs(alpha):
        return step
    exact = None if step.adjusted_p is None else statistics.hodges_lehmann(differences, level).interval
    if exact is None:
        return replace(step, interval_ms=None)
    low, high = min(interval.low, exact.low, 0.0), max(interval.high, exact.high, 0.0)
    return replace(step, interval_ms=Interval(low, high, interval.confidence))


def pairs_of(baseline: ArmResult, other: ArmResult) -> list[tuple[str, str]]:
    """Trials of the blocks in which both arms' trials are verified: baseline, other."""
    verified = {trial.block: trial.trial_id for trial in other.trials if trial.status == "verified"}
    return [
        (trial.trial_id, verified[trial.block])
        for trial in baseline.trials
        if trial.status == "verified" and trial.block in verified
    ]


def step_of(label: Why | What | Role | None, baseline: FloatArray, other: FloatArray, level: float) -> Step:
    """A step of two arms' ms, pair by pair, with an interval at `level` and the exact test."""
    differences = other - baseline
    if not differences.size:
        return Step(label, np.nan, np.nan, np.nan, None)
    mean = statistics.mean(differences, level)
    return Step(
        label,
        float(baseline.mean()),
        float(other.mean()),
        float(differences.mean()),
        mean.interval if mean else None,
        _p(differences, mean),
    )


def _p(differences: FloatArray, mean: Mean | None) -> float:
    """The larger p of the exact test and of the mean; 1 where they lean to different sides, or no pair differs."""
    typical = statistics.hodges_lehmann(differences, 0.0).estimate
    if mean is not None and mean.interval is not None and typical * mean.estimate <= 0:
        return 1.0
    exact = statistics.signed_rank(differences).p
    return exact if mean is None or mean.interval is None else max(exact, mean.p)
