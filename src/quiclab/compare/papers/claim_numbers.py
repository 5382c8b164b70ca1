# SPDX-License-Identifier: Apache-2.0
"""Our number for a paper's: of one arm its mean or median, of two the second one's advantage, or how much more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.cell_comparison import compare
from quiclab.compare.model import ArmResult, Metric
from quiclab.compare.paired import MEASURED, End, Ends, values_of, values_within_pairs, within_pairs
from quiclab.compare.statistics import Interval


@dataclass(frozen=True)
class Number:
    """Ours, with what it rests on."""

    estimate: float | None
    interval: Interval | None
    unit: str
    count: int
    """Trials of one arm, pairs of two."""
    obstacle: str = ""
    """Reason why there can be no such number, in a sentence."""
    advantage: bool = False
    """True if it is the second arm's difference from the first, in per cent of the first one's number."""


def number_of(arms: Sequence[ArmResult], metric: Metric, statistic: str, alpha: float) -> Number:
    """Return our number for one or two arms; `statistic` is what the paper made of its runs, "mean" or "median"."""
    if len(arms) == 1:
        return _statistic_of_arm(arms[0], metric, statistic, alpha)
    first, second = arms
    pairs = within_pairs(first, second, metric)
    if statistic == "mean" and first.mean == 0:
        why = f"The mean of {first.arm} is 0: no advantage in per cent of that."
        return Number(None, None, "%", int(pairs.values.size), why)
    if statistic == "median" and not pairs.has_ratios:
        why = "A value of zero has no ratio: no advantage in per cent."
        return Number(None, None, "%", int(pairs.values.size), why)
    return (
        _difference_of_means(first, second, metric, alpha)
        if statistic == "mean"
        else _difference_in_pairs(first, second, metric, alpha)
    )


def difference_of(arms: Sequence[ArmResult], metric: Metric, statistic: str, alpha: float) -> Number:
    """Return how much more the second of two arms has than the first, in the unit of the metric."""

    def typical(at: Ends) -> tuple[float | None, Interval | None, int]:
        first, second = values_within_pairs(arms[0], arms[1], metric, at)
        differences = statistics.paired_differences(second, first)
        if statistic == "mean":
            mean = statistics.mean(differences, 1 - alpha)
            return (mean.estimate, mean.interval, differences.size) if mean else (None, None, differences.size)
        shift = statistics.hodges_lehmann(differences, 1 - alpha)
        return shift.estimate if differences.size else None, shift.interval, differences.size

    estimate, interval, count = typical(MEASURED)
    interval = _hull(interval, typical(("most", "least"))[1], typical(("least", "most"))[1])
    return Number(estimate, interval, metric.unit, count)


def _hull(measured: Interval | None, *at_ends: Interval | None) -> Interval | None:
    """The interval that reaches as far as any of these; None where the values as measured have none."""
    known = [each for each in (measured, *at_ends) if each is not None]
    if measured is None:
        return None
    return Interval(min(each.low for each in known), max(each.high for each in known), measured.confidence)


def _statistic_of_arm(arm: ArmResult, metric: Metric, statistic: str, alpha: float) -> Number:
    """The mean with an interval that no sample makes exact, or the median with the exact one."""
    ends: tuple[End, ...] = ("measured", "least", "most")
    samples = [values_of(arm.trials, metric, end) for end in ends]
    count = int((~np.isnan(samples[0])).sum())
    if statistic == "mean":
        means = [statistics.mean(values, 1 - alpha) for values in samples]
        interval = _hull(*(mean.interval if mean else None for mean in means))
        return Number(means[0].estimate if means[0] else None, interval, metric.unit, count)
    sign = 1.0 if metric.lower_is_better else -1.0  # quantiles take failures for the largest
    found = [statistics.quantile(sign * values, 0.5, 1 - alpha) for values in samples]
    return Number(
        arm.median, _hull(*(each.interval.scaled(sign) if each else None for each in found)), metric.unit, count
    )


def _difference_of_means(first: ArmResult, second: ArmResult, metric: Metric, alpha: float) -> Number:
    """Return the difference of the means, in per cent of the first one's: positive where the second is better."""
    at_ends: tuple[Ends, ...] = (MEASURED, ("most", "least"), ("least", "most"))
    ratio, *others = (
        statistics.ratio_of_means(*values_within_pairs(first, second, metric, at), 1 - alpha) for at in at_ends
    )
    if ratio is None:
        return Number(None, None, "%", int(within_pairs(first, second, metric).values.size), advantage=True)
    to_pct = -100.0 if metric.lower_is_better else 100.0
    widest = _hull(ratio.interval, *(each.interval if each else None for each in others))
    beyond = widest and Interval(widest.low - 1, widest.high - 1, widest.confidence)
    interval = beyond.scaled(to_pct) if beyond else None
    return Number(to_pct * (ratio.estimate - 1), interval, "%", ratio.count, advantage=True)


def _difference_in_pairs(first: ArmResult, second: ArmResult, metric: Metric, alpha: float) -> Number:
    """Return the advantage in the typical pair, in per cent of the first one's value."""
    found, sign = compare(("", "main", "", ""), first, second, metric, alpha), -1.0 if metric.lower_is_better else 1.0
    advantage = None if found.difference_pct is None else sign * found.difference_pct
    interval = found.interval_pct and found.interval_pct.scaled(sign)
    return Number(advantage, interval, "%", found.pairs, advantage=True)
