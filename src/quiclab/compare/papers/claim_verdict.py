# SPDX-License-Identifier: Apache-2.0
"""Rules by which a paper's claim agrees with what was measured or differs from it, and the words for them."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from types import MappingProxyType

from quiclab.compare.model import Comparison, Conclusion, Metric, Outcome
from quiclab.compare.papers.claim_numbers import Number
from quiclab.compare.papers.paper import Expected

SAME_PCT = 5.0
"""Points of an advantage in per cent within which nobody tells the paper's number from ours."""
CLEAR_PCT = 25.0
"""Per cent of the paper's number: a number that is farther from it than this clearly differs."""
FACTORS = {("ms", "us"): 1e3, ("ms", "s"): 1e-3}
"""Factor from the unit of the paper's number to that of the metric, where the two differ."""

RULES = (
    "A claim that an arm is lower or higher agrees where this page calls the arms different in that direction, and "
    "differs where it finds a difference in the other direction, by however little. A difference that is less than "
    "what matters here, or perhaps is, agrees with no such claim. A claim that there is no difference agrees where the "
    "whole interval is less than what matters, whether a difference was found or not, as one that was not found may "
    "still be there; it differs where the arms are called different. A claim that an arm is not lower, or not higher, "
    "differs where it is called different in that direction, and agrees where the interval leaves no such difference "
    "that matters. A range, and a number for which a margin was declared, agree where our whole interval is within, "
    "and differ where none of it is. Without a margin a number differs where our interval "
    "excludes it, to half of its last printed digit. It agrees where our interval holds it and is narrow enough to "
    f"exclude all that is clearly another: more than {CLEAR_PCT:g} % of it away, of an advantage in per cent more than "
    f"{SAME_PCT:g} points at the least, and no advantage at all. So a number that is clearly another passes for the "
    "paper's only where our interval misses it. The paper's own spread is not counted. Everything else is "
    "inconclusive, which is no agreement. What the laboratory disturbed by more than the answer bears is not judged. "
    "A claim that two metrics go together more strongly in one arm agrees where the strengths of Spearman's rank "
    "correlation, whatever their signs, differ significantly in that direction, and differs where they do in the "
    "other. So does a claim that one arm varies more, by coefficients of variation and Wilcoxon's signed-rank test "
    "of how far logarithms are from the median of their arm. A claim about a count of cells agrees where each number "
    "that ours may be, whatever the open cells are, is the paper's share of them, and differs where none is. "
    "A claim about several cells agrees where every cell that can be tested agrees, and differs where one does.",
    "p is corrected as in the map where the map has the comparison; all others of this table are one family of their "
    "own. The test is of pairs whatever the paper made of its runs. Of a direction, and of an advantage of medians, "
    "ours is the difference within pairs (Hodges–Lehmann of the log ratios) in per cent of the first arm's value. "
    "No interval of a mean is exact: of very skewed times (lognormal, sigma 1) one of nominal 95 % holds the mean of "
    "92 to 95 % of samples of 20 to 40 values, of 91 % of 10, and of 82 % of 5.",
)


class Verdict(enum.StrEnum):
    """Verdict of our numbers on a claim."""

    AGREES = "agrees"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"
    NOT_JUDGED = "not judged"
    """The laboratory disturbed its trials by more than the answer bears, or left too few of them."""
    NOT_TESTABLE = "not testable here"


_PLURAL = {Verdict.AGREES: "agree", Verdict.DIFFERS: "differ"}


def counted(verdict: Verdict, count: int) -> str:
    """`1 agrees`, `2 agree`."""
    return f"{count} {verdict.value if count == 1 else _PLURAL.get(verdict, verdict.value)}"


def told_of(verdict: Verdict, count: int) -> str:
    """`1 agrees`, `2 are inconclusive`: with a verb, as in a sentence."""
    is_verb = verdict in (Verdict.AGREES, Verdict.DIFFERS)
    return counted(verdict, count) if is_verb else f"{count} {'is' if count == 1 else 'are'} {verdict.value}"


def direction_verdict(expected: str, found: Comparison, metric: Metric, matters_pct: float) -> tuple[Verdict, str]:
    """Return the verdict on a direction in one cell, with the reason where it does not agree.

    `expected` is what the paper says of the other arm beside the baseline.
    """
    if found.outcome is Outcome.NOT_MEASURED:
        return Verdict.NOT_TESTABLE, found.why
    if expected.startswith(_NOT):
        return _not(expected.removeprefix(_NOT), found, metric, matters_pct)
    if found.conclusion is Conclusion.NOT_JUDGED:
        return Verdict.NOT_JUDGED, found.why
    if found.conclusion is Conclusion.UNDECIDED:
        why = f"No difference was found, but {matters_pct:g} % or more is not excluded."
        return Verdict.INCONCLUSIVE, found.why or why
    if found.conclusion in _ALIKE:
        return _alike(expected, "No difference was found, and", matters_pct)
    direction = "lower" if (found.outcome is Outcome.OTHER_BETTER) == metric.lower_is_better else "higher"
    if found.conclusion is Conclusion.SMALL and direction != _OPPOSITE.get(expected):
        return _alike(expected, f"Significantly {direction}, but", matters_pct)
    if found.conclusion is Conclusion.PERHAPS_SMALL and direction != _OPPOSITE.get(expected):
        return Verdict.INCONCLUSIVE, f"Significantly {direction}, but unclear whether by {matters_pct:g} %."
    if direction == expected:
        return Verdict.AGREES, ""
    return Verdict.DIFFERS, f"Significantly {direction}."


