# SPDX-License-Identifier: Apache-2.0
"""The bound of a gate, and what it makes of a cell."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from quiclab.compare.builds.change import Change, change
from quiclab.compare.builds.gate import Verdict, exit_verdict, judge, limit_of, parse_bound
from quiclab.compare.builds.two_studies import corrected
from quiclab.compare.cell_comparison import arm_result
from quiclab.compare.model import Conclusion, Metric, Outcome, TrialResult
from quiclab.model.errors import SpecError

TTLB = Metric("ttlb_ms", "time to last byte", "ms", lower_is_better=True)
BOUND = [(parse_bound("ttlb > +3%"), "ttlb_ms")]


def cell(*times: float, blocks: int = 9) -> Change:
    """Blocks of 200 ms in OLD, which take these times in NEW, over and over; nothing is censored."""
    times_of = ([200.0] * blocks, [times[block % len(times)] for block in range(blocks)])
    old, new = (
        arm_result("h3", [TrialResult("0", at, "verified", value, "") for at, value in enumerate(values)], 9, 0, TTLB)
        for values in times_of
    )
    return change(("w", "p", "h3"), old, new, TTLB, 0.95, paired=True)


def verdicts(bound: str, *found: Change) -> list[Verdict]:
    """Of some cells."""
    return [each.verdict for each in judge([(parse_bound(bound), "ttlb_ms")], found, 0.05)]


@pytest.mark.parametrize(
    ("bound", "times", "expected"),
    [
        ("ttlb > +3%", (206.1, 230), Verdict.FAILED),
        ("ttlb > +3%", (205.9, 500), Verdict.PASSED),
        ("ttlb > +6ms", (206.1, 230), Verdict.FAILED),
        ("ttlb > +6 ms", (206.0, 230), Verdict.PASSED),
        ("ttlb > +0.006s", (206.1, 230), Verdict.FAILED),
        ("ttlb < -3%", (170, 193.9), Verdict.FAILED),
        ("ttlb < -3%", (170, 194.1), Verdict.PASSED),
        ("ttlb > +3%", (170, 193.9), Verdict.PASSED),
        ("ttlb > +3%", (207, math.inf), Verdict.FAILED),
    ],
)
def test_the_near_end_decides(bound: str, times: tuple[float, float], expected: Verdict) -> None:
    """Not the estimate: a wide interval that begins before the bound passes."""
    assert verdicts(bound, cell(*times)) == [expected]


def test_one_cell_of_nine_needs_nine_pairs_and_nine_of_nine_need_six() -> None:
    """Alone it is held against 1 − 0.05 / 9, together against 1 − 0.05; what no outcome could fail is not judged."""
    slow, same = cell(230), cell(150, 250)
    assert verdicts("ttlb > +3%", slow, *[same] * 8) == [Verdict.FAILED, *[Verdict.PASSED] * 8]
    assert verdicts("ttlb > +3%", *[cell(230, blocks=6)] * 9) == [Verdict.FAILED] * 9
    few = judge(BOUND, [cell(230, blocks=8), *[cell(150, 250, blocks=8)] * 8], 0.05)
    assert {each.verdict for each in few} == {Verdict.NOT_JUDGED}
    assert few[0].reason == (
        "Too few: with 8 pairs, a change in this cell alone could not fail the gate; 9 pairs are the fewest that can."
    )
    within = judge(BOUND, [cell(190, 195, blocks=8)] * 9, 0.05)
    assert {each.verdict for each in within} == {Verdict.PASSED}  # what an interval excludes is excluded


@pytest.mark.parametrize("outcome", [Outcome.UNDECIDED, Outcome.NOT_MEASURED])
def test_what_cannot_be_tested_is_not_judged(outcome: Outcome) -> None:
    """Neither passed nor failed; a gate that asked for it has not passed, unless another cell failed it."""
    lame = replace(cell(230), outcome=outcome, why="Too slow.", refused=True)
    found = judge(BOUND, [lame], 0.05)
    assert found[0].verdict is Verdict.NOT_JUDGED
    assert found[0].reason == "Too slow."
    assert exit_verdict(found) is Verdict.NOT_JUDGED
    assert exit_verdict(judge(BOUND, [lame, cell(200, 201)], 0.05)) is Verdict.NOT_JUDGED
    assert exit_verdict(judge(BOUND, [lame, cell(230)], 0.05)) is Verdict.FAILED


def test_a_cell_that_cannot_be_tested_costs_the_others_nothing() -> None:
    """Nine pairs suffice for one of nine cells, and for one of twelve of which three cannot be tested."""
    lame = replace(cell(230), outcome=Outcome.UNDECIDED, refused=True)
    assert verdicts("ttlb > +3%", cell(230), *[cell(150, 250)] * 8, lame, lame, lame)[0] is Verdict.FAILED
    assert verdicts("ttlb > +3%", cell(230), *[cell(150, 250)] * 12)[0] is Verdict.NOT_JUDGED


def test_what_the_machine_spoiled_passes_only_where_it_excludes_the_bound() -> None:
    """An open-ended pass of a cell that is not judged is none."""
    wide, narrow = cell(199, 207), cell(199, 205)
    spoiled = [
        replace(each, conclusion=Conclusion.NOT_JUDGED, why="Disturbed: 7 of 8 pairs.") for each in (wide, narrow)
    ]
    found = judge(BOUND, spoiled, 0.05)
    assert [each.verdict for each in found] == [Verdict.NOT_JUDGED, Verdict.PASSED]
    assert found[0].reason.endswith("the machine disturbed this cell. Disturbed: 7 of 8 pairs.")
    assert [each.verdict for each in judge(BOUND, [wide, narrow], 0.05)] == [Verdict.PASSED, Verdict.PASSED]


def test_a_value_of_zero_has_no_per_cent() -> None:
    """A bound in the metric's unit judges it all the same."""
    zero = cell(0, 230, 230, 230, 230, 230, 230, 230, 230)
    assert verdicts("ttlb > +3%", zero) == [Verdict.NOT_JUDGED]
    assert verdicts("ttlb > +300ms", zero) == [Verdict.PASSED]


