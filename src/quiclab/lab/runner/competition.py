# SPDX-License-Identifier: Apache-2.0
"""The clock of a competition, and what becomes of the flows beside the measured one.

    prepare ─▶ begin ─▶ each starts at its time ─▶ over, or the measured client has ended ─▶ end

Every flow has its own client and server, in namespaces of their own; its logs are in `raw/competitors/<label>`.
`competitor_programs` starts them; what became of them stands in trial.json under `competition`.

The programs of the flows beside the measured one: started, warm, and waiting for their time.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from quiclab.lab.endpoints import Command
from quiclab.lab.endpoints.background import FlowSource, background_commands
from quiclab.lab.runner.commands import ORIGIN_PORT, PORT, Part, Seat, arm_of, part_command, path_of, workload_of
from quiclab.lab.runner.competitor import Competitor, ends_of, told_end_ns
from quiclab.lab.runner.flows import MEASURED, Flow, other_flows
from quiclab.lab.runner.jails import Jails, role_of
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.pacing import pace
from quiclab.lab.runner.topology import Topology
from quiclab.lab.testbed.hub import Pair
from quiclab.lab.testbed.link import End
from quiclab.lab.testbed.process import Process
from quiclab.lab.testbed.sampler import tcp_congestion_control
from quiclab.lab.testbed.tcp_info import TcpInfoSampler
from quiclab.model import study
from quiclab.model.errors import TrialError
from quiclab.model.plan_row import PlanRow
from quiclab.model.units import Duration

_SAMPLES = Duration(50_000_000)
"""Time between two samples of a competitor's TCP."""
_CLIENT_PATIENCE_S = 60


class CompetitorPrograms:
    """Starts the programs of all competitors, each in the namespaces of its flow; `close` ends them."""

    def __init__(self, laboratory: Laboratory, row: PlanRow, raw: Path, topology: Topology, jails: Jails) -> None:
        self._laboratory = laboratory
        self._jails = jails
        self._raw = raw
        self._topology = topology
        self._seed = row.seed
        self._ip_version: Literal[4, 6] = path_of(laboratory.study, row).ip_version
        self._commands: dict[str, dict[Part, Command]] = {}
        """Commands of each flow, by its label."""
        self._resources = ExitStack()

    def folder(self, flow: Flow) -> Path:
        """Folder of a flow's logs."""
        return self._raw / "competitors" / flow.label

    def command(self, each: Competitor, part: Part) -> Command:
        """The command of one part of a flow that was prepared."""
        return self._commands[each.flow.label][part]

    def prepare(self, competitors: Sequence[Competitor], patience_s: float) -> None:
        """Start all servers and the clients that can wait, and warm the servers up.

        Raises TrialError with the label of a flow whose programs cannot."""
        for each in competitors:
            self._commands[each.flow.label] = self._commands_with_files(each.flow)
        self._jails.build()
        for each in competitors:
            for part in ("server", "proxy", "warm-up"):
                if part in self._commands[each.flow.label]:
                    self.start(each, part)
            if self.command(each, "client").waits_for_go:
                self.start(each, "client")
        for each in competitors:
            with _told_of(each.flow):
                self._await_server(each, patience_s)
        for each in competitors:
            with _told_of(each.flow):
                self._await_warm_up(each, patience_s)
        for each in competitors:
            self._sample_tcp(each)

    def start(self, each: Competitor, part: Part) -> None:
        """Start one program of a flow."""
        command = self.command(each, part)
        end: End = "client" if part == "client" else "server"
        each.processes[part] = self._resources.enter_context(
            Process(
                f"the {part} of {each.flow.label}",
                command.argv,
                command.env,
                self._topology.others[each.flow.pair][end],
                work_dir=self._home(each.flow),
                output=self.folder(each.flow) / f"{part}.out",
                jail=self._jails.flow_jail(each.flow.label, role_of(part)),
                waits_for_go=command.waits_for_go,
            )
        )

    def close(self) -> None:
        """End all that were started."""
        self._resources.close()

    def _home(self, flow: Flow) -> Path:
        return self._raw.parent / "home" / flow.label

    def _commands_with_files(self, flow: Flow) -> dict[Part, Command]:
        raw, home = self.folder(flow), self._home(flow)
        raw.mkdir(parents=True)
        commands = self._commands_of(flow, raw, home)
        for part, command in commands.items():
            # The two programs of background traffic read one file.
            roles: tuple[study.Role, ...] = (role_of(part),) if flow.background is None else ("server", "client")
            for jail in (self._jails.flow_jail(flow.label, role) for role in roles):
                for file, content in command.files.items():
                    jail.real(file).parent.mkdir(exist_ok=True)
                    jail.real(file).write_text(content)
        return commands

    def _commands_of(self, flow: Flow, raw: Path, home: Path) -> dict[Part, Command]:
        address = flow.pair.addresses("server")[self._ip_version]
        if flow.background is not None:
            place = FlowSource(self._ip_version, address, flow.port, self._seed + flow.pair.number, home)
            both = background_commands(flow.background, place)
            return {"server": both["server"], "client": both["client"]}
        assert flow.arm is not None
        assert flow.workload is not None
        seat = Seat(raw, home, self._ip_version, address, flow.port, qlogs=False)
        parts: tuple[Part, ...] = ("server", "proxy") if flow.arm.proxy else ("server",)
        return {
            part: part_command(self._laboratory, flow.arm, flow.workload, seat, part)
            for part in (*parts, "warm-up", "client")
        }

    def _await_server(self, each: Competitor, patience_s: float) -> None:
        """Wait until a flow's server listens, and send it the warm-up request."""
        flow, namespaces, commands = each.flow, self._topology.others[each.flow.pair], self._commands[each.flow.label]
        if "proxy" in commands:
            each.processes["server"].wait_for_sockets(ORIGIN_PORT, commands["server"].sockets, patience_s)
        front: Part = "proxy" if "proxy" in commands else "server"
        each.processes[front].wait_for_sockets(flow.port, commands[front].sockets, patience_s)
        if flow.arm is not None and flow.tcp.pacing:
            origin = each.processes["server"] if "proxy" in commands else None
            pace(flow.arm, namespaces["server"], namespaces["server"], origin, each.processes[front], flow.port)
        if (warm_up := each.processes.get("warm-up")) is not None:
            warm_up.go()

    def _await_warm_up(self, each: Competitor, patience_s: float) -> None:
        """Wait for the answer to the warm-up request, and for a client that waits for its go."""
        if (warm_up := each.processes.get("warm-up")) is not None and warm_up.wait(patience_s) != 0:
            words = warm_up.last_words() or "no answer in time"
            raise TrialError(f"its server did not answer the warm-up request: {words}")
        command = self.command(each, "client")
        if command.ready_file is not None and command.waits_for_go:
            each.processes["client"].wait_for_file(each.jail.real(command.ready_file), _CLIENT_PATIENCE_S)

    def _sample_tcp(self, each: Competitor) -> None:
        """Ask the kernel of a download's server about its TCP from now on."""
        flow = each.flow
        if flow.arm is not None and flow.arm.protocol != "h3":
            namespace, file = self._topology.others[flow.pair]["server"], self.folder(flow) / "server.tcpinfo"
            self._resources.enter_context(TcpInfoSampler(namespace, self._ip_version, flow.port, _SAMPLES, file))


@contextlib.contextmanager
def _told_of(flow: Flow) -> Iterator[None]:
    """Put the label of the flow before the reason of a TrialError."""
    try:
        yield
    except TrialError as error:
        raise TrialError(f"{flow.label}: {error.message}") from error


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
