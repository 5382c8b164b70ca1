# SPDX-License-Identifier: Apache-2.0
"""One arm in one cell, before and after: statistics as between two arms, with the sign of the metric itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from quiclab import statistics, wording
from quiclab.analysis.conclusions import conclusion_of
from quiclab.analysis.model import ArmResult, Conclusion, Metric, Outcome, TailState
from quiclab.analysis.refusals import too_slow
from quiclab.analysis.tails import tail_of
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
    """Change in per cent: the Hodges–Lehmann estimate of the logarithm of NEW / OLD, or its median where `sequential`,
    and its interval, both turned back into per cent. NaN without an interval where a value has no logarithm (a count
    of zero)."""
    shift: Shift
    """Change in the metric's unit: Hodges–Lehmann, or the median where `sequential`; infinite where failures own it."""
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
    conclusion: Conclusion = Conclusion.UNDECIDED
    """What it amounts to beside what matters."""
    refused: bool = False
    """Whether it cannot be tested at all, whatever its values: nothing measured, too few trials, too many voids."""
    sequential: bool = False
    """Whether the number of blocks could follow from looks: then the median within pairs is compared, by a confidence
    sequence, and trials that do not pair up are not tested at all."""

    @property
    def change_pct(self) -> float | None:
        """Change in per cent, infinite where failures own it; None where there is no ratio."""
        return None if math.isnan(self.ratio.estimate) else self.ratio.estimate

    @property
    def interval_pct(self) -> Interval | None:
        """Interval of the change in per cent; None where so few trials allow none, or there is no ratio."""
        return self.ratio.interval


def change(
    cell: tuple[str, str, str],
    old: ArmResult,
    new: ArmResult,
    metric: Metric,
    confidence: float,
    *,
    paired: bool,
    sequential: bool = False,
) -> Change:
    """Return the change of one cell (workload, path, arm), with intervals that hold at least at `confidence`; its
    outcome is left for `decided`. Where `sequential`, p and intervals hold however often one looks."""
    pairs: int | None = None
    if paired:
        before, after = _in_blocks(old, new, metric)
        differences = statistics.paired_differences(after, before)
        ratios = statistics.paired_differences(*_logarithms(after, before))
        tested = ratios if ratios.size else differences
        pairs, p = int(differences.size), _p(tested, sequential=sequential) if tested.size else None
    else:
        before, after = values_of(old.trials, metric), values_of(new.trials, metric)
        known = not (np.isnan(before).all() or np.isnan(after).all())
        p = statistics.mann_whitney_p(before, after)
        p = 1.0 if p is None and known else p  # every value is the same
    nothing = Shift(math.nan, None)
    found = Change(metric, *cell, old, new, pairs, nothing, nothing, confidence, p, sequential=sequential)
    return at_level(found, confidence)


def _p(differences: FloatArray, *, sequential: bool) -> float:
    return statistics.anytime_p(differences) if sequential else statistics.signed_rank(differences).p


def _median(differences: FloatArray, confidence: float) -> Shift:
    """The median with its confidence sequence."""
    return Shift(statistics.median(differences), statistics.median_sequence(differences, 1 - confidence))


def at_level(found: Change, confidence: float) -> Change:
    """Return the change with its intervals at another level."""
    if found.pairs is not None:
        before, after = _in_blocks(found.old, found.new, found.metric)
        typical = _median if found.sequential else statistics.hodges_lehmann
        logs, values = (
            typical(statistics.paired_differences(*both), confidence)
            for both in (_logarithms(after, before), (after, before))
        )
    else:
        before, after = (values_of(arm.trials, found.metric) for arm in (found.old, found.new))
        logs, values = (
            statistics.shift_of_two(*both, confidence) for both in (_logarithms(before, after), (before, after))
        )
    return replace(found, ratio=statistics.shift_in_per_cent(logs), shift=values, confidence=confidence)


def lies_within(found: Change, matters_pct: float) -> bool:
    """Whether the whole interval is less than what matters, either way."""
    interval = found.interval_pct
    return interval is not None and -matters_pct < interval.low and interval.high < matters_pct


def concluded(found: Change, matters_pct: float, *, within: bool) -> Change:
    """Return the change with its conclusion; `within` says whether it is shown to be less than what matters. Of trials
    that do not pair up the slow tail is not compared."""
    paired = found.pairs is not None
    tail = tail_of(found.old, found.new, found.metric, matters_pct).state if paired else TailState.NOT_KNOWN
    conclusion = conclusion_of(found.outcome, found.change_pct, tail, matters_pct, within=within)
    return replace(found, conclusion=conclusion)


def refused(found: Change, alpha: float) -> Change:
    """Return the change with the reason why it cannot be tested at all; as it is where it can."""
    refusal = _refusal(found, alpha)
    return found if refusal is None else replace(found, outcome=refusal[0], why=refusal[1], refused=True)


def decided(found: Change, adjusted_p: float, alpha: float, least_p: float) -> Change:
    """Return the change with its adjusted p and its outcome; `least_p` is the smallest that the p could have been."""
    if adjusted_p > alpha:
        outcome = Outcome.UNDECIDED if least_p > alpha else Outcome.NOT_SIGNIFICANT
        told = (
            f"Too few: with {trials_of(found)}, a change in this cell alone is not significant at {alpha:g} after the "
            "correction."
        )
        return replace(found, adjusted_p=adjusted_p, outcome=outcome, why=told if least_p > alpha else "")
    direction = _direction(found)
    if direction == 0:
        told = "The typical pair did not change, although the others lean to one side."
        return replace(found, adjusted_p=adjusted_p, outcome=Outcome.UNDECIDED, why=told)
    worse = (direction > 0) == found.metric.lower_is_better
    outcome = Outcome.BASELINE_BETTER if worse else Outcome.OTHER_BETTER
    return replace(found, adjusted_p=adjusted_p, outcome=outcome, why="")


def _in_blocks(old: ArmResult, new: ArmResult, metric: Metric) -> tuple[FloatArray, FloatArray]:
    """Values of both builds in the blocks that both have."""
    before, after = ({trial.block: trial for trial in arm.trials} for arm in (old, new))
    blocks = sorted(before.keys() & after.keys())
    return values_of([before[each] for each in blocks], metric), values_of([after[each] for each in blocks], metric)


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
    if found.sequential and found.pairs is None:
        return Outcome.UNDECIDED, (
            "Not tested: the number of blocks may follow from a look at them, and only trials that pair up can be "
            "judged all the same. Run both builds with one seed, or with --interleave."
        )
    if smallest_p(found) > alpha:
        told = f"Too few: with {trials_of(found)}, even the clearest change is not significant at {alpha:g}."
        return Outcome.UNDECIDED, told
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
        return statistics.anytime_p(np.ones(found.pairs)) if found.sequential else statistics.smallest_p(found.pairs)
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
