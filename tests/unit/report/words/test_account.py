# SPDX-License-Identifier: Apache-2.0
"""Sentences about accounts, from steps that were written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from unit.analysis.test_compare import SLOW, arm, decided

from quiclab.accounting import Part
from quiclab.analysis.accounts import Step, Waterfall
from quiclab.report.words import account
from quiclab.statistics import Interval


def _step(part: Part | None, difference: float, spread: float = 0.5, p: float = 0.01) -> Step:
    ends = Interval(difference - spread, difference + spread, 0.95)
    return Step(part, 100.0, 100.0 + difference, difference, ends, p)


def _waterfall(total: float, **differences: float) -> Waterfall:
    steps = tuple(_step(part, differences.get(part, 0.0)) for part in Part)
    comparison = decided(arm("h2", SLOW), arm("h3", SLOW))
    return Waterfall(comparison, 8, 0, _step(None, total), steps, (5_200_000.0, 5_290_000.0))


def test_the_largest_part_comes_first_with_its_evidence() -> None:
    """Numbers of both signs, the bytes on the wire, and a bound for all that is not named."""
    assert account.because(_waterfall(55.3, busy=74.0, set_up=-18.7, request=0.2), 0.05) == (
        "h3 takes 55.3 ms longer on average (+54.8 … +55.8 ms): the bottleneck is busy 74.0 ms longer (5.29 MB against "
        "5.20 MB on the wire) and set-up takes 18.7 ms less. No other part differs by more than 0.200 ms."
    )


def test_effects_that_cancel_are_told_where_the_whole_does_not_differ() -> None:
    """No difference of the whole is no reason to be silent about two of its parts."""
    told = account.because(_waterfall(0.3, busy=21.2, set_up=-21.0), 0.05)
    assert told.startswith("the mean times are not shown to differ (+0.3 ms, −0.2 … +0.8): the bottleneck is busy 21.2")
    assert "set-up takes 21.0 ms less" in told


def test_a_large_part_that_the_pairs_do_not_decide_is_named() -> None:
    """Its mean is large and its interval holds 0: silence would read as "no difference"."""
    found = _waterfall(40.0, busy=20.0)
    steps = tuple(_step(each.part, 20.0, 90.0) if each.part is Part.IDLE_UNPROMPTED else each for each in found.steps)
    told = account.because(replace(found, steps=steps), 0.05)
    assert told.endswith("Not decided by 8 pairs: idle, server unprompted.")


def test_nothing_is_told_of_parts_that_no_pair_shows() -> None:
    """Too few pairs for the exact test, whatever the interval of the mean says."""
    found = _waterfall(40.0, busy=40.0)
    steps = tuple(replace(each, p=0.5) for each in found.steps)
    assert "do not show that any part" in account.because(replace(found, steps=steps), 0.05)


@pytest.mark.parametrize("part", list(Part))
def test_every_part_has_its_words(part: Part) -> None:
    """A part without a phrase, a heading or a definition would fail only in the study that has it."""
    assert part.heading
    assert part.definition.endswith(".")
    assert account.because(_waterfall(9.0, **{part: 9.0}), 0.05).count("9.0") >= 1
