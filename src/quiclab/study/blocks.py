# SPDX-License-Identifier: Apache-2.0
"""Blocks of a plan as they are run: whole or not at all, again where one was void, and once more at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quiclab.lab.testbed.sandbox import raise_if_interrupted
from quiclab.model.plan_row import PlanRow
from quiclab.plan.order import order_block
from quiclab.store.layout import Attempt
from quiclab.store.ledger import Ledger
from quiclab.study.observer import Observer
from quiclab.study.stopping import Stop

RunOne = Callable[[PlanRow, int], Path]
"""Runs an attempt at a trial, and says in which folder it is."""
Rows = Sequence[PlanRow]
"""Trials of one block."""


@dataclass(frozen=True)
class Settled:
    """An attempt that was judged and kept."""

    attempt: Attempt
    aside: Path | None
    """Path to which an incomplete folder that stood in its place was moved."""


Settle = Callable[[Path, str, int], Settled]
"""Judges and keeps an attempt: its folder, the trial's id, the attempt's number."""
MOST_APART_S = 60.0
"""Longest time from the end of a trial to the begin of the next one of its block, where a run was ended between them
and goes on: a choice, since a machine that is started again is another one."""
ROUNDS_LATER = 2
"""Rounds at the end of a run in which each block that stayed void is tried once more: what kept this machine busy may
be over by then. More would cost time on a machine that is always busy, and `quiclab run` again has two more."""
MOST_CHEAP_ROUNDS, CHEAP = 4, 0.02
"""Most rounds after those, and the share of the run's time up to which one is cheap: a pair of short transfers that is
tried again takes seconds of minutes, and without it its cell has no answer."""


class Executor(Protocol):
    """Somewhere for blocks to run: in turn in this process (`InTurn`), side by side by workers of this machine
    (`side_by_side.py`), or by those of a cluster (`dask/coordinator.py`)."""

    def run_all(self, asked: Sequence[tuple[Rows, int]], *, alone: bool) -> Sequence[int | None]:
        """Run blocks, each in so many attempts in all at most; `alone` forbids to run them side by side.

        Returns for each how many attempts there were if it stayed void, None if it is not void. Raises
        KeyboardInterrupt, before a block begins or when those that run are over, where the run is to stop.
        """


@dataclass(frozen=True)
class Later:
    """Outcome of blocks that were void when all others were over."""

    trials: int
    """Trials of those blocks."""
    void: int
    """Trials of those that stayed void, with those that were not run again because another one was void."""


@dataclass(frozen=True)
class Block:
    """Trials that are compared with one another, and count together or not at all."""

    run_one: RunOne
    settle: Settle
    ledger: Ledger
    observer: Observer
    rows: Rows

    def run(self, limit: int) -> int | None:
        """Run what it still lacks, in `limit` attempts in all at most; a void trial voids the block, which is run again
        in a newly drawn order.

        Returns how many attempts there were if it stays void, None if it is not void.
        """
        self._void_what_was_cut(limit)
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

    def _void_what_was_cut(self, limit: int) -> None:
        """Void what an earlier run left of this block in the middle, if the last of its trials is over for longer than
        trials of one block may be apart: they are compared because they ran under like conditions."""
        number, rows = self._missing()
        attempts = self.ledger.attempts()
        done = [attempts[row.trial_id][-1] for row in self.rows if row not in rows and row.trial_id in attempts]
        if not rows or not done or number >= limit:
            return
        if min(self.ledger.since_end_s(attempt) for attempt in done) > MOST_APART_S:
            for attempt in done:
                self.ledger.void_as_cut(attempt)

    def _void_rest(self, last: Mapping[str, Attempt], number: int) -> None:
        for attempt in last.values():
            if attempt.attempt == number and attempt.status != "void":
                self.ledger.void(attempt.trial_id)

    def _attempt(self, row: PlanRow, number: int) -> str:
        raise_if_interrupted()
        self.observer.running(row)
        settled = self.settle(self.run_one(row, number), row.trial_id, number)
        if settled.aside is not None:
            self.observer.set_aside(row.trial_id, settled.aside)
        self.observer.ended(row, settled.attempt)
        return settled.attempt.status


@dataclass(frozen=True)
class InTurn:
    """Executor that runs blocks one after another, in this process."""

    block_of: Callable[[Rows], Block]
    stop: Stop

    def run_all(self, asked: Sequence[tuple[Rows, int]], *, alone: bool) -> Sequence[int | None]:  # noqa: ARG002
        """Run blocks; each has the machine to itself anyway."""
        return [self._run(rows, limit) for rows, limit in asked]

    def _run(self, rows: Rows, limit: int) -> int | None:
        self.stop.check()
        return self.block_of(rows).run(limit)


def run_blocks(
    blocks: Sequence[Rows],
    limit: int,
    executor: Executor,
    observer: Observer,
    rounds_later: int = ROUNDS_LATER,
    clock: Callable[[], float] = time.monotonic,
) -> Later:
    """Run all blocks, with `limit` attempts at each; then those that stayed void, once in each of the rounds after
    that, and one after another. Where these are as many as usual, cheap rounds follow."""
    began = clock()
    void = _void_after(blocks, executor.run_all([(rows, limit) for rows in blocks], alone=False))
    at_first = void
    most = rounds_later + (MOST_CHEAP_ROUNDS if rounds_later >= ROUNDS_LATER else 0)
    took, run_s = 0.0, clock() - began
    for number in range(most):
        if not void or (number >= rounds_later and took > CHEAP * run_s):
            break
        round_began = clock()
        observer.again([rows for rows, _ in void])
        asked = [(rows, attempts + 1) for rows, attempts in void]
        void = _void_after([rows for rows, _ in void], executor.run_all(asked, alone=True))
        took, run_s = clock() - round_began, clock() - began
    return Later(*(sum(len(rows) for rows, _ in each) for each in (at_first, void)))


def _void_after(blocks: Sequence[Rows], attempts: Sequence[int | None]) -> list[tuple[Rows, int]]:
    """The blocks that stayed void, each with its number of attempts."""
    return [(rows, number) for rows, number in zip(blocks, attempts, strict=True) if number is not None]
