# SPDX-License-Identifier: Apache-2.0
"""Comparisons, arms and cells as text, the same in the terminal, on the page and in figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from quiclab.compare.model import Alone, ArmResult, Comparison, Conclusion, Metric, StudyAnalysis, Tail, TailState
from quiclab.compare.statistics import pairs_needed, smallest_p
from quiclab.model.number_text import (
    counted,
    ends_text,
    interval_text,
    level,
    level_text,
    listed,
    percent,
    quantity,
)

_TIMES = frozenset({"ms", "us", "s"})


def arms_compared(baselines: Mapping[str, str]) -> str:
    """Return which arms are compared with which baseline: `a and b against h2`, `h3-x against h2-x and h3-y against
    h2-y`."""
    arms: dict[str, list[str]] = {}
    for arm, baseline in baselines.items():
        arms.setdefault(baseline, []).append(arm)
    return listed([f"{listed(of_baseline)} against {baseline}" for baseline, of_baseline in arms.items()])


def estimate_text(comparison: Comparison, metric: Metric) -> str:
    """Return the difference within pairs, found or not: `−12.0 %`, `4 more` where a value of zero has no ratio, `h2
    fails` where failures own it; "" where nothing is known."""
    if comparison.difference_pct is not None:
        return percent(comparison.difference_pct)
    if comparison.difference is not None:
        return _in_unit(comparison.difference, metric)
    failed = comparison.baseline.failures, comparison.other.failures
    return f"{_failing(comparison)} fails" if comparison.leans and failed[0] != failed[1] else ""


def _in_unit(difference: float, metric: Metric) -> str:
    """A difference as what the other arm has more or less of."""
    if difference == 0:
        return quantity(0.0, metric.unit)
    return f"{quantity(abs(difference), metric.unit)} {'more' if difference > 0 else 'less'}"


def estimate_interval(comparison: Comparison, metric: Metric, nominal: float) -> str:
    """Return the interval of the difference within pairs, in per cent or in the metric's unit; where too few pairs
    attain that level, the level that they attain at most."""
    attained = 1 - smallest_p(comparison.pairs)
    if comparison.interval_pct is not None:
        return interval_text(comparison.interval_pct, nominal, " %")
    if comparison.interval is not None:
        ends = ends_text(comparison.interval.low, comparison.interval.high, partial(_signed, unit=metric.unit))
        return f"{ends}{level_text(comparison.interval, nominal)}"
    return f"none (at most {level(attained)})" if 0 < attained < nominal else ""


def _signed(value: float, unit: str) -> str:
    return ("+" if value > 0 else "") + quantity(value, unit)


def difference_words(comparison: Comparison, metric: Metric) -> str:
    """Return what the other arm takes or has: `12.0 % less time`, `3.1 % more`, `4 more`; `h2 fails`."""
    found = comparison.difference_pct
    return estimate_text(comparison, metric) if found is None else percent_words(found, metric)


def span_words(comparison: Comparison, metric: Metric) -> str:
    """Return the interval of a difference in per cent as the words of the difference have it, without a sign where it
    has one sign only: `20.1 to 28.0 %`, `at least 5.0 %`, `−2.4 … +0.3 %, − is faster`; "" where there is none."""
    interval = comparison.interval_pct
    if interval is None:
        return ""
    more = (comparison.leans > 0) != metric.lower_is_better
    low, high = (interval.low, interval.high) if more else (-interval.high, -interval.low)
    if low < 0:
        return f"{interval_text(interval, unit=' %')}, {better_sign(metric)} is {faster(metric)}"
    ends = [percent(each, signed=False) for each in (low, high)]
    return f"at least {ends[0]}" if math.isinf(high) else f"{ends[0].removesuffix(' %')} to {ends[1]}"


def measured_parts(comparison: Comparison, metric: Metric) -> tuple[str, ...]:
    """Return the difference as it was measured, whatever was concluded: its size, its interval with the level, and the
    pairs: `9.0 % less time`, `−21.1 … +12.1 %, − is faster`, `95 % confidence`, `37 pairs`; empty where nothing is
    known of it."""
    found, interval = difference_words(comparison, metric), comparison.interval_pct or comparison.interval
    if not found:
        return ()
    pairs = counted(comparison.pairs, "pair")
    if interval is None:
        return found, pairs
    span = span_words(comparison, metric) or estimate_interval(comparison, metric, interval.confidence)
    return found, span, f"{level(interval.confidence)} confidence", pairs


ALLOWED_FOR = "allows for what this machine added"
"""Predicate of an interval: it holds whatever the machine did to the trials, as that of a cell that is not judged."""


def better_sign(metric: Metric) -> str:
    """Sign of a difference by which the other arm is better: `−` of what is better low, such as a time."""
    return "−" if metric.lower_is_better else "+"


def difference_heading(metric: Metric) -> str:
    """Return the heading of differences in the typical pair, with what their sign means: `difference, − is faster`."""
    return f"difference, {better_sign(metric)} is {faster(metric)}"


def percent_words(difference_pct: float, metric: Metric) -> str:
    """Return a difference in per cent as what the arm takes or has: `12.0 % less time`, `3.1 % more`."""
    what = " time" if metric.unit in _TIMES else ""
    return f"{percent(abs(difference_pct), signed=False)} {'more' if difference_pct > 0 else 'less'}{what}"


def faster(metric: Metric) -> str:
    """The word for better: times are faster, other quantities better."""
    return "faster" if metric.unit in _TIMES else "better"


def slower(metric: Metric) -> str:
    """The word for worse: times are slower, other quantities worse."""
    return "slower" if metric.unit in _TIMES else "worse"


def difference_text(comparison: Comparison, metric: Metric) -> str:
    """Text of a cell of the map: the difference, marked if it does not matter; with the conclusion in a word where no
    difference was found."""
    conclusion = comparison.conclusion
    if not conclusion.found:
        word = _SHORT.get(conclusion, conclusion.text)
        return ", ".join(filter(None, (estimate_text(comparison, metric), word)))
    found = estimate_text(comparison, metric) or f"{_failing(comparison)} fails"
    return found + _SMALL.get(conclusion, "")


_SHORT = MappingProxyType({Conclusion.NOT_MEASURED: "no data"})
_SMALL = MappingProxyType({Conclusion.SMALL: ", small", Conclusion.PERHAPS_SMALL: ", small?"})
"""Marks of a difference that does not matter, or perhaps not."""


def conclusion_words(comparison: Comparison, matters_pct: float) -> str:
    """Return the conclusion with the size that matters: `equivalent to within 2 %`."""
    matters = f"{matters_pct:g} %"
    words = {
        Conclusion.SMALL: f"different, but by less than {matters}",
        Conclusion.PERHAPS_SMALL: f"different, unclear whether by {matters}",
        Conclusion.ALIKE: f"equivalent to within {matters}",
        Conclusion.MEDIAN_ALIKE: f"the median is equivalent to within {matters}",
    }
    return words.get(comparison.conclusion, comparison.conclusion.text)


LEAST_TOLD_PCT = 0.1
"""Points of per cent from which on it is told how much of a difference may be the machine's."""