def test_a_pass_says_what_it_does_not_exclude() -> None:
    """The far end beyond the bound: more blocks would tell."""
    assert [each.open_ended for each in judge(BOUND, [cell(199, 207), cell(199, 205)], 0.05)] == [True, False]


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


def _disturbed(found: Change, most_pct: float) -> Change:
    """The change as if the machine had added at most so much to each trial of NEW."""
    new = [replace(each, least=(each.value or 0) * (1 - most_pct / 100)) for each in found.new.trials]
    arm = arm_result("h3", new, len(new), 0, TTLB)
    return change(("w", "p", "h3"), found.old, arm, TTLB, 0.95, paired=found.pairs is not None)


@pytest.mark.parametrize(
    ("most_pct", "expected"), [(1.0, Verdict.FAILED), (10.0, Verdict.NOT_JUDGED), (40.0, Verdict.NOT_JUDGED)]
)
def test_a_build_fails_only_by_what_the_machine_cannot_have_added(most_pct: float, expected: Verdict) -> None:
    """NEW takes 10 % longer; the bound is 3 %, and the interval allows for what was added to NEW."""
    found = _disturbed(cell(220.0), most_pct)
    assert verdicts("ttlb > +3%", found) == [expected]
    assert found.interval_pct is not None
    assert found.interval_pct.low == pytest.approx(110 * (1 - most_pct / 100) - 100)
    assert found.disturbance_pct == pytest.approx(1.1 * most_pct)
    assert found.change_pct == pytest.approx(10)
    (told,) = corrected([found], 0.05, 2.0)
    assert told.conclusion is (Conclusion.DIFFERENT if most_pct == 1 else Conclusion.NOT_JUDGED)


def test_a_change_that_others_leave_open_says_which() -> None:
    """Six pairs are significant in three cells together; where two are disturbed, the third is not blamed."""
    mine = replace(cell(220.0, blocks=6), path="mine")
    family = [_disturbed(cell(220.0, blocks=6), 40.0), mine, _disturbed(cell(220.0, blocks=6), 40.0)]
    first, second, third = corrected(family, 0.05, 2.0)
    assert {each.conclusion for each in (first, second, third)} == {Conclusion.NOT_JUDGED}
    assert "those of w/p (h3, " in second.why
    assert "added to the trials could account for their difference" in first.why
    assert first.why == third.why


def test_a_build_that_stays_within_its_bound_passes_on_a_disturbed_machine() -> None:
    """A slowdown that is only not excluded fails nothing."""
    assert verdicts("ttlb > +3%", _disturbed(cell(200.0), 10.0)) == [Verdict.PASSED]
