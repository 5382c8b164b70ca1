# SPDX-License-Identifier: Apache-2.0
"""One arm in one cell, before and after: statistics as between two arms, with the sign of the metric itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from quiclab import statistics, wording
from quiclab.analysis.model import ArmResult, Metric, Outcome
from quiclab.analysis.refusals import too_slow
from quiclab.analysis.within_pairs import FloatArray, values_of
from quiclab.statistics import Interval, Shift


@dataclass(frozen=True)
class Change:
    """NEW against OLD. Everything is positive where the metric is larger in NEW, whichever is better."""

    metric: Metric
    workload: str
    path: str
    arm: str
    old: ArmResult
    new: ArmResult
    pairs: int | None
    """Blocks that both have; None where trials do not pair up."""
    ratio: Shift
    """Change in per cent: the Hodges–Lehmann estimate of the logarithm of NEW / OLD, and its interval, both turned back
    into per cent. NaN without an interval where a value has no logarithm (a count of zero)."""
    shift: Shift
    """Change in the metric's unit: Hodges–Lehmann, infinite where failures own it."""
    confidence: float
    """Level that was asked for of the intervals."""
    p: float | None
    """Two-sided p of the logarithms of the ratio, or of the differences where a value has no logarithm."""
    adjusted_p: float | None = None
    """The p-value after Benjamini–Hochberg over everything that was asked for and could be tested."""
    outcome: Outcome = Outcome.NOT_MEASURED
    """BASELINE_BETTER: it was better in OLD. OTHER_BETTER: it is better in NEW."""
    why: str = ""
    """A sentence where the outcome is undecided or not measured."""
    refused: bool = False
    """Whether it cannot be tested at all, whatever its values: nothing measured, too few trials, too many voids."""

    @property
    def change_pct(self) -> float | None:
        """Change in per cent, infinite where failures own it; None where there is no ratio."""
        return None if math.isnan(self.ratio.estimate) else self.ratio.estimate

    @property
    def interval_pct(self) -> Interval | None:
        """Interval of the change in per cent; None where so few trials allow none, or there is no ratio."""
        return self.ratio.interval


def change(
    cell: tuple[str, str, str], old: ArmResult, new: ArmResult, metric: Metric, confidence: float, *, paired: bool
) -> Change:
    """Return the change of one cell (workload, path, arm), with intervals that hold at least at `confidence`; its
    outcome is left for `decided`."""
    if paired:
        blocks = sorted({trial.block for trial in old.trials} & {trial.block for trial in new.trials})
        before, after = (_by_block(arm, blocks, metric) for arm in (old, new))
        differences = statistics.paired_differences(after, before)
        ratios = statistics.paired_differences(*_logarithms(after, before))
        shift, ratio = (statistics.hodges_lehmann(each, confidence) for each in (differences, ratios))
        tested = ratios if ratios.size else differences
        p = statistics.signed_rank(tested).p if tested.size else None
        in_pct = statistics.shift_in_per_cent(ratio)
        return Change(metric, *cell, old, new, int(differences.size), in_pct, shift, confidence, p)
    before, after = values_of(old.trials, metric), values_of(new.trials, metric)
    known = not (np.isnan(before).all() or np.isnan(after).all())
    p = statistics.mann_whitney_p(before, after)
    return Change(
        metric,
        *cell,
        old,
        new,
        None,
        statistics.shift_in_per_cent(statistics.shift_of_two(*_logarithms(before, after), confidence)),
        statistics.shift_of_two(before, after, confidence),
        confidence,
        1.0 if p is None and known else p,  # every value is the same
    )


def at_level(found: Change, confidence: float) -> Change:
    """Return the change with its intervals at another level."""
    cell = found.workload, found.path, found.arm
    again = change(cell, found.old, found.new, found.metric, confidence, paired=found.pairs is not None)
    return replace(found, ratio=again.ratio, shift=again.shift, confidence=confidence)


def refused(found: Change, alpha: float) -> Change:
    """Return the change with the reason why it cannot be tested at all; as it is where it can."""
    refusal = _refusal(found, alpha)
    return found if refusal is None else replace(found, outcome=refusal[0], why=refusal[1], refused=True)


def decided(found: Change, adjusted_p: float, alpha: float, least_p: float) -> Change:
    """Return the change with its adjusted p and its outcome; `least_p` is the smallest that the p could have been."""
    if adjusted_p > alpha:
        outcome = Outcome.UNDECIDED if least_p > alpha else Outcome.NOT_SIGNIFICANT
        few = trials_of(found)
        told = f"Too few: {few} cannot show a difference at {alpha:g} after the correction, were it here alone."
        return replace(found, adjusted_p=adjusted_p, outcome=outcome, why=told if least_p > alpha else "")
    direction = _direction(found)
    if direction == 0:
        told = "The typical pair did not change, although the others lean to one side."
        return replace(found, adjusted_p=adjusted_p, outcome=Outcome.UNDECIDED, why=told)
    worse = (direction > 0) == found.metric.lower_is_better
    outcome = Outcome.BASELINE_BETTER if worse else Outcome.OTHER_BETTER
    return replace(found, adjusted_p=adjusted_p, outcome=outcome, why="")


def _by_block(arm: ArmResult, blocks: list[int], metric: Metric) -> FloatArray:
    found = {trial.block: trial for trial in arm.trials}
    return values_of([found[block] for block in blocks], metric)


def _logarithms(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Natural logarithms of both; nothing of either where a value has none."""
    one, two = statistics.logarithms(first), statistics.logarithms(second)
    if one is None or two is None:
        return np.full_like(first, np.nan), np.full_like(second, np.nan)
    return one, two


def _refusal(found: Change, alpha: float) -> tuple[Outcome, str] | None:
    old, new = found.old, found.new
    if found.p is None:
        lacking = [label for label, arm in (("OLD", old), ("NEW", new)) if not _known(arm)]
        told = f"{' and '.join(lacking)} measured nothing" if lacking else "No block is in both studies"
        return Outcome.NOT_MEASURED, f"{told}."
    if all(trial.status == "failed" for arm in (old, new) for trial in arm.trials):
        return Outcome.NOT_MEASURED, "Every trial failed with both builds."
    if smallest_p(found) > alpha:
        return Outcome.UNDECIDED, f"Too few: {trials_of(found)} cannot show any difference at {alpha:g}."
    voids = too_slow(replace(old, arm="OLD"), replace(new, arm="NEW"))
    return (Outcome.UNDECIDED, voids) if voids else None


def trials_of(found: Change) -> str:
    """Count the trials behind a change: `9 pairs`, or `9 and 8 trials`."""
    if found.pairs is not None:
        return wording.counted(found.pairs, "pair")
    return f"{len(found.old.trials)} and {len(found.new.trials)} trials"


def smallest_p(found: Change) -> float:
    """Return the least p that its test can give with so many trials, before any correction."""
    if found.pairs is not None:
        return statistics.smallest_p(found.pairs)
    return statistics.smallest_p_of_two(_known(found.old), _known(found.new))


def _known(arm: ArmResult) -> int:
    """Trials that say something: a value, or a failure."""
    return sum(trial.status == "failed" or trial.value is not None for trial in arm.trials)


def _direction(found: Change) -> float:
    """Sign of the change; where failures leave none, the build with more of them is the worse."""
    for shift in (found.ratio, found.shift):
        if shift.estimate and not math.isnan(shift.estimate):
            return shift.estimate
    more = float(found.new.failures - found.old.failures)
    return more if found.metric.lower_is_better else -more
