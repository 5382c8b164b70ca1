# SPDX-License-Identifier: Apache-2.0
"""A slow machine for one program of a trial: a CPU quota, or a competitor on the same core."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from types import TracebackType
from typing import Self

from quiclab.lab.testbed.cpu_competitor import Calibration, CpuCompetitor
from quiclab.lab.testbed.cpu_limit import CpuQuota, cpu_quota_problem
from quiclab.lab.testbed.emulator import emulator_problem
from quiclab.lab.testbed.process import Process
from quiclab.model.errors import SpecError
from quiclab.model.study import Program, Study
from quiclab.model.units import Duration, Share

Calibrations = Mapping[Share, Calibration]


def calibrate(study: Study) -> Calibrations:
    """Measure what competitors really leave, once for each share that a spec asks for: a second each.

    Raises SpecError where a quota or an emulator is asked for and not possible here.
    """
    programs = [(arm, program) for arm in study.arms for _, program, _ in arm.programs()]
    emulated = [(arm, program) for arm, program in programs if program.cpu_by == "emulator"]
    if emulated and (problem := emulator_problem()) is not None:
        names = tuple(f"arm {arm.name!r}: {program.name}" for arm, program in emulated)
        raise SpecError(f"unsupported: {problem}", 'install it, or write cpu_by = "quota" and a cpu', names)
    asked = [(arm, program) for arm, program in programs if program.cpu is not None]
    if any(program.cpu_by == "quota" for _, program in asked) and (problem := cpu_quota_problem()) is not None:
        names = tuple(f"arm {arm.name!r}: {program.name}" for arm, program in asked if program.cpu_by == "quota")
        raise SpecError(f"unsupported: {problem}", 'write cpu_by = "competitor"', names)
    found = {}
    for share in {program.cpu for _, program in asked if program.cpu_by == "competitor"} - {None}:
        assert share is not None
        with CpuCompetitor(_core(), share) as competitor:
            found[share] = competitor.calibrate()
    return found


class SlowCpu:
    """Context manager around the life of one program; nothing happens where the spec sets no `cpu`."""

    def __init__(self, program: Program, rtt: Duration, calibrations: Calibrations) -> None:
        self._rtt = rtt
        self._calibration = calibrations.get(program.cpu) if program.cpu else None
        self._limit: CpuQuota | CpuCompetitor | None = None
        if program.cpu is not None:
            quota = program.cpu_by == "quota"
            self._limit = CpuQuota(program.cpu, rtt) if quota else CpuCompetitor(_core(), program.cpu)
        self._share = program.cpu
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self._limit is not None:
            self._stack.enter_context(self._limit)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def admit(self, process: Process) -> None:
        """Put a program that was just started under the limit."""
        if self._limit is not None:
            self._limit.admit(process.pid)

    def findings(self) -> dict[str, object] | None:
        """Findings about processor shares for trial.json; to be called before the `with` block ends."""
        if isinstance(self._limit, CpuQuota):
            return {
                "by": "quota",
                "asked_pct": self._share.pct if self._share else None,
                **asdict(self._limit.stalls()),
            }
        if self._calibration is not None and self._share is not None:
            told = {"by": "competitor", "asked_pct": self._share.pct, "calibrated_pct": 100 * self._calibration.share}
            stop_and_go = self._calibration.stop_and_go(self._rtt)
            return told | {"median_stall_ns": self._calibration.median_stall_ns, "stop_and_go": stop_and_go}
        return None


def _core() -> int:
    """The last one: the first takes most interrupts."""
    return max(os.sched_getaffinity(0))
