# SPDX-License-Identifier: Apache-2.0
"""Errors on a machine that disturbs its trials, from few runs: `make nightly` has more of all kinds."""

from __future__ import annotations

from disturbed_rates import MACHINES, SHAPES, rates

RUNS = 60


def test_selection_by_repeats_makes_no_difference() -> None:
    """One arm is disturbed more, long trials most of all, and spreads ten times as far: what counts of it is faster. As
    measured nearly every study would call that a difference."""
    shape = next(each for each in SHAPES if each.name == "same median, sigma 0.1 and 1")
    machine = next(each for each in MACHINES if each.grows > 1)
    found = rates(machine, shape, 20, RUNS)
    assert found.different_as_measured > 0.5
    assert found.different <= 0.2


def test_a_difference_is_found_all_the_same() -> None:
    """A fifth less time, at noise of a tenth, on a machine that runs more than every other block again."""
    found = rates(MACHINES[-1], SHAPES[0], 20, RUNS, factor=0.8)
    assert found.different > 0.9
    assert found.held > 0.85
