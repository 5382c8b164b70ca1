# SPDX-License-Identifier: Apache-2.0
"""The answer to a question of one cell in plain sentences: which arm is faster, by how much and how sure, and because
of what."""

from __future__ import annotations

from quiclab.compare import comparison_words
from quiclab.compare.model import Comparison, Conclusion, Metric, StudyAnalysis, TailState
from quiclab.compare.not_judged import AGAIN, TOLERATE_MORE
from quiclab.model import number_text
from quiclab.why.explanation import DifferencePart, Explanation

_MOST = 3
"""Causes that are named."""


def verdict(comparison: Comparison, analysis: StudyAnalysis) -> str:
    """Say which arm is faster, by how much, and how sure that is."""
    metric, matters = analysis.metric, f"{analysis.matters_pct:g} %"
    base, other = comparison.baseline.arm, comparison.other.arm
    word = comparison_words.faster(metric) if comparison.leans > 0 else comparison_words.slower(metric)
    found = f"{comparison_words.difference_words(comparison, metric)} ({_sure(comparison, metric)})"
    medians = _medians(comparison, metric)
    match comparison.conclusion:
        case Conclusion.DIFFERENT:
            return f"{other} is {word} than {base}: {found}. {medians}"
        case Conclusion.SMALL:
            return f"{other} is {word} than {base}, but by less than {matters}: {found}. {medians}"
        case Conclusion.PERHAPS_SMALL:
            return f"{other} is {word} than {base}, perhaps by less than {matters}: {found}. {medians}"
        case Conclusion.ALIKE:
            return f"{other} and {base} are equivalent to within {matters} ({_sure(comparison, metric)}). {medians}"
        case Conclusion.MEDIAN_ALIKE:
            typical = f"{other} and {base} are equivalent to within {matters} in the typical pair"
            return f"{typical} ({_sure(comparison, metric)}). {medians}{_tail(comparison)}"
        case Conclusion.UNDECIDED:
            pairs = number_text.counted(comparison.pairs, "pair")
            lead = f" So far {other} takes {found}." if comparison.difference_pct is not None else ""
            verb = "does" if comparison.pairs == 1 else "do"
            return f"Inconclusive: {pairs} {verb} not tell which of {other} and {base} is faster.{lead}"
    kind = "Not judged" if comparison.conclusion is Conclusion.NOT_JUDGED else "Not measured"
    # The command that goes on stands below.
    why = comparison.why.replace(TOLERATE_MORE, "").replace(AGAIN, "").removeprefix("Disturbed: ").strip()
    measured = ""
    if comparison_words.measured_parts(comparison, metric):
        allowed = f"; the interval {comparison_words.ALLOWED_FOR}" if comparison.interval_pct is not None else ""
        measured = f" Measured: {other} takes {found}{allowed}."
    return f"{kind}: {why or 'no trial has a result.'}{measured}"


def because(explanation: Explanation | None) -> str:
    """Say because of what: the first causes that are shown, by what they make of the mean time."""
    if explanation is None or not explanation.waterfall.pairs:
        return "No cause is known: no pair has a breakdown of its time."
    if not explanation.judged:
        return "No cause is given, because the answer is not judged."
    shown = [each for each in explanation.parts if each.shown and not each.luck]
    luck = [each for each in explanation.parts if each.shown and each.luck]
    other = explanation.comparison.other.arm
    chance = f" By chance, as one arm lost more packets: {_spent(luck)}." if luck else ""
    if not shown:
        open_ = [each for each in explanation.parts if not each.shown]
        lead = f" Largest so far: {other} spends {_spent(open_)}." if open_ else ""
        pairs = number_text.counted(explanation.waterfall.pairs, "pair")
        return f"No cause is clear yet from {pairs}.{chance or lead}"
    forward = explanation.waterfall.total.difference_ms
    along = [each for each in shown if each.difference_ms * forward > 0]
    against = [each for each in shown if each.difference_ms * forward <= 0]
    told = ", but ".join(_spent(each) for each in (along, against) if each)
    lead = "Because on average" if explanation.comparison.conclusion.found else "On average"
    return f"{lead} {other} spends {told}.{chance}"


def _sure(comparison: Comparison, metric: Metric) -> str:
    """Interval with its level, and the pairs."""
    _, *sure = comparison_words.measured_parts(comparison, metric) or ("", f"{comparison.pairs} pairs")
    return ", ".join(sure)


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


def _spent(parts: list[DifferencePart]) -> str:
    """The first parts as what the other arm spends: `20.2 ms less on handshake round trips`."""
    told = [
        f"{number_text.quantity(abs(each.difference_ms), 'ms')} {'more' if each.difference_ms > 0 else 'less'} "
        f"on {each.name}"
        for each in parts[:_MOST]
    ]
    return number_text.listed(told)
