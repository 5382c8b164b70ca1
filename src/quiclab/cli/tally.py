# SPDX-License-Identifier: Apache-2.0
"""Counts of a run's trials so far, by how they ended, added up from its events for those that watch it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from quiclab.model.plan_row import PlanRow
from quiclab.store.layout import WITH_ITS_BLOCK, Attempt
from quiclab.study.progress import kind_of_reason

Place = tuple[str, str]
"""Cell and arm."""


def place_of(row: PlanRow) -> Place:
    """Return where the results of a trial belong."""
    return row.cell_id, row.arm


@dataclass(frozen=True)
class Line:
    """One arm in one cell."""

    place: Place
    planned: int
    over: int
    void: int
    """Trials of blocks that are void so far."""


class Tally:
    """Counts of one run. The thread that draws reads them while another one tells of the events of `Observer`."""

    def __init__(self, rows: Sequence[PlanRow] = ()) -> None:
        """Begin with the plan of the run."""
        self._lock = threading.Lock()
        named = sorted(rows, key=lambda row: (row.kind != "main", row.cell_id, row.arm))
        self._planned = Counter(place_of(row) for row in named)
        sizes = Counter(row.block_id for row in named)
        self.blocks_planned = len(sizes)
        """Blocks of this run, with those of earlier runs of the study."""
        self.pairs_only = set(sizes.values()) <= {2}
        """True if each block is a pair."""
        self._blocks: dict[str, tuple[Sequence[PlanRow], bool]] = {}
        self._recent: dict[str, None] = {}
        self._wrong: Counter[tuple[str, str]] = Counter()
        self._latest: dict[tuple[str, str], str] = {}
        self._running: dict[str, PlanRow] = {}
        self._attempts = 0
        self._void: list[str] = []
        self._repeated: list[str] = []
        self._to_repeat: dict[str, tuple[int, str]] = {}
        """Block → the attempt that is void, and its reason, until the block is run again."""

    def running(self, row: PlanRow) -> None:
        """Count a trial that begins."""
        with self._lock:
            self._repeat(row.block_id)
            self._running[row.trial_id] = row
            self._recent.pop(row.cell_id, None)
            self._recent[row.cell_id] = None

    def ended(self, row: PlanRow, attempt: Attempt) -> None:
        """Count a trial that has its verdict."""
        with self._lock:
            self._running.pop(row.trial_id, None)
            if attempt.attempt > self._to_repeat.get(row.block_id, (attempt.attempt, ""))[0]:
                self._repeat(row.block_id)  # workers tell of all attempts at once
            if attempt.reason in WITH_ITS_BLOCK:
                return
            self._attempts += 1
            if attempt.status == "void":
                self._void.append(attempt.reason)
                self._to_repeat[row.block_id] = attempt.attempt, attempt.reason
            if attempt.status != "verified":
                kind = attempt.status, kind_of_reason(attempt.reason)
                self._wrong[kind] += 1
                self._latest[kind] = f"{attempt.reason} ({row.cell_id} {row.arm} block {row.block})"

    def _repeat(self, block_id: str) -> None:
        if block_id in self._to_repeat:
            self._repeated.append(self._to_repeat.pop(block_id)[1])

    def run_anew(self, block: Sequence[PlanRow]) -> None:
        """Forget what was under way of a block that begins again."""
        with self._lock:
            for row in block:
                self._running.pop(row.trial_id, None)

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:
        """Count a block that has nothing left to run, or that stayed void."""
        with self._lock:
            self._blocks[block[0].block_id] = block, void

    @property
    def attempts(self) -> int:
        """Trials that ran and have their verdict, each time that they ran."""
        with self._lock:
            return self._attempts

    @property
    def disturbed(self) -> list[str]:
        """Reason of each trial that the laboratory disturbed, each time that it did."""
        with self._lock:
            return list(self._void)

    @property
    def repeated(self) -> list[str]:
        """Reason of each of them after which its block was run again."""
        with self._lock:
            return list(self._repeated)

    @property
    def blocks_over(self) -> int:
        """Blocks that are over and not void."""
        with self._lock:
            return sum(not void for _, void in self._blocks.values())

    @property
    def under_way(self) -> list[PlanRow]:
        """Trials under way, the one that has run longest first."""
        with self._lock:
            return list(self._running.values())

    @property
    def over(self) -> int:
        """Trials of blocks that are over and not void."""
        with self._lock:
            return sum(len(block) for block, void in self._blocks.values() if not void)

    @property
    def void(self) -> int:
        """Trials of blocks that are void so far."""
        with self._lock:
            return sum(len(block) for block, void in self._blocks.values() if void)

    @property
    def planned(self) -> int:
        """Trials of this run, with those of earlier runs of the study."""
        return self._planned.total()

    @property
    def wrong(self) -> list[tuple[int, str, str]]:
        """Number of attempts that went wrong in one way, that way, and the reason and place of the latest of them; the
        most frequent way first."""
        with self._lock:
            return [(number, kind[0], self._latest[kind]) for kind, number in self._wrong.most_common()]

    def lines(self, most: int) -> list[Line]:
        """Arms in cells, main cells first; where there are more than `most`, those of the cells in which trials began
        last."""
        with self._lock:
            blocks = list(self._blocks.values())
            recent = {cell: -number for number, cell in enumerate(self._recent, 1)}
        over, void = (
            Counter(place_of(row) for block, is_void in blocks if is_void == which for row in block)
            for which in (False, True)
        )
        places = list(self._planned)
        if len(places) > most:
            places = sorted(places, key=lambda place: recent.get(place[0], 0))[:most]
        return [Line(place, self._planned[place], over[place], void[place]) for place in places]

    @property
    def places(self) -> int:
        """Number of arms in cells."""
        return len(self._planned)
