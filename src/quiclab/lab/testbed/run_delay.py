# SPDX-License-Identifier: Apache-2.0
"""Time that threads were ready to run and had no processor, as the scheduler counts it.

Source: /proc/PID/task/TID/schedstat (Linux, Documentation/scheduler/sched-stats.rst): time on a processor, time waited
on a run queue, timeslices. A stopped thread does not wait in this sense, and a wait is counted when it ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from quiclab.lab.testbed._ticker import Ticker
from quiclab.model.units import Duration

INTERVAL = Duration(50_000_000)
_MANY_THREADS = 32
"""Threads of a program from which on it is looked at less often, because each has a file of its own."""
_LOOKS_PER_LIST = 2
"""Looks for each one before which threads are listed anew."""
_LOOKS_KEPT = 20
"""Looks before, in which a wait may have begun that ends in this one."""
_NOT_OPEN = -1
_OF_PROCESS = 2
"""Clock of a process by the scheduler's count, in the low bits of a clock's number (CPUCLOCK_SCHED, Linux,
include/linux/posix-timers.h)."""
TURN = Duration(20_000)
"""Wait of each turn of a thread that delays nothing (decision 4): a packet wakes it, and the next one comes later."""


@dataclass(frozen=True)
class Waited:
    """Waits of one thread so far."""

    ns: int
    turns: int
    """Number of times that it got a processor."""


def waits(pid: int) -> dict[int, Waited]:
    """Waits of each thread that a process has now; for a process that has ended and was not waited for, of its first
    thread. Empty where the kernel does not count."""
    found = {}
    with contextlib.suppress(OSError, ValueError, IndexError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - this runs often, and a Path is slow
            _, waited_ns, turns = _read(_file(pid, int(thread))).split()
            found[int(thread)] = Waited(int(waited_ns), int(turns))
    return found


def run_delays(pid: int) -> dict[int, int]:
    """Waiting time in ns of each thread, as `waits` has it."""
    return {thread: waited.ns for thread, waited in waits(pid).items()}


def _file(pid: int, thread: int) -> str:
    return f"/proc/{pid}/task/{thread}/schedstat"


def _used_ns(pid: int) -> int | None:
    """Processor time of a process, with that of its threads that have ended; None for one that is no more."""
    try:
        return time.clock_gettime_ns(~pid << 3 | _OF_PROCESS)
    except OSError:
        return None


@dataclass(frozen=True)
class Stretch:
    """Time between two looks at a program."""

    since_ns: int
    until_ns: int
    lacking_ns: int
    """Time of one processor that the program did not run."""


def held(
    threads: Sequence[tuple[int, int]], ran_ns: int, time_ns: int, before: Sequence[Stretch] = ()
) -> tuple[int, int]:
    """Waits of all threads of a program together, and of one of them at most, that the program itself does not explain.

    A laboratory owes a program one processor. So what the program ran is no part of a wait: its threads compete with
    each other. `threads` are what each ran and waited in a stretch of `time_ns`, in which the program ran for `ran_ns`
    in all; a wait that began before the stretch has its first part in those `before` it, in order of time.
    """
    lacking_ns = max(0, time_ns - ran_ns)
    each_held = []
    for ran, waited in threads:
        within_ns = max(0, min(waited, time_ns - ran))
        each_held.append(min(within_ns, lacking_ns) + _held_before(waited - within_ns, before))
    longest_ns = max(each_held)
    return max(longest_ns, min(sum(each_held), lacking_ns)), longest_ns


def _held_before(waited_ns: int, before: Sequence[Stretch]) -> int:
    """The most that the last `waited_ns` of the stretches before owe a thread; all of what began before them."""
    owed_ns = 0
    for stretch in reversed(before):
        part_ns = min(waited_ns, stretch.until_ns - stretch.since_ns)
        owed_ns += min(part_ns, stretch.lacking_ns)
        waited_ns -= part_ns
    return owed_ns + waited_ns


def _close(fd: int) -> None:
    if fd != _NOT_OPEN:
        os.close(fd)


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 128)
    finally:
        os.close(fd)


class RunDelay:
    """Waiting time of one program and its children, between two instants."""

    def __init__(self) -> None:
        self._at_begin: dict[tuple[int, int], Waited] = {}
        self._last: dict[tuple[int, int], Waited] = {}

    def update(self, pids: Iterable[int]) -> None:
        """Keep what each thread has waited so far, because it cannot be read once the thread has ended."""
        for pid in pids:
            self._last |= {(pid, thread): waited for thread, waited in waits(pid).items()}

    def begin(self, pids: Iterable[int]) -> None:
        """Count from here on."""
        self.update(pids)
        self._at_begin = dict(self._last)

    def ended(self, pid: int, waited: Waited) -> None:
        """Note the first thread's waits, read when the program had ended."""
        known = self._last.get((pid, pid))
        if known is None or waited.ns >= known.ns:
            self._last[pid, pid] = waited

    def summary(self) -> dict[str, int | None]:
        """Waiting time in ns since `begin`, of all threads together and of the one that waited longest, with how often
        that one got a processor; None where the kernel does not count."""
        begun = Waited(0, 0)
        waited = [
            (now.ns - self._at_begin.get(thread, begun).ns, now.turns - self._at_begin.get(thread, begun).turns)
            for thread, now in self._last.items()
        ]
        longest_ns, turns = max(waited, default=(None, None))
        return {
            "sum_ns": sum(ns for ns, _ in waited) if waited else None,
            "longest_ns": longest_ns,
            "longest_turns": turns,
        }


