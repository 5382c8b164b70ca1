# SPDX-License-Identifier: Apache-2.0
"""A processor quota for an endpoint: a share of one core, which makes it as slow as a phone.

The kernel's quota stops and goes: a program runs at full speed until its quota of the period is used up, and then
stands still. The kernel notices at its timer tick only (every 4 ms at 250 Hz), so the stalls are longer than the period
alone would make them: they are measured, and a run in which they are long compared with the round trip is reported.
"""

from __future__ import annotations

import fcntl
import os
import statistics
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from quiclab.lab.testbed._ticker import Ticker
from quiclab.model.errors import HostError
from quiclab.model.units import Duration, Share

_PREFIX = "quiclab-cpu-"
_SHORTEST_US = 1000
"""Shortest period and shortest quota that the kernel accepts, in µs; a share below one core makes the period longer."""
_SHORTEST_LOOK_NS = 1_000_000
_MOST_BYTES = 4096
"""More than `cpu.stat` holds."""


@dataclass(frozen=True)
class Stalls:
    """Number and length of the endpoint's stops by its quota. Cores add up: two that stand still count twice."""

    period_ns: int
    quota_ns: int
    periods: int
    """Number of periods in which the endpoint wanted to run."""
    stalled_periods: int
    stalled_ns: int
    median_ns: int | None
    """Median of single stalls, as far as the looks tell them apart; None if there was none."""
    stop_and_go: bool
    """True if the median stall is longer than a quarter of the round trip."""


