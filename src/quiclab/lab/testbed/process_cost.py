# SPDX-License-Identifier: Apache-2.0
"""Cost of client, server and proxy to their machine: processor, memory, context switches, page faults, threads.

Over a program's whole life the kernel counts exactly, and tells the process that waits for it (wait4(2)). What it used
during the transfer is the difference of two looks at /proc. In between, a look every 100 ms records threads, memory and
the course of the CPU time.

Times at which a program was stopped from outside (SIGSTOP, a debugger, a container that was paused by signals).

Its parent learns of each stop from the kernel (waitid(2), WSTOPPED and WCONTINUED), however short. Children of the
program have another parent: their state is in /proc, at each look.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from quiclab.lab.testbed import _process_tree
from quiclab.lab.testbed._process_tree import Stat, Used
from quiclab.lab.testbed._ticker import Ticker
from quiclab.lab.testbed.run_delay import RunDelay, RunDelayCourse, Waited
from quiclab.model.units import Duration

_NEWS = os.WSTOPPED | os.WCONTINUED


class Stops:
    """Watcher of a child of this process: a thread that sleeps until there is something to note."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._lock = threading.Lock()
        self._number = 0
        self._stopped_ns = 0
        self._since_ns: int | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            try:
                # The news of its end is left (WNOWAIT) for the thread that waits for the program; that of a stop is
                # consumed, so that the next one is news again.
                seen = os.waitid(os.P_PID, self._pid, _NEWS | os.WEXITED | os.WNOWAIT)
                if seen is None or seen.si_code not in (os.CLD_STOPPED, os.CLD_CONTINUED):
                    return
                event = os.waitid(os.P_PID, self._pid, _NEWS | os.WNOHANG)
            except ChildProcessError:
                return
            if event is None:
                continue
            now = time.monotonic_ns()
            with self._lock:
                if event.si_code == os.CLD_STOPPED:
                    self._number += 1
                    self._since_ns = now
                elif event.si_code == os.CLD_CONTINUED:
                    if self._since_ns is None:
                        self._number += 1  # it was over before this thread could look
                    else:
                        self._stopped_ns += now - self._since_ns
                    self._since_ns = None

    def begin(self) -> None:
        """Count from here on; a stop that lasts now goes on."""
        with self._lock:
            self._stopped_ns = 0
            self._number = 0 if self._since_ns is None else 1
            self._since_ns = None if self._since_ns is None else time.monotonic_ns()

    def summary(self) -> dict[str, int]:
        """Number of stops (those that follow one another before this thread runs count as one), and their total
        time."""
        with self._lock:
            since_ns = self._since_ns
            standing_ns = 0 if since_ns is None else time.monotonic_ns() - since_ns
            return {"number": self._number, "stopped_ns": self._stopped_ns + standing_ns}


# The last look at every process and thread of a program, including those that are gone.
#
# Some processes of a browser are never waited for: what they used is in no account of their parents.
class LastSeen:
    """A sum that only grows; it lacks what each process used after the last look at it."""

    def __init__(self) -> None:
        self._processes: dict[tuple[int, int], Used] = {}
        self._threads: dict[tuple[int, int, int], Used] = {}

    def update(self, stats: Sequence[Stat], *, at_threads: bool) -> None:
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


INTERVAL = Duration(100_000_000)
_LOOKS_PER_LOOK_AT_THREADS = 3
"""Looks for each one that includes threads, because reading a file for each thread takes time."""


