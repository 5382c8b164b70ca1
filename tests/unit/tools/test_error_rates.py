# SPDX-License-Identifier: Apache-2.0
"""The simulation of error rates finds what is wrong, and its page has what it simulates."""

from __future__ import annotations

from pathlib import Path

import error_rates
import numpy as np
from error_rates import COURSES, SHAPES, Shape

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "error-rates.md"


def test_the_page_has_every_shape_with_its_bounds() -> None:
    """A shape or a bound that changes needs the page anew: benches/error_rates.py --write."""
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in PAGE.read_text().splitlines() if "≥" in line}
    assert list(rows) == [shape.name for shape in SHAPES]
    for shape in SHAPES:
        bounds = ", ".join(f"{100 * most:.0f}" for most in dict.fromkeys(shape.alarms_most))
        assert rows[shape.name].endswith(f"| ≤ {bounds}; ≥ {100 * shape.holds_least:.0f} |")


def test_the_page_has_every_course_of_occasions_and_the_runs_of_each_table() -> None:
    """Rates without their number of runs say nothing of how exact they are."""
    page = PAGE.read_text()
    assert [name for name in (course.name for course in COURSES) if f"| {name} |" not in page] == []
    assert page.count("By chance a true 5 shows as") == page.count("\n|---|")


def test_arms_that_differ_are_alarms() -> None:
    """If a shape were no null, its rate would show it, and intervals would miss a truth that is not theirs."""

    def slower(rng: np.random.Generator, n: int) -> error_rates.Times:
        return np.asarray(200 * rng.lognormal(0, 0.02, (2, n)) * np.array([[1.0], [1.1]]))

    shape = Shape("ten per cent", slower)
    assert error_rates.alarms(shape, 20, 10) == 1
    assert error_rates.holds(shape, 20, 1.0, 10) == 0
    assert error_rates.ever_alarms(shape, (7, 20), 10, sequence=True) == 1


def test_failures_are_failed_trials() -> None:
    """A time without an end ranks worst."""
    found = error_rates.arm("h2", np.array([1.0, np.inf]))
    assert [(trial.status, trial.value) for trial in found.trials] == [("verified", 1.0), ("failed", None)]
