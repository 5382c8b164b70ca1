# SPDX-License-Identifier: Apache-2.0
"""The last look at every process and thread of a program, including those that are gone.

Some processes of a browser are never waited for: what they used is in no account of their parents.
"""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.lab.testbed import _process_tree
from quiclab.lab.testbed._process_tree import Stat, Used


class LastSeen:
    """A sum that only grows; it lacks what each process used after the last look at it."""

    def __init__(self) -> None:
        self._processes: dict[tuple[int, int], Used] = {}
        self._threads: dict[tuple[int, int, int], Used] = {}

    def look(self, stats: Sequence[Stat], *, at_threads: bool) -> None:
        """Look at processes, and at their threads if `at_threads`: a browser has a hundred."""
        for stat in stats:
            # Children that were waited for are counted where they were seen themselves.
            self._keep(self._processes, stat.identity, _process_tree.own(stat))
            if at_threads:
                for thread, switches in _process_tree.switches(stat.pid).items():
                    self._threads[(*stat.identity, thread)] = switches

    @staticmethod
    def _keep(seen: dict[tuple[int, int], Used], identity: tuple[int, int], used: Used) -> None:
        # The clock of a process that ends meanwhile tells nothing, and its ticks are coarser than what was seen.
        before = seen.get(identity)
        seen[identity] = used if before is None else before.at_least(used)

    def total(self) -> Used:
        """Sum over everything that was ever seen."""
        return sum((*self._processes.values(), *self._threads.values()), Used())
