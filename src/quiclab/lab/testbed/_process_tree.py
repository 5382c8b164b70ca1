# SPDX-License-Identifier: Apache-2.0
"""A program with all its children, as /proc shows them: their identities, and what they have used so far."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
"""Resolution of user and system time of a process that still runs."""

_CPUCLOCK_SCHED = 2


@dataclass(frozen=True)
class Used:
    """Resources that processes have used since they began."""

    cpu_ns: int = 0
    """CPU time, user and system together."""
    user_ns: int = 0
    system_ns: int = 0
    minor_faults: int = 0
    major_faults: int = 0
    voluntary_switches: int = 0
    involuntary_switches: int = 0

    def __add__(self, other: Used) -> Used:
        return Used(*(a + b for a, b in zip(self._values(), other._values(), strict=True)))

    def since(self, earlier: Used) -> Used:
        """The difference, at least 0: clocks of different resolution could make it negative."""
        return Used(*(max(0, a - b) for a, b in zip(self._values(), earlier._values(), strict=True)))

    def at_least(self, other: Used) -> Used:
        """The larger of both, each count by itself."""
        return Used(*(max(a, b) for a, b in zip(self._values(), other._values(), strict=True)))

    def _values(self) -> tuple[int, ...]:
        return (
            *(self.cpu_ns, self.user_ns, self.system_ns, self.minor_faults, self.major_faults),
            *(self.voluntary_switches, self.involuntary_switches),
        )


@dataclass(frozen=True)
class Stat:
    """The parts of /proc/PID/stat (proc_pid_stat(5)) that are needed here."""

    pid: int
    parent: int
    session: int
    minor_faults: int
    children_minor_faults: int
    major_faults: int
    children_major_faults: int
    user_ns: int
    system_ns: int
    children_user_ns: int
    children_system_ns: int
    threads: int
    start_ticks: int
    stopped: bool = False
    """True if a signal, not a tracer, has stopped the process."""

    @property
    def identity(self) -> tuple[int, int]:
        """Identity of the process: its pid may be reused later, but not with the same start."""
        return self.pid, self.start_ticks


def everybody() -> dict[int, Stat]:
    """All processes that are visible: inside a sandbox those of the sandbox."""
    with os.scandir("/proc") as entries:
        return {stat.pid: stat for each in entries if each.name.isdigit() and (stat := _stat(int(each.name)))}


def tree(stats: Mapping[int, Stat], root: int, known: frozenset[tuple[int, int]]) -> list[Stat]:
    """Processes of a program: `root`, its descendants, those of its session, and those `known` to be its own from
    before."""

    def belongs(stat: Stat) -> bool:
        if stat.pid == root or stat.session == root or stat.identity in known:
            return True
        parent = stats.get(stat.parent)
        return parent is not None and parent.start_ticks <= stat.start_ticks and belongs(parent)

    return [stat for stat in stats.values() if belongs(stat)]


def processes_of(roots: Iterable[int]) -> set[int]:
    """Process ids of programs, given by their first processes, with all their children."""
    stats = everybody()
    return {stat.pid for root in roots for stat in tree(stats, root, frozenset())}


def used(stat: Stat) -> Used:
    """Resources that a process and its children that have ended have used, switches aside."""
    children_ns = stat.children_user_ns + stat.children_system_ns
    children = Used(
        cpu_ns=children_ns,
        user_ns=stat.children_user_ns,
        system_ns=stat.children_system_ns,
        minor_faults=stat.children_minor_faults,
        major_faults=stat.children_major_faults,
    )
    return own(stat) + children


def own(stat: Stat) -> Used:
    """Resources that a process has used by itself, switches aside."""
    return Used(
        cpu_ns=_cpu_clock_ns(stat),
        user_ns=stat.user_ns,
        system_ns=stat.system_ns,
        minor_faults=stat.minor_faults,
        major_faults=stat.major_faults,
    )


def switches(pid: int) -> dict[int, Used]:
    """Context switches of the threads that a process has now; those of ended threads only its parent learns."""
    found = {}
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            fields = _status(f"{thread}/status")
            found[int(thread.name)] = Used(
                voluntary_switches=fields.get("voluntary_ctxt_switches", 0),
                involuntary_switches=fields.get("nonvoluntary_ctxt_switches", 0),
            )
    return found


def memory(pid: int) -> tuple[int, int]:
    """Resident bytes now, and at most since the program was loaded; zeros for one that has ended."""
    fields = _status(f"/proc/{pid}/status")
    return fields.get("VmRSS", 0) * 1024, fields.get("VmHWM", 0) * 1024


def signals_heard(pid: int) -> set[int]:
    """Numbers of the signals that a process takes itself, by a handler or by waiting for what it has blocked; none of
    one that has ended."""
    try:
        lines = _read(f"/proc/{pid}/status").splitlines()
    except OSError:
        return set()
    heard = 0
    for line in lines:
        name, _, mask = line.partition(":")
        if name in ("SigCgt", "SigBlk"):
            heard |= int(mask, 16)
    return {number for number in range(1, heard.bit_length() + 1) if heard >> (number - 1) & 1}


def _cpu_clock_ns(stat: Stat) -> int:
    """CPU time by the process's own clock, to the nanosecond; by the ticks of /proc where that is refused."""
    try:
        return time.clock_gettime_ns((~stat.pid << 3) | _CPUCLOCK_SCHED)
    except OSError:
        return stat.user_ns + stat.system_ns


def _stat(pid: int) -> Stat | None:
    try:
        text = _read(f"/proc/{pid}/stat")
    except OSError:
        return None
    # The name is in parentheses and may contain anything. The first field behind it is number 3 of the manual.
    fields = ["", "", "", *text.rpartition(")")[2].split()]
    return Stat(
        pid=pid,
        parent=int(fields[4]),
        session=int(fields[6]),
        minor_faults=int(fields[10]),
        children_minor_faults=int(fields[11]),
        major_faults=int(fields[12]),
        children_major_faults=int(fields[13]),
        user_ns=int(fields[14]) * TICK_NS,
        system_ns=int(fields[15]) * TICK_NS,
        children_user_ns=int(fields[16]) * TICK_NS,
        children_system_ns=int(fields[17]) * TICK_NS,
        threads=int(fields[20]),
        start_ticks=int(fields[22]),
        stopped=fields[3] == "T",
    )


def _status(path: str) -> dict[str, int]:
    """The numeric fields of a `status` file."""
    try:
        lines = _read(path).splitlines()
    except OSError:
        return {}
    pairs = (line.split()[:2] for line in lines if line.startswith(("Vm", "vol", "nonvol")))
    return {pair[0].rstrip(":"): int(pair[1]) for pair in pairs if len(pair) == 2}


def _read(path: str) -> str:
    """Read a small file of /proc with as few calls as possible, because this runs often."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 1 << 14).decode(errors="replace")
    finally:
        os.close(fd)
