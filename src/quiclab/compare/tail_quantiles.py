# SPDX-License-Identifier: Apache-2.0
"""Comparison of two arms in their slow tail: a transfer that stalls one time in five has an ordinary median."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.between_ends import Between, widened
from quiclab.compare.model import ArmResult, Comparison, Conclusion, Metric, Tail, TailState
from quiclab.compare.paired import MEASURED, Ends, FloatArray, values_within_pairs
from quiclab.compare.statistics import Interval, Shift
from quiclab.model import number_text

SHARE = 0.9
"""The tail begins where this share of trials was no worse."""
CONFIDENCE = 0.95


def tail_of(baseline: ArmResult, other: ArmResult, metric: Metric, matters_pct: float) -> Tail:
    """Compare both arms' p90 (p10 of what is better high) in the blocks that both have, by their ratio."""
    needed = statistics.least_for_tail(SHARE, CONFIDENCE)
    first, second = values_within_pairs(baseline, other, metric)
    known = ~(np.isnan(first) | np.isnan(second))
    sign = 1.0 if metric.lower_is_better else -1.0

    def slow(ends: Ends) -> list[FloatArray]:
        logs = [statistics.logarithms(each[known]) for each in values_within_pairs(baseline, other, metric, ends)]
        return [sign * each for each in logs if each is not None]

    measured = slow(MEASURED)
    if len(measured) < 2:  # no per cent of nothing, but nothing is like nothing
        nothing = known.sum() >= needed and not first[known].any() and not second[known].any()
        return Tail(TailState.ALIKE if nothing else TailState.NOT_KNOWN, None, None, needed)
    sample = Between(measured, measured, measured)
    if baseline.is_disturbed or other.is_disturbed:
        ends = slow(("least", "most")), slow(("most", "least"))
        sample = Between(measured, *(ends if metric.lower_is_better else reversed(ends)))
    found = widened(sample, _tail_difference) if len(measured[0]) >= needed else None
    if found is None or found.interval is None:
        return Tail(TailState.NOT_KNOWN, None, None, needed)
    logs = found.interval.scaled(-sign)  # of differences: below zero where the other arm has less
    interval = Interval(statistics.per_cent(logs.low), statistics.per_cent(logs.high), logs.confidence)
    estimate = statistics.per_cent(-sign * found.estimate)
    return Tail(_state(interval, matters_pct), estimate if math.isfinite(estimate) else None, interval, needed)


def _tail_difference(slow: list[FloatArray]) -> Shift:
    found = statistics.tail_difference(slow[0], slow[1], SHARE, CONFIDENCE)
    assert found is not None, "there are enough pairs"
    return found


def tail_notes(main: Sequence[Comparison], matters_pct: float) -> tuple[str, ...]:
    """Return what must be said at the answer where it is about the median only."""
    said = (Conclusion.SMALL, Conclusion.MEDIAN_ALIKE)
    unknown = [c for c in main if c.conclusion in said and c.tail and c.tail.state is TailState.NOT_KNOWN]
    few = [c for c in unknown if c.tail is not None and c.pairs < c.tail.pairs_needed]
    if not few or few[0].tail is None:
        return ()
    pairs = number_text.counted(max(each.pairs for each in few), "pair")
    return (
        f"The slowest trials (p90) could not be compared: that takes {few[0].tail.pairs_needed} pairs, and there are "
        f"{pairs}. So where medians are equivalent or differ by less than {matters_pct:g} %, an arm may still stall "
        "now and then.",
    )


def _state(interval: Interval, matters_pct: float) -> TailState:
    if -matters_pct < interval.low and interval.high < matters_pct:
        return TailState.ALIKE
    return TailState.DIFFERENT if interval.low > 0 or interval.high < 0 else TailState.UNDECIDED