def least_pairs_words(alpha: float) -> str:
    """Return the fewest pairs that a comparison takes at `alpha`, and that this holds for one alone: a plan counts
    those that several take."""
    return f"{pairs_needed(alpha, 1)} are the least for one comparison, before any correction for several"


def disturbance_words(disturbance_pct: float) -> str:
    """Return how much of a difference may be the laboratory's: `up to 0.4 percentage points of the difference may
    be this machine`; "" where that is too little to be told."""
    if disturbance_pct < LEAST_TOLD_PCT:
        return ""
    points = percent(disturbance_pct, signed=False).removesuffix(" %")
    return f"up to {points} percentage points of the difference may be this machine"


def pairs_words(comparison: Comparison) -> str:
    """Return how many pairs count: `7 pairs`, or `5 of 7 pairs` where blocks were lost."""
    if not comparison.lost:
        return f"{comparison.pairs} pairs"
    return f"{comparison.pairs} of {comparison.pairs + comparison.lost} pairs"


def tail_words(tail: Tail | None, metric: Metric) -> str:
    """Return what is known of the slow tail: `p90 15.2 % more time (+9.1 … +21.0 %)`; "" where it was not asked."""
    if tail is None:
        return ""
    if tail.state is TailState.NOT_KNOWN:
        return f"not known (takes {tail.pairs_needed} pairs)"
    if tail.interval_pct is None:
        return tail.state.text
    shown = "a failure" if tail.difference_pct is None else percent_words(tail.difference_pct, metric)
    quantile = "p90" if metric.lower_is_better else "p10"
    return f"{tail.state.text}: {quantile} {shown} ({interval_text(tail.interval_pct, unit=' %')})"


