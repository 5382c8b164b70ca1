# SPDX-License-Identifier: Apache-2.0
"""One arm in one cell, before and after: statistics as between two arms, with the sign of the metric itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from quiclab import statistics, wording
from quiclab.analysis.compare import values_of
from quiclab.analysis.model import ArmResult, Metric, Outcome
from quiclab.analysis.refusals import too_slow
from quiclab.statistics import Interval

FloatArray = npt.NDArray[np.float64]


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
    shift: float | None
    """Hodges–Lehmann, in the metric's unit; infinite where failures own it."""
    interval: Interval | None
    """Interval of the shift, in the metric's unit; None where so few trials allow none."""
    p: float | None
    adjusted_p: float | None = None
    """The p-value after Benjamini–Hochberg over everything that was asked for."""
    outcome: Outcome = Outcome.NOT_MEASURED
    """BASELINE_BETTER: it was better in OLD. OTHER_BETTER: it is better in NEW."""
    why: str = ""
    """A sentence where the outcome is undecided or not measured."""
    corrected_out: bool = False
    """Undecided for that alone: so few trials could have shown a difference, but not after the correction."""

    @property
    def shift_pct(self) -> float | None:
        """Return the shift in per cent of OLD's median; None where that is zero, unknown or infinite by failures."""
        factor = self._to_pct
        return None if factor is None or self.shift is None else self.shift * factor

    @property
    def interval_pct(self) -> Interval | None:
        """Return the interval of the change in per cent."""
        factor = self._to_pct
        return None if factor is None or self.interval is None else self.interval.scaled(factor)

    @property
    def _to_pct(self) -> float | None:
        median = self.old.median
        return 100 / abs(median) if median and math.isfinite(median) else None


def change(
    cell: tuple[str, str, str], old: ArmResult, new: ArmResult, metric: Metric, alpha: float, *, paired: bool
) -> Change:
    """Return the change of one cell (workload, path, arm); its outcome is left for `decided`."""
    before, after = values_of(old.trials, metric), values_of(new.trials, metric)
    if paired:
        blocks = sorted({trial.block for trial in old.trials} & {trial.block for trial in new.trials})
        first, second = (_by_block(arm, blocks, metric) for arm in (old, new))
        differences = statistics.paired_differences(second, first)
        shift = statistics.hodges_lehmann(differences, 1 - alpha)
        p = statistics.signed_rank(differences).p if differences.size else None
        pairs = int(differences.size)
    else:
        shift = statistics.shift_of_two(before, after, 1 - alpha)
        known = not (np.isnan(before).all() or np.isnan(after).all())
        p = statistics.mann_whitney_p(before, after)
        p = 1.0 if p is None and known else p  # every value is the same
        pairs = None
    estimate = None if math.isnan(shift.estimate) else shift.estimate
    return Change(metric, *cell, old, new, pairs, estimate, shift.interval, p)


def decided(found: Change, adjusted_p: float | None, alpha: float, least_p: float) -> Change:
    """Return the change with its adjusted p and its outcome; `least_p` is the smallest that the p could have been."""
    outcome, why = _outcome(found, adjusted_p, alpha)
    corrected_out = outcome is Outcome.NOT_SIGNIFICANT and least_p > alpha
    if corrected_out:
        outcome = Outcome.UNDECIDED
        why = (
            f"Too few: {_trials(found)} cannot show a difference at {alpha:g} after the correction, were it here alone."
        )
    return replace(found, adjusted_p=adjusted_p, outcome=outcome, why=why, corrected_out=corrected_out)


def _by_block(arm: ArmResult, blocks: list[int], metric: Metric) -> FloatArray:
    found = {trial.block: trial for trial in arm.trials}
    return values_of([found[block] for block in blocks], metric)


def _outcome(found: Change, p: float | None, alpha: float) -> tuple[Outcome, str]:
    old, new = found.old, found.new
    if p is None:
        lacking = [label for label, arm in (("OLD", old), ("NEW", new)) if not _known(arm)]
        told = f"{' and '.join(lacking)} measured nothing" if lacking else "No block is in both studies"
        return Outcome.NOT_MEASURED, f"{told}."
    if all(trial.status == "failed" for arm in (old, new) for trial in arm.trials):
        return Outcome.NOT_MEASURED, "Every trial failed in both studies."
    if smallest_p(found) > alpha:
        return Outcome.UNDECIDED, f"Too few: {_trials(found)} cannot show any difference at {alpha:g}."
    voids = too_slow(replace(old, arm="OLD"), replace(new, arm="NEW"))
    if voids:
        return Outcome.UNDECIDED, voids
    if p > alpha:
        return Outcome.NOT_SIGNIFICANT, ""
    sign = _direction(found)
    if sign == 0 or sign * _of_medians(found) < 0:
        return Outcome.UNDECIDED, "The medians and the shift point in opposite directions."
    return (Outcome.BASELINE_BETTER if (sign > 0) == found.metric.lower_is_better else Outcome.OTHER_BETTER), ""


def _trials(found: Change) -> str:
    if found.pairs is not None:
        return wording.counted(found.pairs, "pair")
    return f"{len(found.old.trials)} and {len(found.new.trials)} trials"


def smallest_p(found: Change) -> float:
    """The least that its test can give with so many trials, before any correction."""
    if found.pairs is not None:
        return statistics.smallest_p(found.pairs)
    return statistics.smallest_p_of_two(_known(found.old), _known(found.new))


def _known(arm: ArmResult) -> int:
    """Trials that say something: a value, or a failure."""
    return sum(trial.status == "failed" or trial.value is not None for trial in arm.trials)


def _direction(found: Change) -> float:
    """Sign of the shift; where failures leave none, the study with more of them is the worse."""
    if found.shift:
        return math.copysign(1, found.shift)
    more = float(found.new.failures - found.old.failures)
    return more if found.metric.lower_is_better else -more


def _of_medians(found: Change) -> float:
    """Sign of the difference of the medians; 0 where one is unknown or both are owned by failures."""
    old, new = found.old.median, found.new.median
    return 0.0 if old is None or new is None or old == new else math.copysign(1, new - old)
