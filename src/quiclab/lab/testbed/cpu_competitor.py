# SPDX-License-Identifier: Apache-2.0
"""A share of one core by competition: busy programs on the same core take the rest. No privilege is needed.

With a group of its own for each session (sched(7), autogroup) the kernel weighs sessions against each other, without it
processes. Every competitor is one process in a session of its own, so the weights are the same either way; what they
really leave is measured by a loop that is started in the same way as endpoints.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from quiclab.model.errors import HostError
from quiclab.model.units import Duration, Share

_WEIGHT_STEP = 1.25
"""Factor of weight by which a step of niceness differs (sched_prio_to_weight in the kernel's kernel/sched/core.c)."""
_MOST_NICE = 19

_BUSY = (sys.executable, "-S", "-c", "while True: pass")
_CALIBRATION = """
import json, statistics, time
now = time.monotonic_ns
started = last = now()
stalls = []
while last < started + 1_000_000_000:
    instant = now()
    if instant - last > 200_000:
        stalls.append(instant - last)
    last = instant
share = time.process_time_ns() / (last - started)
print(json.dumps({"share": share, "median_stall_ns": round(statistics.median(stalls)) if stalls else None}))
"""
_PATIENCE_S = 60


@dataclass(frozen=True)
class Calibration:
    """Result of a busy loop beside the competitors."""

    share: float
    median_stall_ns: int | None
    """Median of the times that the loop stands still; None if it never does for 0.2 ms."""

    def stop_and_go(self, rtt: Duration) -> bool:
        """True if the median stall is longer than a quarter of the round trip."""
        return self.median_stall_ns is not None and self.median_stall_ns > rtt.ns / 4


class CpuCompetitor:
    """Context manager: keeps `core` busy so that the process admitted to it gets `share`. Raises HostError."""

    def __init__(self, core: int, share: Share) -> None:
        if not 0.05 <= share.value < 1:
            raise HostError(f"competitors cannot leave {share} of a core", "ask for 5 % to 99 %")
        if core not in os.sched_getaffinity(0):
            raise HostError(f"this process may not run on core {core}", f"cores: {sorted(os.sched_getaffinity(0))}")
        self._core = core
        self.number, self.niceness = competition(share)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for _ in range(self.number):
                self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def admit(self, pid: int) -> None:
        """Bind a process and the threads and children that it will have to the core: call it when it is started."""
        os.sched_setaffinity(pid, {self._core})

    def calibrate(self) -> Calibration:
        """Takes a second. Call it while nothing else is measured."""
        argv = [sys.executable, "-S", "-c", _CALIBRATION]
        loop = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True)
        self.admit(loop.pid)
        told, _ = loop.communicate(timeout=_PATIENCE_S)
        return Calibration(**json.loads(told))

    def _start(self, stack: ExitStack) -> None:
        process = subprocess.Popen(_BUSY, stdin=subprocess.DEVNULL, start_new_session=True)
        stack.callback(process.wait)
        stack.callback(process.kill)
        self.admit(process.pid)
        os.setpriority(os.PRIO_PROCESS, process.pid, self.niceness)
        if self.niceness:
            _set_session_niceness(process.pid, self.niceness)


def _set_session_niceness(pid: int, niceness: int) -> None:
    """Set the niceness of a session's group; in a kernel without such groups the process's own, set already, counts."""
    deadline = time.monotonic() + _PATIENCE_S
    with contextlib.suppress(FileNotFoundError):
        while time.monotonic() < deadline:
            try:
                Path(f"/proc/{pid}/autogroup").write_text(str(niceness))
            except BlockingIOError:  # the whole machine may do this ten times a second
                time.sleep(0.02)
            else:
                return


def competition(share: Share) -> tuple[int, int]:
    """Number and niceness of competitors that leave about `share` to one program of niceness 0."""
    weight = (1 - share.value) / share.value
    number = math.ceil(weight - 1e-9)
    return number, min(_MOST_NICE, round(math.log(number / weight, _WEIGHT_STEP)))
