# SPDX-License-Identifier: Apache-2.0
"""The clock of a competition, and what becomes of the flows beside the measured one.

    prepare ─▶ begin ─▶ each starts at its time ─▶ over, or the measured client has ended ─▶ end

Every flow has its own client and server, in namespaces of their own; its logs are in `raw/competitors/<label>`.
`competitor_programs` starts them; what became of them stands in trial.json under `competition`.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from quiclab.lab.runner.commands import PORT, arm_of, path_of, workload_of
from quiclab.lab.runner.competitor import Competitor, ends_of, told_end_ns
from quiclab.lab.runner.competitor_programs import CompetitorPrograms
from quiclab.lab.runner.flows import MEASURED, other_flows
from quiclab.lab.runner.jails import Jails
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.topology import Topology
from quiclab.lab.testbed.hub import Pair
from quiclab.lab.testbed.sampler import tcp_congestion_control
from quiclab.model.errors import TrialError
from quiclab.model.plan_row import PlanRow
from quiclab.model.units import Duration

_LOOK_S = 0.1
"""Longest time between two checks that all flows still run."""


class Contest:
    """Context manager around the other flows of a trial; of one without a competition it does nothing."""

    def __init__(self, laboratory: Laboratory, row: PlanRow, raw: Path, topology: Topology, jails: Jails) -> None:
        self._measured = jails.jail("client").raw
        self._topology = topology
        self._ip_version: Literal[4, 6] = path_of(laboratory.study, row).ip_version
        self._competition = workload_of(laboratory.study, row).competition
        self._arm = arm_of(laboratory.study, row)
        self._programs = CompetitorPrograms(laboratory, row, raw, topology, jails)
        flows = other_flows(laboratory.study, row)
        self._running = [Competitor(flow, jails.flow_jail(flow.label, "client")) for flow in flows]
        self._over = threading.Event()
        self._began_ns = self._ended_ns = self._measured_ns = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._programs.close()

    def prepare(self, patience_s: float) -> None:
        """Warm the servers up and make the clients wait. Raises TrialError with the label of a flow that cannot."""
        self._programs.prepare(self._running, patience_s)

    def begin(self) -> None:
        """Start the clock; return when the measured client is to ask."""
        self._began_ns = time.monotonic_ns()
        if self._running:
            threading.Thread(target=self._start_each, daemon=True).start()
        if self._competition is not None:
            time.sleep(self._competition.start.s)
        self._measured_ns = time.monotonic_ns()

    def _start_each(self) -> None:
        for each in sorted(self._running, key=lambda each: each.flow.start):
            wait_s = (self._began_ns + each.flow.start.ns - time.monotonic_ns()) / 1e9
            if self._over.wait(max(0.0, wait_s)):
                return
            if "client" not in each.processes:
                self._programs.start(each, "client")
            each.started_ns = time.monotonic_ns()
            each.processes["client"].go()

    @property
    def lasts(self) -> Duration | None:
        """Length of the competition, where that does not depend on the measured client."""
        return self._competition.duration if self._competition else None

    def patience_s(self, longest_s: float) -> float:
        """Return how long to wait until the next check of all flows."""
        if self._competition is None:
            return longest_s
        left_s = (self._began_ns + self.lasts.ns - time.monotonic_ns()) / 1e9 if self.lasts else longest_s
        return max(0.0, min(longest_s, left_s, _LOOK_S))

    @property
    def is_over(self) -> bool:
        """True if the time of the competition is up."""
        return self.lasts is not None and time.monotonic_ns() >= self._began_ns + self.lasts.ns

    def check(self) -> None:
        """Let pages be loaded again. Raises TrialError where another flow has ended before its time."""
        for each in self._running:
            each.go_on(self._programs.command(each, "client"), partial(self._programs.start, each, "client"))
            if each.started_ns is not None and (why := each.trouble()) is not None:
                ran_s = (time.monotonic_ns() - each.started_ns) / 1e9
                raise TrialError(f"{each.flow.label} did not compete to the end: after {ran_s:.1f} s {why}")

    def end(self) -> None:
        """Note how all flows stand when the measured transfer is over, while the link still runs."""
        now_ns = time.monotonic_ns()
        self._ended_ns = self._began_ns + self.lasts.ns if self.lasts and self.is_over else now_ns
        self._over.set()
        for each in self._running:
            if each.started_ns is not None:
                each.ended = each.trouble() or "running"
            if each.flow.arm is not None and each.flow.arm.protocol != "h3":
                namespace = self._topology.others[each.flow.pair]["server"]
                each.congestion_control = tcp_congestion_control(namespace, self._ip_version, each.flow.port)

    def stop(self) -> None:
        """End all programs; nothing of theirs is waited for."""
        for each in self._running:
            for process in each.processes.values():
                process.end(grace_s=0.0)
        self._programs.close()

    def document(self) -> dict[str, object]:
        """The competition as trial.json has it."""
        if self._competition is None:
            return {}
        measured = {
            "label": MEASURED,
            "arm": self._arm.name,
            "background": None,
            "protocol": self._arm.protocol,
            **ends_of(Pair(0), PORT, self._ip_version),
            "started_ns": self._measured_ns,
        }
        told_ns = told_end_ns(self._measured)
        return {
            "competition": {
                "began_ns": self._began_ns,
                "ended_ns": self._ended_ns if told_ns is None else min(told_ns, self._ended_ns),
                "lasts_ns": self.lasts.ns if self.lasts else None,
                "lost_in_hubs": self._topology.lost_in_hubs,
                "flows": [measured, *(each.document(self._ip_version) for each in self._running)],
            }
        }