class CpuQuota:
    """Context manager around the processes that it limits: they must have ended before it is left.

    Raises HostError where `cpu_quota_problem` would have said why.
    """

    def __init__(self, share: Share, rtt: Duration) -> None:
        """`share` of one core (two cores are 200 %); `rtt` of the path, against which stalls are judged."""
        self._rtt = rtt
        self._period_us = max(_SHORTEST_US, -(-_SHORTEST_US // share.value))
        self._quota_us = max(_SHORTEST_US, round(self._period_us * share.value))
        # A stall of RTT/4 is told from its neighbours by looks that are twice as frequent.
        self._ticker = Ticker(Duration(max(_SHORTEST_LOOK_NS, rtt.ns // 8)), self._sample)
        self._stalls_ns: list[int] = []
        self._stalled_ns = 0

    def __enter__(self) -> Self:
        own = own_cgroup()
        if own is None:
            raise HostError("no CPU quota: this process has no cgroup with the cpu controller", _hint(None))
        with ExitStack() as stack:
            try:
                self._group = stack.enter_context(_Group(own))
                self._group.set_quota(self._quota_us, self._period_us)
            except OSError as error:
                raise HostError(f"no CPU quota below {own.path}: {error.strerror}", _hint(own)) from error
            stack.enter_context(self._ticker)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def admit(self, pid: int) -> None:
        """Limit a process and the children that it will have: call it as soon as it is started. Raises HostError."""
        try:
            self._group.procs.write_text(str(pid))
        except OSError as error:
            raise HostError(f"cannot limit process {pid}: {error.strerror}") from error

    def stalls(self) -> Stalls:
        """Stalls until now; to be called before the `with` block ends."""
        periods, stalled_periods, stalled_ns = self._group.counts()
        median = round(statistics.median(self._stalls_ns)) if self._stalls_ns else None
        return Stalls(
            *(int(self._period_us * 1000), self._quota_us * 1000, periods, stalled_periods, stalled_ns, median),
            stop_and_go=median is not None and median > self._rtt.ns / 4,
        )

    def _sample(self) -> None:
        stalled_ns = self._group.counts()[2]
        if stalled_ns > self._stalled_ns:
            self._stalls_ns.append(stalled_ns - self._stalled_ns)
        self._stalled_ns = stalled_ns


class _Group:
    """A cgroup of our own. Its lock says that it is in use; a process that is killed lets it go."""

    def __init__(self, own: OwnCgroup) -> None:
        self._own = own

    def __enter__(self) -> Self:
        self._path = self._own.make_child(f"{_PREFIX}{os.urandom(6).hex()}")
        self._lock = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._stat = os.open(self._path / "cpu.stat", os.O_RDONLY)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._stat)
        deadline = time.monotonic() + 1
        while not _remove(self._path) and time.monotonic() < deadline:
            time.sleep(0.005)  # the last process is still on its way out
        os.close(self._lock)

    @property
    def procs(self) -> Path:
        return self._path / "cgroup.procs"

    def set_quota(self, quota_us: float, period_us: float) -> None:
        if self._own.version == 2:
            (self._path / "cpu.max").write_text(f"{quota_us:.0f} {period_us:.0f}")
        else:
            (self._path / "cpu.cfs_period_us").write_text(f"{period_us:.0f}")
            (self._path / "cpu.cfs_quota_us").write_text(f"{quota_us:.0f}")

    def counts(self) -> tuple[int, int, int]:
        """Periods, those that ended in a stall, and the stalled time in ns.

        Two threads may ask at once, the ticker's and the caller's: each reads from the start, without a place in the
        file that they would share.
        """
        told = dict(line.split() for line in os.pread(self._stat, _MOST_BYTES, 0).decode().splitlines())
        stalled_ns = int(told["throttled_usec"]) * 1000 if self._own.version == 2 else int(told["throttled_time"])
        return int(told["nr_periods"]), int(told["nr_throttled"]), stalled_ns


def cpu_quota_problem() -> str | None:
    """Reason why no quota can be set here, or None: makes a group, limits it, and removes it again."""
    try:
        with CpuQuota(Share(0.5), Duration(8 * _SHORTEST_LOOK_NS)):
            return None
    except HostError as error:
        return f"{error.message}{f' ({error.hint})' if error.hint else ''}"


def remove_leftover_cgroups() -> list[Path]:
    """Remove the groups that a killed run left below our own cgroup; those that somebody still uses stay."""
    own = own_cgroup()
    return [path for path in sorted(own.path.glob(f"{_PREFIX}*")) if _unused(path) and _remove(path)] if own else []


def _unused(path: Path) -> bool:
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _remove(path: Path) -> bool:
    """Remove a group; the kernel refuses while a process is in it."""
    try:
        path.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _hint(own: OwnCgroup | None) -> str:
    if own is not None and own.version == 1:
        return "run as root: cgroup version 1 gives no part of itself to a plain user"
    return "run it under: systemd-run --user --scope -p Delegate=yes (as root without --user)"


# Groups with a CPU limit, which this process makes below its own control group, of either version (cgroups(7)).
#
# Version 2 allows no process beside the groups that it divides processor time among, except in a threaded subtree: so
# ours is threaded, and no other process has to be moved. The cpu controller stays switched on for groups below our
# own, because another run may need it.
_CGROUP, _MOUNTS = Path("/proc/self/cgroup"), Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class OwnCgroup:
    """The group that this process is in."""

    version: int
    path: Path

    def make_child(self, name: str) -> Path:
        """A new group in which CPU time can be limited. Raises OSError."""
        child = self.path / name
        child.mkdir()
        try:
            if self.version == 2:
                (child / "cgroup.type").write_text("threaded")
                (self.path / "cgroup.subtree_control").write_text("+cpu")
        except OSError:
            child.rmdir()
            raise
        return child


def own_cgroup() -> OwnCgroup | None:
    """The group of the cpu controller; None where there is no such controller."""
    try:
        groups, mounts = _CGROUP.read_text(), _MOUNTS.read_text()
    except OSError:
        return None
    found = find_cgroup(groups, mounts)
    if found is None or (found.version == 2 and "cpu" not in _read(found.path / "cgroup.controllers").split()):
        return None
    return found if os.access(found.path, os.X_OK) else None


def find_cgroup(groups: str, mounts: str) -> OwnCgroup | None:
    """Find the cgroup in the texts of /proc/self/cgroup and /proc/self/mountinfo: a version 1 cpu hierarchy, else
    version 2."""
    paths: dict[str, str] = {}
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path)
    for controller, kind, version in (("cpu", "cgroup", 1), ("", "cgroup2", 2)):
        for line in mounts.splitlines():
            before, _, after = line.partition(" - ")
            root, point = before.split()[3:5]
            fstype, _, options = after.split(maxsplit=2)
            inside = paths.get(controller)
            if fstype != kind or inside is None or (version == 1 and "cpu" not in options.split(",")):
                continue
            if Path(inside).is_relative_to(root):
                return OwnCgroup(version, Path(point, Path(inside).relative_to(root)))
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
