# SPDX-License-Identifier: Apache-2.0
"""Time left of a run, with the repeats that are to be expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from unit.study.rows import OTHER, ROW

from quiclab.model.plan_row import PlanRow
from quiclab.study.pace import Pace, effort

_EXPECTED_S = 5.0


def _blocks(number: int) -> list[list[PlanRow]]:
    return [
        [replace(row, trial_id=f"{row.trial_id}{block}", block=block, block_id=f"b{block}") for row in (ROW, OTHER)]
        for block in range(number)
    ]


class _Run:
    """A run in virtual time, of blocks whose trials are expected to take five seconds each."""

    def __init__(self, blocks: Sequence[Sequence[PlanRow]], attempts: int = 4, rounds_later: int = 2) -> None:
        self.now = 100.0
        rows = [row for block in blocks for row in block]
        expected = dict.fromkeys((row.trial_id for row in rows), _EXPECTED_S)
        self.pace = Pace(rows, expected, attempts, rounds_later, clock=lambda: self.now)

    def block(self, block: Sequence[PlanRow], *, void_before: int = 0, took_s: float = _EXPECTED_S) -> None:
        """Run a block whose second trial is void so many times."""
        for attempt in range(void_before + 1):
            for row in block:
                self.now += took_s
                self.pace.ended(row, void=attempt < void_before and row is block[1])
        self.pace.block_over(block, void=False)

    def stays_void(self, block: Sequence[PlanRow], times: int = 1) -> None:
        for _ in range(times):
            self.now += _EXPECTED_S
            self.pace.ended(block[0], void=True)
        self.pace.block_over(block, void=True)


def test_a_run_without_repeats_takes_what_its_pace_says() -> None:
    blocks = _blocks(10)
    run = _Run(blocks)
    assert run.pace.left_s() == pytest.approx(100)
    run.block(blocks[0], took_s=10)
    assert run.pace.left_s() == pytest.approx(9 * 20)
    run.now += 4
    assert run.pace.left_s() == pytest.approx(9 * 20 - 4)


def test_repeats_so_far_are_expected_of_the_rest() -> None:
    """Half of twenty blocks have run, each twice: the rest takes about twice as long as without repeats."""
    blocks = _blocks(20)
    run = _Run(blocks)
    for block in blocks[:10]:
        run.block(block, void_before=1)
    assert run.pace.left_s() == pytest.approx(10 * 10 * 2, rel=0.06)


def test_blocks_that_wait_for_a_later_round_are_in_it() -> None:
    """Their time is what is left when all others are over, and nothing is left once they are given up."""
    blocks = _blocks(4)
    run = _Run(blocks, attempts=2, rounds_later=1)
    for block in blocks[:3]:
        run.block(block)
    run.stays_void(blocks[3], times=2)
    assert run.pace.left_s() >= 10
    run.pace.again()
    assert run.pace.left_s() >= 10
    run.stays_void(blocks[3])
    assert run.pace.left_s() == 0


def test_a_block_that_is_begun_anew_is_left_whole() -> None:
    blocks = _blocks(1)
    run = _Run(blocks)
    run.now += _EXPECTED_S
    run.pace.ended(blocks[0][0], void=False)
    assert run.pace.done_s == _EXPECTED_S
    run.now += _EXPECTED_S
    run.pace.ended(blocks[0][1], void=True)
    assert run.pace.done_s == 0
    assert run.pace.left_s() > 2 * _EXPECTED_S


def test_what_earlier_runs_have_done_is_not_left() -> None:
    blocks = _blocks(3)
    run = _Run(blocks)
    for block in blocks[:2]:
        run.pace.block_over(block, void=False)
    assert run.pace.left_s() == pytest.approx(10)


def test_effort_is_one_without_repeats_and_grows_with_them() -> None:
    assert effort(0, 0, 10) == 1
    assert effort(0, 0, 0) == 1
    assert effort(50, 50, 10) == 1
    assert effort(190, 90, 10) == 2
