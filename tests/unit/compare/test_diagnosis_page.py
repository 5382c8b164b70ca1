# SPDX-License-Identifier: Apache-2.0
"""The page of the verdicts' accuracy: how much of what was frozen was run, and each verdict of a run that tests one."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benches" / "diagnosis"))

import confirmed_cases
from page import text
from trials import Result, ScoredVerdict

_TOLD = ScoredVerdict("slow_start", "indicated", True, "slow_start", "window", (), 60.0, ("initial_window",))


def _result(number: int) -> Result:
    causes, effects = ("initial window",), (60.0,)
    return Result(
        f"7/{number}", "one", causes, ("h3", "h3"), "state", 400.0, 340.0, effects, 0.0, "cause", (_TOLD,), ()
    )


def _tested(number: int, mechanism: str, verdict: str, *, right: bool) -> confirmed_cases.Tested:
    return confirmed_cases.Tested(
        f"7/{number}", "one", right, mechanism, "loss", verdict, 8, (), (50, 70), (40, 80), 60
    )


def _cells(page: str, heading: str) -> dict[str, str]:
    """Head of each column → cell of the row with a heading."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    at = next(i for i, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    head = max(i for i in range(at) if lines[i + 1].startswith("| --- |"))
    names, values = ([cell.strip() for cell in line.split("|")[1:-1]] for line in (lines[head], lines[at]))
    return dict(zip(names, values, strict=True))


def test_a_part_of_the_frozen_cases_is_told_as_one() -> None:
    """Two of ten: the reader learns both numbers; of all that are frozen one is enough."""
    some = [_result(0), _result(5)]
    assert "2 cases run of the 10 that are frozen" in text(some, {7: 10})
    assert "that are frozen." not in text(some, {7: 2})


def test_a_condition_is_a_verdict_of_its_own() -> None:
    """A cause that a setting of the path takes away is neither confirmed, rightly or wrongly, nor inconclusive."""
    tests = [
        _tested(0, "loss_on_the_path", "condition", right=False),
        _tested(5, "loss_on_the_path", "confirmed", right=True),
    ]
    page = text([_result(0), _result(5)], {7: 2}, tests)
    wrong = _cells(page, "wrong names")
    assert (wrong["condition"], wrong["confirmed"], wrong["inconclusive"]) == ("1", "0", "0")
    assert _cells(page, "right names, one cause")["confirmed"] == "1"
    assert "confirmed and wrong" not in page


def test_what_is_not_scored_anew_stays_and_is_of_an_earlier_version() -> None:
    """However often the page is written; results of this version take its place."""
    results, sentence = [_result(0), _result(5)], "verdicts of an earlier version"
    tests = [_tested(0, "slow_start", "confirmed", right=True)]
    first = text(results, {7: 2}, tests)
    kept = text(results, {7: 2}, before=text(results, {7: 2}, before=first))
    assert kept.count(sentence) == 1
    assert _cells(kept, "right names, one cause") == _cells(first, "right names, one cause")
    assert text(results, {7: 2}, tests, before=kept) == first
    assert "## Put to the test" not in text(results, {7: 2})
