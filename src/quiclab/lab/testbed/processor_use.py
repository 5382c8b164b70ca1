# SPDX-License-Identifier: Apache-2.0
"""Use of this machine's processors: time of programs, time that a hypervisor kept back (proc_stat(5)), and the
governor that saves power."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_STAT = Path("/proc/stat")
_GOVERNORS = "cpu*/cpufreq/scaling_governor"
_PROCESSORS = Path("/sys/devices/system/cpu")
_SLOW_GOVERNORS = {"powersave", "conservative", "ondemand"}
"""Governors that leave a processor slow until it has been busy (Documentation/admin-guide/pm/cpufreq.rst)."""
_WITHOUT_GRADES = {"intel_pstate", "amd-pstate-epp", "amd_pstate_epp"}
"""Drivers whose `powersave` is no fixed speed, but the processor's own choice."""


@dataclass(frozen=True)
class ProcessorUse:
    """Sums since the machine's start, in seconds of one processor, at one instant."""

    at_s: float
    used_s: float
    """Time that programs and the kernel used."""
    stolen_s: float
    """Time that a hypervisor gave to others while a program here wanted it; 0 where it does not tell."""

    @classmethod
    def now(cls) -> Self:
        """The sums now; all 0 where the kernel does not tell."""
        try:
            line = _STAT.read_text().partition("\n")[0]
        except OSError:
            line = ""
        return cls.parse(line, time.monotonic(), os.sysconf("SC_CLK_TCK"))

    @classmethod
    def parse(cls, line: str, at_s: float, ticks_per_s: int) -> Self:
        """The sums of the first line of /proc/stat."""
        columns = [int(each) for each in line.split()[1:9]]
        user, nice, system, _, _, irq, softirq, stolen = columns if len(columns) == 8 else [0] * 8
        return cls(at_s, (user + nice + system + irq + softirq) / ticks_per_s, stolen / ticks_per_s)

    def since(self, earlier: Self) -> tuple[float, float]:
        """Processors that were in use since then, and that were stolen, on average."""
        elapsed_s = max(1e-9, self.at_s - earlier.at_s)
        return (self.used_s - earlier.used_s) / elapsed_s, (self.stolen_s - earlier.stolen_s) / elapsed_s


def ran_s(pid: int) -> float:
    """Seconds of one processor that a process's present threads have used; 0 where the kernel does not count."""
    used_ns = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            used_ns += int((thread / "schedstat").read_text().split()[0])
    return used_ns / 1e9


def slow_governor(folder: Path = _PROCESSORS) -> str | None:
    """The governor that saves power at the cost of speed, where a processor has one; None where none has."""
    for file in sorted(folder.glob(_GOVERNORS)):
        try:
            governor = file.read_text().strip()
            driver = file.with_name("scaling_driver").read_text().strip()
        except OSError:
            continue
        if governor in _SLOW_GOVERNORS and driver not in _WITHOUT_GRADES:
            return governor
    return None