class RunDelayCourse:
    """Context manager that notes every 50 ms how much longer the threads of each program have waited (JSON lines in
    `output`)."""

    def __init__(self, output: Path, interval: Duration = INTERVAL) -> None:
        self._output = output
        self._interval = interval
        self._programs: dict[str, _Program] = {}
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._file = stack.enter_context(self._output.open("w"))
            self._file.write(json.dumps({"run_delay": 1, "interval_ns": self._interval.ns}) + "\n")
            stack.enter_context(Ticker(self._interval, self._sample))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sample()
        self._stack.close()
        for program in self._programs.values():
            program.close()

    def know(self, role: str, pids: Iterable[int]) -> None:
        """Note the processes that a program has now."""
        with self._lock:
            self._programs.setdefault(role, _Program()).pids = frozenset(pids)

    def _sample(self) -> None:
        with self._lock:
            for role, program in self._programs.items():
                line = program.sample()
                if line and self._file is not None:
                    self._file.write(json.dumps({"at_ns": program.at_ns, "role": role} | line) + "\n")


class _Program:
    """Threads of one program, and how long each had waited at the last look. Their files stay open, because opening
    one takes longer than reading it."""

    def __init__(self) -> None:
        self.pids: frozenset[int] = frozenset()
        self.at_ns = 0
        self._used: dict[int, int] = {}
        """Process → processor time of all its threads so far, of those that have ended too."""
        self._listed_ns = 0
        self._looks = 0
        self._files: dict[tuple[int, int], int] = {}
        self._seen: dict[tuple[int, int], tuple[int, int]] = {}
        """Thread → what it has run and waited so far, in ns."""
        self._before: deque[Stretch] = deque(maxlen=_LOOKS_KEPT)

    def sample(self) -> dict[str, int] | None:
        """Look at all threads; return what they have waited since the look before, if they have."""
        lists = self._looks % _LOOKS_PER_LIST == 0
        self._looks += 1
        if not lists and len(self._files) >= _MANY_THREADS:
            return None
        since_ns, self.at_ns = self.at_ns, time.monotonic_ns()
        if lists:
            if self._list():
                # A thread that is new began since the list before.
                since_ns = self._listed_ns
            self._listed_ns = self.at_ns
        seen, used = dict(self._read()), {pid: used_ns for pid in self.pids if (used_ns := _used_ns(pid)) is not None}
        together = sum(now - self._used.get(pid, now) for pid, now in used.items())
        self._used = used
        known = [(now, self._seen[thread]) for thread, now in seen.items() if thread in self._seen]
        self._seen = seen
        threads = [(now[0] - before[0], now[1] - before[1]) for now, before in known]
        ran_ns, time_ns = max(together, sum(ran for ran, _ in threads)), self.at_ns - since_ns
        before = [stretch for stretch in self._before if stretch.until_ns <= since_ns]
        self._before.append(Stretch(since_ns, self.at_ns, max(0, time_ns - ran_ns)))
        if not any(waited for _, waited in threads):
            return None
        waited_ns, longest_ns = sum(waited for _, waited in threads), max(waited for _, waited in threads)
        held_ns, longest_held_ns = held(threads, ran_ns, time_ns, before)
        return {
            "since_ns": since_ns,
            "ran_ns": ran_ns,
            "waited_ns": waited_ns,
            "longest_ns": longest_ns,
            "held_ns": held_ns,
            "longest_held_ns": longest_held_ns,
            "threads": len(known),
        }

    def _list(self) -> bool:
        """Open the files of threads that are new; whether a process that was known has any. They count from their
        beginning, those of another process from now on."""
        known = {pid for pid, _ in self._files}
        found = False
        for pid in self.pids:
            with contextlib.suppress(OSError):
                for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - this runs often, and a Path is slow
                    thread = pid, int(name)
                    if thread in self._files:
                        continue
                    room = len(self._files) < _MANY_THREADS
                    self._files[thread] = os.open(_file(*thread), os.O_RDONLY) if room else _NOT_OPEN
                    if pid in known:
                        self._seen[thread] = 0, 0
                        found = True
        return found

    def _read(self) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Time that each thread has run and waited so far; a thread that has ended is left out."""
        for thread, fd in list(self._files.items()):
            try:
                text = _read(_file(*thread)) if fd == _NOT_OPEN else os.pread(fd, 128, 0)
                ran, waited = text.split()[:2]
                yield thread, (int(ran), int(waited))
            except (OSError, ValueError, IndexError):
                del self._files[thread]
                _close(fd)

    def close(self) -> None:
        """Close all files."""
        for fd in self._files.values():
            _close(fd)
        self._files.clear()
