# SPDX-License-Identifier: Apache-2.0
"""One arm in one cell, before and after: statistics as between two arms, with the sign of the metric itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.between_ends import Between, greatest_p, growth, widened
from quiclab.compare.conclusions import conclusion_of
from quiclab.compare.model import ArmResult, Conclusion, Metric, Outcome, TailState
from quiclab.compare.not_judged import bare, why_not_judged
from quiclab.compare.paired import MEASURED, Ends, FloatArray, values_of, when_complete
from quiclab.compare.statistics import Interval, Shift
from quiclab.compare.tail_quantiles import tail_of
from quiclab.model import number_text


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
    """Change in per cent: the Hodges–Lehmann estimate of the logarithm of NEW / OLD and its interval, both turned
    back into per cent. NaN without an interval where a value has no logarithm (a count
    of zero)."""
    shift: Shift
    """Change in the metric's unit: Hodges–Lehmann; infinite where failures own it."""
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
    """Conclusion: what it amounts to beside what matters."""
    refused: bool = False
    """True if the cell cannot be tested, whatever its values: nothing was measured, or there are too few trials."""
    sequential: bool = False
    """True if the number of blocks could follow from looks: then pairs are compared by the sequential
    signed-rank test, and trials that do not pair up are not tested at all."""
    disturbance_pct: float = 0.0
    """Points of per cent by which what the laboratory added to the trials widened the interval, at the wider side."""

    @property
    def change_pct(self) -> float | None:
        """Change in per cent, infinite where failures own it; None where there is no ratio."""
        return None if math.isnan(self.ratio.estimate) else self.ratio.estimate

    @property
    def interval_pct(self) -> Interval | None:
        """Interval of the change in per cent; None where so few trials allow none, or there is no ratio."""
        return self.ratio.interval

    @property
    def lost(self) -> int:
        """Blocks that did not count, as a trial in them was void each time."""
        return len({*self.old.lost_blocks, *self.new.lost_blocks})


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
    nothing = Shift(math.nan, None)
    found = Change(
        metric, *cell, old, new, 0 if paired else None, nothing, nothing, confidence, None, sequential=sequential
    )
    samples = _samples(found)
    before, after = samples.measured
    if paired:
        found = replace(found, pairs=int(statistics.paired_differences(after, before).size))
    if found.pairs or not (paired or np.isnan(before).all() or np.isnan(after).all()):
        found = replace(found, p=greatest_p(samples, lambda both: _p(both, found), lambda both: _leans(both, found)))
    return at_level(found, confidence)


def _p(both: _Both, found: Change) -> float:
    if found.pairs is None:
        p = statistics.mann_whitney_p(*both)
        return 1.0 if p is None else p  # every value is the same
    tested = _tested_within_pairs(both)
    return statistics.anytime_p(tested) if found.sequential else statistics.signed_rank(tested).p


def _leans(both: _Both, found: Change) -> float:
    """Estimate of the change, on whichever scale: its sign counts."""
    if found.pairs is None:
        return statistics.shift_of_two(*both, 0.5).estimate
    return _typical(_tested_within_pairs(both), found, 0.5).estimate


def _tested_within_pairs(both: _Both) -> FloatArray:
    """The differences of logarithms within pairs, or of the values where one of these has no logarithm."""
    before, after = both
    ratios = statistics.paired_differences(*reversed(_logarithms(both)))
    return ratios if ratios.size else statistics.paired_differences(after, before)


def _typical(differences: FloatArray, found: Change, confidence: float) -> Shift:
    """The Hodges–Lehmann estimate, with its exact interval or its confidence sequence."""
    if not found.sequential:
        return statistics.hodges_lehmann(differences, confidence)
    return statistics.anytime_shift(differences, 1 - confidence)


def _shift(both: _Both, found: Change, confidence: float) -> Shift:
    if found.pairs is None:
        return statistics.shift_of_two(*both, confidence)
    before, after = both
    return _typical(statistics.paired_differences(after, before), found, confidence)


def at_level(found: Change, confidence: float) -> Change:
    """Return the change with its intervals at another level."""
    samples = _samples(found)
    ratio = statistics.shift_in_per_cent(widened(samples, lambda both: _shift(_logarithms(both), found, confidence)))
    measured = statistics.shift_in_per_cent(_shift(_logarithms(samples.measured), found, confidence))
    return replace(
        found,
        ratio=ratio,
        shift=widened(samples, lambda both: _shift(both, found, confidence)),
        confidence=confidence,
        disturbance_pct=growth(ratio.interval, measured.interval),
    )


def lies_within(found: Change, matters_pct: float) -> bool:
    """True if the whole interval is less than what matters, either way."""
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


def as_measured(found: Change, alpha: float) -> Change:
    """Return the change as if the laboratory had added nothing to the trials that count, without an outcome unless it
    cannot be tested."""
    cell, paired = (found.workload, found.path, found.arm), found.pairs is not None
    old, new = bare(found.old), bare(found.new)
    changed = change(cell, old, new, found.metric, 1 - alpha, paired=paired, sequential=found.sequential)
    return refused(changed, alpha)


def is_disturbed(found: Change) -> bool:
    """True where the values may be others without what the laboratory added to the trials."""
    return found.old.is_disturbed or found.new.is_disturbed


def judged(found: Change, measured: Change, matters_pct: float, others: Sequence[str] = ()) -> Change:
    """Return the change, called not judged where it is; `measured` is the one without what the laboratory added, and
    `others` are the changes whose disturbed trials leave it open where its own do not."""
    pairs = min(len(found.old.trials), len(found.new.trials)) if found.pairs is None else found.pairs
    why = why_not_judged(found.conclusion, measured.conclusion, pairs, found.lost, matters_pct, others)
    return replace(found, outcome=Outcome.NOT_JUDGED, conclusion=Conclusion.NOT_JUDGED, why=why) if why else found


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


_Both = tuple[FloatArray, FloatArray]
"""Values of OLD and of NEW."""


def _samples(found: Change) -> Between[_Both]:
    """Values of both builds, where they pair up in the blocks that both have, in the order in which these came; the
    lower end is that of the change."""
    old, new = found.old.trials, found.new.trials
    if found.pairs is not None:
        before, after = ({trial.block: trial for trial in trials} for trials in (old, new))
        both = sorted(before.keys() & after.keys())
        blocks = sorted(both, key=lambda block: when_complete((before[block], after[block])))
        old, new = tuple(before[each] for each in blocks), tuple(after[each] for each in blocks)

    def at(ends: Ends) -> _Both:
        return values_of(old, found.metric, ends[0]), values_of(new, found.metric, ends[1])

    measured = at(MEASURED)
    if not is_disturbed(found):
        return Between(measured, measured, measured)
    return Between(measured, at(("most", "least")), at(("least", "most")))


def _logarithms(both: _Both) -> _Both:
    """Natural logarithms of both; nothing of either where a value has none."""
    first, second = both
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
    return None


def trials_of(found: Change) -> str:
    """Count the trials behind a change: `9 pairs`, or `9 and 8 trials`."""
    if found.pairs is not None:
        return number_text.counted(found.pairs, "pair")
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
