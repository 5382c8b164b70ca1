# SPDX-License-Identifier: Apache-2.0
"""Time that threads were ready to run and had no processor, as the scheduler counts it.

Source: /proc/PID/task/TID/schedstat (Linux, Documentation/scheduler/sched-stats.rst): time on a processor, time waited
on a run queue, timeslices. A stopped thread does not wait in this sense, and a wait is counted when it ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path


def run_delays(pid: int) -> dict[int, int]:
    """Waiting time in ns of each thread that a process has now; for a process that has ended and was not waited for, of
    its first thread. Empty where the kernel does not count."""
    found = {}
    with contextlib.suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found[int(thread.name)] = int((thread / "schedstat").read_text().split()[1])
    return found


class RunDelay:
    """Waiting time of one program and its children, between two instants."""

    def __init__(self) -> None:
        self._at_begin: dict[tuple[int, int], int] = {}
        self._last: dict[tuple[int, int], int] = {}

    def look(self, pids: Iterable[int]) -> None:
        """Keep what each thread has waited so far, because it cannot be read once the thread has ended."""
        for pid in pids:
            self._last |= {(pid, thread): waited_ns for thread, waited_ns in run_delays(pid).items()}

    def begin(self, pids: Iterable[int]) -> None:
        """Count from here on."""
        self.look(pids)
        self._at_begin = dict(self._last)

    def ended(self, pid: int, waited_ns: int) -> None:
        """Note the first thread's waiting time, read when the program had ended."""
        self._last[pid, pid] = max(waited_ns, self._last.get((pid, pid), 0))

    def summary(self) -> dict[str, int | None]:
        """Waiting time in ns since `begin`, of all threads together and of the one that waited longest; None where the
        kernel does not count."""
        waited = [ns - self._at_begin.get(thread, 0) for thread, ns in self._last.items()]
        return {"sum_ns": sum(waited) if waited else None, "longest_ns": max(waited, default=None)}
