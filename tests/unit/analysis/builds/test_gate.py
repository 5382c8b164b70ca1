# SPDX-License-Identifier: Apache-2.0
"""The bound of a gate, and what it makes of a cell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quiclab.analysis.builds.change import Change
from quiclab.analysis.builds.gate import Verdict, exit_verdict, judge, limit_of, parse_bound
from quiclab.analysis.compare import arm_result
from quiclab.analysis.model import Metric, Outcome, TrialResult
from quiclab.errors import SpecError
from quiclab.statistics import Interval

TTLB = Metric("ttlb_ms", "time to last byte", "ms", lower_is_better=True)
OLD = arm_result("h3", [TrialResult("0", 0, "verified", 200.0, "")], 1, 0, TTLB)


def cell(low: float, high: float, outcome: Outcome = Outcome.BASELINE_BETTER) -> Change:
    """A cell whose interval in ms is this; OLD's median is 200 ms."""
    return Change(TTLB, "w", "p", "h3", OLD, OLD, 9, (low + high) / 2, Interval(low, high, 0.95), 0.001, 0.001, outcome)


def verdict(bound: str, found: Change) -> Verdict:
    """Of one cell."""
    return judge([(parse_bound(bound), "ttlb_ms")], [found])[0].verdict


@pytest.mark.parametrize(
    ("bound", "low", "high", "expected"),
    [
        ("ttlb > +3%", 6.1, 30, Verdict.FAILED),
        ("ttlb > +3%", 5.9, 300, Verdict.PASSED),
        ("ttlb > +6ms", 6.1, 30, Verdict.FAILED),
        ("ttlb > +6 ms", 6.0, 30, Verdict.PASSED),
        ("ttlb > +0.006s", 6.1, 30, Verdict.FAILED),
        ("ttlb < -3%", -30, -6.1, Verdict.FAILED),
        ("ttlb < -3%", -30, -5.9, Verdict.PASSED),
        ("ttlb > +3%", -30, -6.1, Verdict.PASSED),
        ("ttlb > +3%", 7, float("inf"), Verdict.FAILED),
    ],
)
def test_the_near_end_decides(bound: str, low: float, high: float, expected: Verdict) -> None:
    """Not the estimate: a wide interval that begins before the bound passes."""
    assert verdict(bound, cell(low, high)) is expected


def test_what_is_not_significant_never_fails() -> None:
    """An interval without correction may lie beyond the bound while the corrected test does not reject."""
    assert verdict("ttlb > +3%", cell(7, 30, Outcome.NOT_SIGNIFICANT)) is Verdict.PASSED


@pytest.mark.parametrize("outcome", [Outcome.UNDECIDED, Outcome.NOT_MEASURED])
def test_what_has_no_answer_is_not_judged(outcome: Outcome) -> None:
    """Neither passed nor failed, and a gate of nothing else has not passed."""
    found = judge([(parse_bound("ttlb > +3%"), "ttlb_ms")], [replace(cell(7, 30, outcome), why="Too slow.")])
    assert found[0].verdict is Verdict.NOT_JUDGED
    assert found[0].reason == "Too slow."
    assert exit_verdict(found) is Verdict.NOT_JUDGED
    assert exit_verdict([*found, *judge([(parse_bound("ttlb > +3%"), "ttlb_ms")], [cell(-1, 1)])]) is Verdict.PASSED


def test_a_median_of_zero_has_no_per_cent() -> None:
    """A bound in the metric's unit judges it all the same."""
    zero = arm_result("h3", [TrialResult("0", 0, "verified", 0.0, "")], 1, 0, TTLB)
    found = replace(cell(7, 30), old=zero)
    assert verdict("ttlb > +3%", found) is Verdict.NOT_JUDGED
    assert verdict("ttlb > +3ms", found) is Verdict.FAILED


def test_a_pass_says_what_it_does_not_exclude() -> None:
    """The far end beyond the bound: more blocks would tell."""
    bound = [(parse_bound("ttlb > +3%"), "ttlb_ms")]
    assert [each.open_ended for each in judge(bound, [cell(-1, 7), cell(-1, 5)])] == [True, False]


@pytest.mark.parametrize(
    "text",
    ["", "ttlb", "ttlb > 3%", "ttlb >= +3%", "ttlb > +3%%", "ttlb > +3% 4", "> +3%", "ttlb = +3%", "ttlb > +e3%",
     "ttlb > + ", "ttlb > -3%", "ttlb < +3%", "ttlb > +3% or setup > +3%", "ttlb > +1e3ms", "ttlb > +inf%"],
)  # fmt: skip
def test_a_typo_is_one_clear_error(text: str) -> None:
    """Everything but the grammar is refused, with the grammar."""
    with pytest.raises(SpecError) as error:
        parse_bound(text)
    assert "METRIC > +NUMBER" in error.value.hint


@pytest.mark.parametrize("text", ["ttlb > +3", "ttlb > +3MB", "ttlb > +3bit/s", "ttlb > +3parsecs"])
def test_a_unit_of_something_else_is_refused(text: str) -> None:
    """A time takes units of time."""
    with pytest.raises(SpecError, match="does not suit ttlb_ms"):
        limit_of(parse_bound(text), TTLB)


@pytest.mark.parametrize(
    ("text", "unit", "limit"),
    [("x > +2 Mbit/s", "bit/s", 2e6), ("x < -2KB", "bytes", -2000), ("x > +2", "", 2), ("x > +2packets", "packets", 2)],
)
def test_units_of_other_metrics(text: str, unit: str, limit: float) -> None:
    """Rates, sizes, counts."""
    assert limit_of(parse_bound(text), Metric("x", "x", unit, lower_is_better=True)) == limit