_NOT = "not "


def _not(direction: str, found: Comparison, metric: Metric, matters_pct: float) -> tuple[Verdict, str]:
    """Return the verdict on a claim that one arm did not outperform the other, or was not worse: against it is a
    difference in that direction, for it an interval without one that matters."""
    better = (direction == "lower") == metric.lower_is_better
    against = Outcome.OTHER_BETTER if better else Outcome.BASELINE_BETTER
    if found.conclusion is Conclusion.DIFFERENT:
        agrees = found.outcome is not against
        return (Verdict.AGREES, "") if agrees else (Verdict.DIFFERS, f"Significantly {direction}.")
    if found.conclusion in (*_ALIKE, Conclusion.SMALL):
        return Verdict.AGREES, ""
    interval = found.interval_pct
    if interval is not None and (interval.low > -matters_pct if direction == "lower" else interval.high < matters_pct):
        return Verdict.AGREES, ""
    open_for = Verdict.NOT_JUDGED if found.conclusion is Conclusion.NOT_JUDGED else Verdict.INCONCLUSIVE
    return open_for, found.why or f"That it is {direction} by {matters_pct:g} % or more is not excluded."


_ALIKE = (Conclusion.ALIKE, Conclusion.MEDIAN_ALIKE)
_OPPOSITE = MappingProxyType({"lower": "higher", "higher": "lower"})


def _alike(expected: str, found: str, matters_pct: float) -> tuple[Verdict, str]:
    """Return the verdict where the whole interval is less than what matters: whether that is what the paper means by a
    direction, nobody knows."""
    if expected == "same":
        return Verdict.AGREES, ""
    return Verdict.INCONCLUSIVE, f"{found} the whole interval is less than {matters_pct:g} %."


def number_verdict(expected: Expected, ours: Number) -> tuple[Verdict, str]:
    """Return the verdict on a number in one cell: whether our interval meets what the paper prints."""
    if ours.obstacle:
        return Verdict.NOT_TESTABLE, ours.obstacle
    factor = 1.0 if expected.unit == ours.unit else FACTORS.get((expected.unit, ours.unit))
    if factor is None:
        return Verdict.NOT_TESTABLE, f"The paper's number is in {expected.unit}, ours in {ours.unit or 'no unit'}."
    interval, low, high = ours.interval, expected.low * factor, expected.high * factor
    if interval is None:
        return Verdict.INCONCLUSIVE, "Too few values for an interval, or too many failures."
    if interval.low > high or interval.high < low:
        what = "range" if expected.is_range else "number and its margin" if expected.margin else "number"
        return Verdict.DIFFERS, f"Our interval excludes the paper's {what}."
    if expected.margin or expected.is_range:
        within = low <= interval.low and interval.high <= high
        what = "range" if expected.is_range else "margin"
        return (Verdict.AGREES, "") if within else (Verdict.INCONCLUSIVE, f"Our interval reaches beyond the {what}.")
    if not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        return Verdict.INCONCLUSIVE, "Our values do not bound the interval."
    if ours.advantage and interval.low <= 0 <= interval.high:
        return Verdict.INCONCLUSIVE, "Our interval holds the paper's number, and zero too."
    clear = max(CLEAR_PCT / 100 * abs(low + high) / 2, SAME_PCT if ours.advantage else 0.0)
    if interval.low < low - clear or interval.high > high + clear:
        return Verdict.INCONCLUSIVE, "Our interval holds the paper's number, and clearly different ones too."
    return Verdict.AGREES, ""


def claim_verdict(cells: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a whole claim: cells that cannot be tested are counted beside it, they do not decide; what
    is left open by cells that were not judged alone is not judged."""
    tested = {verdict for verdict in cells if verdict is not Verdict.NOT_TESTABLE}
    if not tested:
        return Verdict.NOT_TESTABLE
    if Verdict.DIFFERS in tested:
        return Verdict.DIFFERS
    if Verdict.INCONCLUSIVE in tested:
        return Verdict.INCONCLUSIVE
    return Verdict.NOT_JUDGED if Verdict.NOT_JUDGED in tested else Verdict.AGREES
