# SPDX-License-Identifier: Apache-2.0
"""Values compared within each pair: the ratio of its two values or, where a value has no ratio, their difference.

A value of zero has no ratio. Then all pairs of that comparison are compared in the metric's unit: whether some value is
zero or below does not change where the two arms are exchanged within pairs, so that the signed-rank
test stays exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from quiclab.compare import statistics
from quiclab.compare.between_ends import Between
from quiclab.compare.model import ArmResult, Metric, TrialResult
from quiclab.compare.statistics import Interval

FloatArray = npt.NDArray[np.float64]
End = Literal["measured", "least", "most"]
"""A value of a trial: as it was measured, or an end of what it may be without what the laboratory added."""
Ends = tuple[End, End]
"""Values of two arms."""
MEASURED: Ends = ("measured", "measured")


@dataclass(frozen=True)
class WithinPairs:
    """One number per block that both arms have, positive where the other arm is better; ±inf by failures."""

    blocks: tuple[int, ...]
    values: FloatArray
    """Natural logarithm of the ratio of the two values, or their difference in the metric's unit."""
    has_ratios: bool
    """True if the values are logarithms of ratios: every known value is above zero."""
    lower_is_better: bool
    between: Between[FloatArray]
    """The values, and the ends between which they lie without what the laboratory added to the trials."""

    @property
    def sign(self) -> float:
        """Turns an advantage into a difference, other less baseline, which is below zero where the other has less."""
        return -1.0 if self.lower_is_better else 1.0

    def pct(self, value: float) -> float:
        """Difference in per cent of the baseline's value, from a log ratio: `−12` is 12 % less."""
        return statistics.per_cent(self.sign * value)

    def pct_of(self, interval: Interval | None) -> Interval | None:
        """Interval of the difference in per cent of the baseline's value, from that of the log ratios."""
        found = interval and interval.scaled(self.sign)
        return found and Interval(statistics.per_cent(found.low), statistics.per_cent(found.high), found.confidence)


def within_pairs(baseline: ArmResult, other: ArmResult, metric: Metric) -> WithinPairs:
    """Compare the values of each block that both have; a pair with an unknown value is left out."""
    measured = values_within_pairs(baseline, other, metric)
    has_ratios = all(statistics.logarithms(each) is not None for each in measured)
    values = _advantages(measured, metric, has_ratios=has_ratios)
    known = ~np.isnan(values)
    has_other = {trial.block for trial in other.trials}
    blocks = [trial.block for trial in baseline.trials if trial.block in has_other]
    kept = tuple(block for block, there in zip(blocks, known, strict=True) if there)
    found = values[known]

    def at(first: End, second: End) -> FloatArray:
        both = values_within_pairs(baseline, other, metric, (first, second))
        return _advantages(both, metric, has_ratios=has_ratios)[known]

    between = Between(found, found, found)
    if baseline.is_disturbed or other.is_disturbed:
        worst, best = at("least", "most"), at("most", "least")
        between = Between(found, worst, best) if metric.lower_is_better else Between(found, best, worst)
    return WithinPairs(kept, found, has_ratios, metric.lower_is_better, between)


def when_complete(pair: tuple[TrialResult, TrialResult]) -> str:
    """Date and time at which the later of two trials began, by which pairs are put in the order in which they came."""
    return max(trial.began_utc for trial in pair)


def _advantages(values: tuple[FloatArray, FloatArray], metric: Metric, *, has_ratios: bool) -> FloatArray:
    """Advantage of the other arm in each pair: the log ratio, or the difference."""
    first, second = (statistics.logarithms(each) if has_ratios else each for each in values)
    assert first is not None, "what is above zero has a logarithm"
    assert second is not None, "what is above zero has a logarithm"
    return (1.0 if metric.lower_is_better else -1.0) * statistics.differences_in_order(first, second)


def values_within_pairs(
    baseline: ArmResult, other: ArmResult, metric: Metric, ends: Ends = MEASURED
) -> tuple[FloatArray, FloatArray]:
    """Both arms' values in the blocks that both have, block by block: as measured, or at these `ends`."""
    by_block = {trial.block: trial for trial in other.trials}
    paired = [trial for trial in baseline.trials if trial.block in by_block]
    return values_of(paired, metric, ends[0]), values_of([by_block[t.block] for t in paired], metric, ends[1])


def values_of(trials: Iterable[TrialResult], metric: Metric, end: End = "measured") -> FloatArray:
    """The metric of each trial, or an `end` of what it may be; the worst there is where it failed, NaN where it is
    unknown."""
    trials = list(trials)
    values = np.array([_value(trial, end) for trial in trials], dtype=np.float64)
    failed = np.array([trial.status == "failed" for trial in trials], dtype=np.bool_)
    return statistics.censored(values, failed, lower_is_better=metric.lower_is_better)


def _value(trial: TrialResult, end: End) -> float:
    known = {"measured": None, "least": trial.least, "most": trial.most}[end]
    value = trial.value if known is None else known
    return math.nan if value is None else value
