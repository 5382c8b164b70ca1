# SPDX-License-Identifier: Apache-2.0
"""The answer to a question of one cell in plain sentences: which arm is faster, by how much and how sure, and because
of what."""

from __future__ import annotations

import math

from quiclab.compare import comparison_words
from quiclab.compare.model import Comparison, Conclusion, Metric, StudyAnalysis, TailState
from quiclab.model import number_text
from quiclab.report.words.explanation_text import clause
from quiclab.why.explanation import DifferencePart, Explanation

_MOST = 3
"""Causes that are named."""


def verdict(comparison: Comparison, analysis: StudyAnalysis) -> str:
    """Say which arm is faster, by how much, and how sure that is."""
    metric, matters = analysis.metric, f"{analysis.matters_pct:g} %"
    base, other = comparison.baseline.arm, comparison.other.arm
    word = comparison_words.faster(metric) if comparison.leans > 0 else comparison_words.slower(metric)
    found = f"{comparison_words.advantage_words(comparison, metric)} ({_sure(comparison, metric)})"
    medians = _medians(comparison, metric)
    match comparison.conclusion:
        case Conclusion.DIFFERENT:
            return f"{other} is {word} than {base}: {found}. {medians}"
        case Conclusion.SMALL:
            return f"{other} is {word} than {base}, but by less than {matters}: {found}. {medians}"
        case Conclusion.PERHAPS_SMALL:
            return f"{other} is {word} than {base}, perhaps by less than {matters}: {found}. {medians}"
        case Conclusion.ALIKE:
            return f"{other} and {base} are equivalent to within {matters}: {found}. {medians}"
        case Conclusion.MEDIAN_ALIKE:
            typical = f"{other} and {base} are equivalent to within {matters} in the typical pair"
            return f"{typical}: {found}. {medians}{_tail(comparison)}"
        case Conclusion.UNDECIDED:
            pairs = number_text.counted(comparison.pairs, "pair")
            lead = f" So far {other} takes {found}." if comparison.difference_pct is not None else ""
            verb = "does" if comparison.pairs == 1 else "do"
            return f"Inconclusive: {pairs} {verb} not tell which of {other} and {base} is faster.{lead}"
    kind = "Not judged" if comparison.conclusion is Conclusion.NOT_JUDGED else "Not measured"
    return f"{kind}: {comparison.why or 'no trial has a result'}"


def because(explanation: Explanation | None) -> str:
    """Say because of what: the first causes that are shown, by what they make of the mean time."""
    if explanation is None or not explanation.waterfall.pairs:
        return "Because of what is not known: no pair has a breakdown of its time."
    if not explanation.judged:
        return "Because of what is not said of a cell that is not judged."
    shown = [each for each in explanation.parts if each.shown and not each.luck]
    luck = [each for each in explanation.parts if each.shown and each.luck]
    chance = f" Chance, as one arm lost more packets: {_listed(luck)}." if luck else ""
    if not shown:
        open_ = [each for each in explanation.parts if not each.shown]
        lead = f" Largest on average: {_listed(open_)}." if open_ else ""
        pairs = number_text.counted(explanation.waterfall.pairs, "pair")
        return f"Because of what is not clear yet: {pairs} show no cause.{chance or lead}"
    total_ms = explanation.waterfall.total.difference_ms
    along = [each for each in shown if each.difference_ms * total_ms > 0]
    against = [each for each in shown if each.difference_ms * total_ms <= 0]
    other = explanation.comparison.other.arm
    if not along:
        return f"Causes that are shown, as changes of the mean time of {other}: {_listed(against)}.{chance}"
    rest = f"; against it: {_listed(against)}" if against else ""
    return f"Because of {_listed(along)}{rest}, as changes of the mean time of {other}.{chance}"


def _sure(comparison: Comparison, metric: Metric) -> str:
    """Interval with its level, and the pairs."""
    interval = comparison.interval_pct
    pairs = number_text.counted(comparison.pairs, "pair")
    if interval is None:
        return pairs
    # The words before it have no sign: neither has the interval where it has one sign only.
    low, high = (interval.low, interval.high) if comparison.leans > 0 else (-interval.high, -interval.low)
    level = number_text.level(interval.confidence)
    if low < 0:
        return f"{number_text.interval_text(interval)} %, {level} sure, + is {comparison_words.faster(metric)}, {pairs}"
    ends = [number_text.percent(each, signed=False) for each in (low, high)]
    span = f"at least {ends[0]}" if math.isinf(high) else f"{ends[0].removesuffix(' %')} to {ends[1]}"
    return f"{span}, {level} sure, {pairs}"


def _medians(comparison: Comparison, metric: Metric) -> str:
    other, base = (
        f"{arm.arm} {number_text.quantity(arm.median, metric.unit)}" for arm in (comparison.other, comparison.baseline)
    )
    return f"Medians: {other}, {base}."


def _tail(comparison: Comparison) -> str:
    """Say what is known of the slowest trials, where the typical pair is alike."""
    told = {
        TailState.DIFFERENT: "The slowest tenth of the trials differs.",
        TailState.UNDECIDED: "Of the slowest tenth of the trials this is not clear.",
        TailState.NOT_KNOWN: "Of the slowest tenth of the trials it is not known.",
    }
    return f" {told[comparison.tail.state]}" if comparison.tail is not None and comparison.tail.state in told else ""


def _listed(parts: list[DifferencePart]) -> str:
    return number_text.listed([clause(each) for each in parts[:_MOST]])