def _failing(comparison: Comparison) -> str:
    return (comparison.baseline if comparison.leans > 0 else comparison.other).arm


def interval_levels(analysis: StudyAnalysis) -> str:
    """Return at what level the intervals are, and why those of selected cells are wider, in a sentence."""
    if analysis.sequential:
        return f"Intervals: {level(analysis.confidence)} each, so that all of them hold together, at any time."
    found = (Conclusion.DIFFERENT, Conclusion.PERHAPS_SMALL)
    less = (Conclusion.SMALL, Conclusion.ALIKE, Conclusion.MEDIAN_ALIKE)
    told = [
        f"{' to '.join(dict.fromkeys(map(level, (levels[0], levels[-1]))))} {words}"
        for words, of in (
            ("for cells called different", found),
            (f"for those within {analysis.matters_pct:g} %", less),
        )
        if (levels := sorted(c.confidence for c in analysis.comparisons if c.conclusion in of))
        and levels[-1] != analysis.confidence
    ]
    usual = f"Intervals: at least {level(analysis.confidence)}"
    if not told:
        return f"{usual}."
    return f"{usual}, wider where a result was picked out of all cells: {listed(told)} (Benjamini–Yekutieli 2005)."


def cell_name(comparison: Comparison | Alone, analysis: StudyAnalysis) -> str:
    """The cell by the names that the figures use: `1 % loss, 5 MB`."""
    path = analysis.path_titles.get(comparison.path, comparison.path)
    return f"{path}, {analysis.workload_titles.get(comparison.workload, comparison.workload)}"


def whys(analysis: StudyAnalysis) -> list[str]:
    """Reasons why cells have no answer, the cells of one reason together."""
    places: dict[str, list[str]] = {}
    for comparison in analysis.comparisons:
        if comparison.why:
            places.setdefault(comparison.why, []).append(cell_name(comparison, analysis))
    every = len(analysis.comparisons)
    return [placed(why, "every cell" if len(at) == every > 1 else "; ".join(at)) for why, at in places.items()]


def placed(why: str, cells: str) -> str:
    """Return a reason with its cells behind its head: `Too few pairs (1 MB): with 5, …`."""
    head, colon, rest = why.partition(":")
    return f"{head} ({cells}){colon}{rest}" if colon else f"{why} ({cells})"


def trouble(arm: ArmResult) -> str:
    """Failures, unproven, invalid and damaged trials and unknown values of an arm in a cell; "" where there is none."""
    counts = (
        (arm.failures, "failed"),
        (arm.unproven, "unproven"),
        (arm.voids, "invalid"),
        (arm.damaged, "damaged"),
        (arm.unmeasured, "unmeasured"),
    )
    return ", ".join(f"{count} {word}" for count, word in counts if count)
