# SPDX-License-Identifier: Apache-2.0
"""The error rates of docs/reference/error-rates.md stay within their bounds."""

from __future__ import annotations

import error_rates
import pytest
from error_rates import COURSES, SHAPES, Course, Shape

pytestmark = pytest.mark.nightly

RUNS = 500
SOUND = [shape for shape in SHAPES if shape.assumed]


def named(shape: Shape) -> str:
    """The shape's name as that of a test."""
    return shape.name


@pytest.mark.parametrize("shape", SHAPES, ids=named)
def test_no_more_cells_are_called_different_than_may_be(shape: Shape) -> None:
    """With each number of pairs."""
    for pairs, most in zip(error_rates.PAIRS, shape.alarms_most, strict=True):
        found = error_rates.alarms(shape, pairs, RUNS)
        assert found <= most + error_rates.allowance(most, RUNS), (pairs, found)


@pytest.mark.parametrize("shape", SOUND, ids=named)
def test_the_correction_holds_over_nine_cells(shape: Shape) -> None:
    """Of studies without any difference at most 5 % find one."""
    runs = RUNS // 4
    found = error_rates.alarms(shape, 20, runs, error_rates.CELLS)
    assert found <= error_rates.ALPHA + error_rates.allowance(error_rates.ALPHA, runs), found


@pytest.mark.parametrize("factor", [1.0, 2.0])
@pytest.mark.parametrize("shape", SHAPES, ids=named)
def test_intervals_hold_the_truth(shape: Shape, factor: float) -> None:
    """Where arms are alike, and where one takes twice as long."""
    found = error_rates.holds(shape, 20, factor, RUNS)
    assert found >= shape.holds_least - error_rates.allowance(shape.holds_least, RUNS), found


@pytest.mark.parametrize("shape", SOUND, ids=named)
def test_the_sequence_holds_over_all_looks(shape: Shape) -> None:
    """Of studies without a difference at most 5 % are ever called different."""
    found = error_rates.ever_alarms(shape, error_rates.LOOKS, RUNS // 2, sequence=True)
    assert found <= error_rates.ALPHA, found


def test_looking_and_adding_by_hand_does_what_the_report_says_of_it() -> None:
    """12 to 23 %: else the sentence at the answer is wrong."""
    shape = SHAPES[0]
    least = error_rates.ever_alarms(shape, error_rates.ADDED, RUNS, sequence=False)
    most = error_rates.ever_alarms(shape, range(7, 41), RUNS // 2, sequence=False)
    assert least == pytest.approx(0.12, abs=error_rates.allowance(0.12, RUNS))
    assert most == pytest.approx(0.23, abs=error_rates.allowance(0.23, RUNS // 2))


def course_named(course: Course) -> str:
    """The course's name as that of a test."""
    return course.name


@pytest.mark.parametrize("course", COURSES, ids=course_named)
def test_what_is_said_of_other_occasions_holds_whatever_they_do(course: Course) -> None:
    """At most 5 %, also where the difference varies between them; on the occasions at hand where it does not."""
    here, elsewhere = error_rates.occasion_alarms(course, 0.0, RUNS)
    most = error_rates.ALPHA + error_rates.allowance(error_rates.ALPHA, RUNS)
    assert elsewhere <= most, elsewhere
    assert here <= most or course.varies > 0, here
