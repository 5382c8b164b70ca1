# SPDX-License-Identifier: Apache-2.0
"""The programs of the flows beside the measured one: started, warm, and waiting for their time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from quiclab.lab.endpoints import Command
from quiclab.lab.endpoints.background import FlowSource, background_commands
from quiclab.lab.runner.commands import ORIGIN_PORT, Part, Seat, part_command, path_of
from quiclab.lab.runner.competitor import Competitor
from quiclab.lab.runner.flows import Flow
from quiclab.lab.runner.jails import Jails, role_of
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.pacing import pace
from quiclab.lab.runner.topology import Topology
from quiclab.lab.testbed.link import End
from quiclab.lab.testbed.process import Process
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
