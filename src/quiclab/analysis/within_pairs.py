# SPDX-License-Identifier: Apache-2.0
"""What is compared within each pair: the ratio of its two values or, where a value has no ratio, their difference.

A value of zero has no ratio. Then all pairs of that comparison are compared in the metric's unit: whether some value is
zero or below does not change where the two arms are exchanged within pairs, so that the signed-rank
test stays exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quiclab import statistics
from quiclab.analysis.model import ArmResult, Metric, TrialResult
from quiclab.statistics import Interval

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class WithinPairs:
    """One number per block that both arms have, positive where the other arm is better; ±inf by failures."""

    blocks: tuple[int, ...]
    values: FloatArray
    """Natural logarithm of the ratio of the two values, or their difference in the metric's unit."""
    has_ratios: bool
    """Whether the values are logarithms of ratios: every known value is above zero."""
    lower_is_better: bool

    def pct(self, value: float) -> float:
        """Per cent of the baseline's value by which the other arm is better: a log ratio as it is told."""
        return statistics.advantage_pct(value, lower_is_better=self.lower_is_better)

    def pct_of(self, interval: Interval | None) -> Interval | None:
        """Interval of log ratios in per cent of the baseline's value."""
        return interval and Interval(self.pct(interval.low), self.pct(interval.high), interval.confidence)


def within_pairs(baseline: ArmResult, other: ArmResult, metric: Metric) -> WithinPairs:
    """Compare the values of each block that both have; a pair with an unknown value is left out."""
    sign = 1.0 if metric.lower_is_better else -1.0
    first, second = values_within_pairs(baseline, other, metric)
    log_first, log_second = statistics.logarithms(first), statistics.logarithms(second)
    has_ratios = log_first is not None and log_second is not None
    if log_first is not None and log_second is not None:
        first, second = log_first, log_second
    values = sign * statistics.differences_in_order(first, second)
    known = ~np.isnan(values)
    has_other = {trial.block for trial in other.trials}
    blocks = [trial.block for trial in baseline.trials if trial.block in has_other]
    kept = tuple(block for block, there in zip(blocks, known, strict=True) if there)
    return WithinPairs(kept, values[known], has_ratios, metric.lower_is_better)


def values_within_pairs(baseline: ArmResult, other: ArmResult, metric: Metric) -> tuple[FloatArray, FloatArray]:
    """Both arms' values in the blocks that both have, block by block."""
    by_block = {trial.block: trial for trial in other.trials}
    paired = [trial for trial in baseline.trials if trial.block in by_block]
    return values_of(paired, metric), values_of([by_block[trial.block] for trial in paired], metric)


def values_of(trials: Iterable[TrialResult], metric: Metric) -> FloatArray:
    """The metric of each trial; the worst there is where it failed, NaN where it is unknown."""
    trials = list(trials)
    values = np.array([math.nan if t.value is None else t.value for t in trials], dtype=np.float64)
    failed = np.array([trial.status == "failed" for trial in trials], dtype=np.bool_)
    return statistics.censored(values, failed, lower_is_better=metric.lower_is_better)