def reap(process: subprocess.Popen[bytes]) -> resource.struct_rusage:
    """Wait for a program that was not waited for yet; return what it and the children that it waited for have used."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


@dataclass
class _Role:
    """One program with its children."""

    name: str
    pid: int
    known: frozenset[tuple[int, int]] = frozenset()
    processes: int = 0
    threads: int = 0
    tree_bytes: int = 0
    """Most memory that all processes together had at one look, by the peak of each (VmHWM)."""
    process_bytes: int = 0
    """The largest VmHWM of one process."""
    at_begin: Used = field(default_factory=Used)
    at_end: Used | None = None
    seen: LastSeen = field(default_factory=LastSeen)
    seen_at_begin: Used = field(default_factory=Used)
    seen_at_end: Used = field(default_factory=Used)
    delay: RunDelay = field(default_factory=RunDelay)
    looks_stopped: int = 0
    """Number of looks at which one of its processes stood still."""
    stops: Stops | None = None
    stood_still: dict[str, int] | None = None
    life: Used | None = None
    max_rss_bytes: int = 0
    """Peak memory of the largest process by ru_maxrss, but see `_memory`."""


class ProcessCosts:
    """Context manager: looks at each watched program every 100 ms, and keeps what it sees in `output` (JSON lines)."""

    def __init__(
        self, output: Path | None = None, interval: Duration = INTERVAL, course: RunDelayCourse | None = None
    ) -> None:
        """Make it. `course`, if given, is told which processes each program has."""
        self._output = output
        self._course = course
        self._roles: dict[str, _Role] = {}
        self._lock = threading.Lock()
        self._looks = 0
        self._ticker = Ticker(interval, self._sample)
        self._stack = ExitStack()
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            if self._output is not None:
                self._file = stack.enter_context(self._output.open("w"))
            stack.enter_context(self._ticker)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def watch(self, role: str, pid: int) -> None:
        """Watch a program from now on; `pid` should lead a session of its own, so that children that it left behind are
        found."""
        with self._lock:
            self._roles[role] = _Role(role, pid, stops=Stops(pid))
        if self._course is not None:
            self._course.know(role, [pid])

    def begin(self) -> None:
        """Note that the transfer begins. A program that is watched only later counts as started with it."""
        with self._lock:
            for role, stats in self._trees():
                role.at_begin = _used(stats)
                role.delay.begin(stat.pid for stat in stats)
                role.looks_stopped = 0
                if role.stops is not None:
                    role.stops.begin()
                role.seen.update(stats, at_threads=True)
                role.seen_at_begin = role.seen.total()

    def end(self) -> None:
        """Note that the transfer is over; to be called before the programs that still run are told to end."""
        self._sample()
        with self._lock:
            for role, stats in self._trees():
                role.seen.update(stats, at_threads=True)
                role.seen_at_end = role.seen.total()
                role.delay.update(stat.pid for stat in stats)
                role.stood_still = _stood_still(role)
                if role.life is None and any(stat.pid == role.pid for stat in stats):
                    role.at_end = _used(stats)

    def ended(self, name: str, usage: resource.struct_rusage, waited: Waited | None = None) -> None:
        """Note a program that was waited for, with this account; children that outlived it are still in /proc.
        `waited` is that of its first thread, if it ended before the transfer did."""
        with self._lock:
            role = self._roles[name]
            if role.at_end is None and waited is not None:
                role.delay.ended(role.pid, waited)
            outlived = next(stats for each, stats in self._trees() if each is role)
            role.life = _used_by(usage) + _used([stat for stat in outlived if stat.pid != role.pid])
            role.max_rss_bytes = usage.ru_maxrss * 1024
            if role.at_end is None:
                role.at_end = role.life

    def summary(self) -> dict[str, object]:
        """Costs by role, for trial.json. Times of `life` are exact; user and system of `transfer` are accurate to 10 ms
        each."""
        with self._lock:
            return {name: _summary(role) for name, role in self._roles.items()}

    def _sample(self) -> None:
        now = time.monotonic_ns()
        with self._lock:
            self._looks += 1
            for role, stats in self._trees():
                if not stats or role.life is not None:
                    continue
                at_threads = self._looks % _LOOKS_PER_LOOK_AT_THREADS == 0
                role.seen.update(stats, at_threads=at_threads)
                if at_threads:
                    role.delay.update(stat.pid for stat in stats)
                role.looks_stopped += any(stat.stopped for stat in stats if stat.pid != role.pid)
                memory = [_process_tree.memory(stat.pid) for stat in stats]
                threads = sum(stat.threads for stat in stats)
                role.processes = max(role.processes, len(stats))
                role.threads = max(role.threads, threads)
                role.tree_bytes = max(role.tree_bytes, sum(peak for _, peak in memory))
                role.process_bytes = max(role.process_bytes, *(peak for _, peak in memory))
                if self._file is not None:
                    line = {
                        "at_ns": now,
                        "role": role.name,
                        "processes": len(stats),
                        "threads": threads,
                        "cpu_ns": sum(_process_tree.used(stat).cpu_ns for stat in stats),
                        "resident_bytes": sum(resident for resident, _ in memory),
                    }
                    self._file.write(json.dumps(line) + "\n")

    def _trees(self) -> Iterator[tuple[_Role, list[Stat]]]:
        everybody = _process_tree.everybody()
        for role in self._roles.values():
            stats = _process_tree.tree(everybody, role.pid, role.known)
            role.known = frozenset(stat.identity for stat in stats)
            if self._course is not None:
                self._course.know(role.name, (stat.pid for stat in stats))
            yield role, stats


def _used(stats: list[Stat]) -> Used:
    threads = (switches for stat in stats for switches in _process_tree.switches(stat.pid).values())
    return sum((*(_process_tree.used(stat) for stat in stats), *threads), Used())


def _used_by(usage: resource.struct_rusage) -> Used:
    user_ns, system_ns = round(usage.ru_utime * 1e9), round(usage.ru_stime * 1e9)
    faults = usage.ru_minflt, usage.ru_majflt
    return Used(user_ns + system_ns, user_ns, system_ns, *faults, usage.ru_nvcsw, usage.ru_nivcsw)


def _summary(role: _Role) -> dict[str, object]:
    return {
        "life": None if role.life is None else asdict(role.life),
        "transfer": None if role.at_end is None else asdict(_transfer(role, role.at_end)),
        **_memory(role),
        "most_processes": role.processes,
        "most_threads": role.threads,
        "run_delay": role.delay.summary(),
        "stood_still": role.stood_still,
    }


def _stood_still(role: _Role) -> dict[str, int]:
    """Number and length of the program's own stops; for its children, the number of looks at which one of them stood
    still."""
    own = {"number": 0, "stopped_ns": 0} if role.stops is None else role.stops.summary()
    return own | {"looks_at_children": role.looks_stopped}


def _transfer(role: _Role, at_end: Used) -> Used:
    """Larger one of two accounts, each of which lacks something. The kernel's is exact, but for a client that has ended
    it has only the processes that were waited for, not all of a browser's. What was seen of each covers all, up to the
    last look."""
    return at_end.since(role.at_begin).at_least(role.seen_at_end.since(role.seen_at_begin))


def _memory(role: _Role) -> dict[str, object]:
    """Peak memory of the whole tree and of its largest process, which is what `time -v` shows.

    VmHWM starts with the program, but is not read at the very end. ru_maxrss is exact, but starts with the peak of the
    process that started the program (memory is shared until exec): only one above ours is surely the program's own.
    """
    own_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    certain = role.max_rss_bytes > max(own_bytes, role.process_bytes) or role.process_bytes == 0
    largest = role.max_rss_bytes if certain else role.process_bytes
    return {
        "peak_memory_bytes": max(role.tree_bytes, largest),
        "largest_process_bytes": largest,
        "largest_process_source": "ru_maxrss" if certain else "VmHWM",
    }
