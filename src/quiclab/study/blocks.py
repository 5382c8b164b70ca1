# SPDX-License-Identifier: Apache-2.0
"""Blocks of a plan as they are run: whole or not at all, again where one was void, and once more at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.plan.order import order_block
from quiclab.plan.rows import PlanRow
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import Ledger
from quiclab.study.observer import Observer
from quiclab.study.trial import judge_attempt, keep_attempt

RunOne = Callable[[PlanRow, int], Path]
"""Runs an attempt at a trial, and says in which folder it is."""
ROUNDS_LATER = 2
"""Rounds at the end of a run in which each block that stayed void is tried once more: what kept this machine busy may
be over by then. A third would cost time on a machine that is always busy, and `quiclab run` again has two more."""


@dataclass(frozen=True)
class Later:
    """What became of blocks that were void when all others were over."""

    trials: int
    """Trials of those blocks."""
    void: int
    """Trials of those that stayed void, with those that were not run again because another one was void."""


@dataclass(frozen=True)
class Block:
    """Trials that are compared with one another, and count together or not at all."""

    run_one: RunOne
    study_dir: StudyDir
    ledger: Ledger
    observer: Observer
    rows: Sequence[PlanRow]

    def run(self, limit: int) -> int | None:
        """Run what it still lacks, in `limit` attempts in all at most; a void trial voids the block, which is run again
        in a newly drawn order.

        Returns how many attempts there were if it stays void, None if it is not void.
        """
        while True:
            number, rows = self._missing()
            if not rows or number > limit:
                self.observer.block_over(self.rows, void=bool(rows))
                return number - 1 if rows else None
            for row in order_block(self.rows, number):
                if row in rows and self._attempt(row, number) == "void":
                    break

    def _missing(self) -> tuple[int, list[PlanRow]]:
        """The number of the next attempt, and the trials that it lacks."""
        attempts = self.ledger.attempts()
        last = {row.trial_id: attempts[row.trial_id][-1] for row in self.rows if row.trial_id in attempts}
        number = max((attempt.attempt for attempt in last.values()), default=1)
        if any(attempt.status == "void" and attempt.attempt == number for attempt in last.values()):
            self._void_rest(last, number)
            number += 1
        return number, [row for row in self.rows if row.trial_id not in last or last[row.trial_id].attempt < number]

    def _void_rest(self, last: Mapping[str, Attempt], number: int) -> None:
        for attempt in last.values():
            if attempt.attempt == number and attempt.status != "void":
                self.ledger.void(attempt.trial_id)

    def _attempt(self, row: PlanRow, number: int) -> str:
        self.observer.running(row)
        judged = judge_attempt(self.run_one(row, number), row.trial_id, number)
        aside = keep_attempt(self.study_dir, self.ledger, judged)
        if aside is not None:
            self.observer.set_aside(row.trial_id, aside)
        self.observer.ended(row, judged.attempt)
        return judged.attempt.status


def run_blocks(blocks: Sequence[Block], limit: int, rounds_later: int = ROUNDS_LATER) -> Later:
    """Run all blocks in their order, with `limit` attempts at each; then those that stayed void, once in each of the
    rounds after that."""
    void = _void_after([(block, block.run(limit)) for block in blocks])
    at_first = void
    for _ in range(rounds_later):
        if not void:
            break
        void[0][0].observer.again([block.rows for block, _ in void])
        void = _void_after([(block, block.run(attempts + 1)) for block, attempts in void])
    return Later(*(sum(len(block.rows) for block, _ in each) for each in (at_first, void)))


def _void_after(blocks: Sequence[tuple[Block, int | None]]) -> list[tuple[Block, int]]:
    """The blocks that stayed void, each with its number of attempts."""
    return [(block, attempts) for block, attempts in blocks if attempts is not None]
