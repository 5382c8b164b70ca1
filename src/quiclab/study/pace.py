# SPDX-License-Identifier: Apache-2.0
"""Time left of a run, by the pace of its trials so far and the share of them that was repeated."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from quiclab.model.plan_row import PlanRow, by_block


def effort(run_s: float, kept_s: float, block_s: float) -> float:
    """Return how often a trial runs until it counts: what ran over what of it counts.

    All are expected seconds. One block of `block_s` that ran and counts is added, so that the first repeats of a run do
    not stand for all of it. Of a plan without a block it is 1.
    """
    return (run_s + block_s) / (kept_s + block_s) if kept_s + block_s else 1.0


class Pace:
    """Time left of a run, from its events. Expected seconds stand for the length of a trial."""

    def __init__(
        self,
        rows: Sequence[PlanRow],
        expected: Mapping[str, float],
        attempts: int,
        rounds_later: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with the plan of a run, the expected seconds of each trial, and how often a block is tried: in a row,
        and once in each later round."""
        self._blocks = by_block(rows)
        self._expected = expected
        self._attempts, self._rounds_left = attempts, rounds_later
        self._clock = clock
        self.total_s = sum(expected.values())
        """Expected seconds of all trials, each run once."""
        self.done_s = 0.0
        """Expected seconds of the trials that count so far, those of earlier runs included."""
        self._run_s = self._kept_s = 0.0
        """Expected seconds of the trials that ended in this run, and of those of them that count."""
        self._done: set[str] = set()
        """Trials that count so far."""
        self._later: set[str] = set()
        """Blocks that wait for a later round."""
        self._this_round: set[str] = set()
        """Blocks that waited for the round under way, and have not run in it yet."""
        self._began = self._at = clock()

    def ended(self, row: PlanRow, *, void: bool) -> None:
        """Count a trial that has its verdict; a void one begins its block anew."""
        self._at = self._clock()
        self._run_s += self._expected[row.trial_id]
        if not void:
            self._kept_s += self._count(row)
            return
        for each in self._blocks[row.block_id]:
            if each.trial_id in self._done:
                self._done.remove(each.trial_id)
                self.done_s -= self._expected[each.trial_id]
                self._kept_s = max(0.0, self._kept_s - self._expected[each.trial_id])

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:
        """Count a block that has nothing left to run, or waits for a later round."""
        self._later.discard(block[0].block_id)
        self._this_round.discard(block[0].block_id)
        if void:
            self._later.add(block[0].block_id)
            return
        for row in block:  # trials of an earlier run have not ended in this one
            self._count(row)

    def again(self) -> None:
        """Begin a round in which the blocks that wait are tried once more."""
        self._rounds_left = max(0, self._rounds_left - 1)  # cheap rounds that follow are not foreseen
        self._this_round, self._later = self._later, set()

    def left_s(self) -> float:
        """Seconds until the run is over; those since the latest trial ended are taken off."""
        now = self._clock()
        a_second = (self._at - self._began) / self._run_s if self._run_s else 1.0
        times = effort(self._run_s, self._kept_s, self.total_s / max(1, len(self._blocks)))
        later_s, round_s = self._length_s(self._later), self._length_s(self._this_round)
        in_order_s = max(0.0, self.total_s - self.done_s - later_s - round_s)
        most = self._attempts + self._rounds_left
        left_s = min(times, most) * in_order_s + min(times, self._rounds_left) * later_s
        left_s += min(times, 1 + self._rounds_left) * round_s
        return max(0.0, a_second * left_s - (now - self._at))

    def _length_s(self, blocks: set[str]) -> float:
        # A copy: another thread may draw meanwhile.
        return sum(self._expected[row.trial_id] for each in tuple(blocks) for row in self._blocks[each])

    def _count(self, row: PlanRow) -> float:
        """Count a trial as done. Returns its expected seconds if it was not."""
        if row.trial_id in self._done:
            return 0.0
        self._done.add(row.trial_id)
        self.done_s += self._expected[row.trial_id]
        return self._expected[row.trial_id]
