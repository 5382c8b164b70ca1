# SPDX-License-Identifier: Apache-2.0
"""The programs of all flows beside the measured one, and the clock of a competition.

    prepare ─▶ begin ─▶ each starts at its time ─▶ over, or the measured client has ended ─▶ end

Every flow has its own client and server, in namespaces of their own; its logs are in `raw/competitors/<label>`. What
becomes of them stands in trial.json under `competition`.
"""

from __future__ import annotations

import contextlib
import threading
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from quiclab.endpoints import Command
from quiclab.endpoints.background import Place, background_commands
from quiclab.errors import TrialError
from quiclab.plan.rows import PlanRow
from quiclab.runner.commands import ORIGIN_PORT, PORT, Part, Seat, part_command, path_of, workload_of
from quiclab.runner.competitor import Competitor, told_end_ns
from quiclab.runner.flows import MEASURED, Flow, other_flows
from quiclab.runner.laboratory import Laboratory
from quiclab.runner.pacing import pace
from quiclab.runner.topology import Topology
from quiclab.spec import model
from quiclab.testbed.hub import Pair
from quiclab.testbed.link import End
from quiclab.testbed.process import Process
from quiclab.testbed.sampler import tcp_congestion_control
from quiclab.testbed.tcp_info import TcpInfoSampler
from quiclab.units import Duration

_LOOK_S = 0.1
"""How often it is looked whether all flows still run."""
_SAMPLES = Duration(50_000_000)
"""Between two looks at a competitor's TCP."""
_CLIENT_PATIENCE_S = 60


class Contest:
    """Context manager around the other flows of a trial; of one without a competition it does nothing."""

    def __init__(self, laboratory: Laboratory, row: PlanRow, raw: Path, topology: Topology) -> None:
        self._laboratory = laboratory
        self._raw = raw
        self._topology = topology
        self._seed = row.seed
        self._ip_version: Literal[4, 6] = path_of(laboratory.study, row).ip_version
        self._competition = workload_of(laboratory.study, row).competition
        self._arm = next(arm for arm in laboratory.study.arms if arm.name == row.arm_name)
        self._running = [Competitor(flow, self._folder(flow)) for flow in other_flows(laboratory.study, row)]
        self._clients: dict[str, Command] = {}
        self._stack = ExitStack()
        self._over = threading.Event()
        self._began_ns = self._ended_ns = self._measured_ns = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._stack.close()

    def prepare(self, patience_s: float) -> None:
        """Servers that are warm and clients that wait. Raises TrialError with the label of whoever cannot."""
        plans = [(each, self._commands(each.flow)) for each in self._running]
        for each, commands in plans:
            for part in ("server", "proxy", "warm-up"):
                self._start(each, part, commands)
            if commands["client"].waits_for_go:
                self._start(each, "client", commands)
        for each, commands in plans:
            flow, namespaces = each.flow, self._topology.others[each.flow.pair]
            with _told_of(flow):
                if "proxy" in commands:
                    each.processes["server"].wait_for_sockets(ORIGIN_PORT, commands["server"].sockets, patience_s)
                front: Part = "proxy" if "proxy" in commands else "server"
                each.processes[front].wait_for_sockets(flow.port, commands[front].sockets, patience_s)
                if flow.arm is not None and flow.tcp.pacing:
                    origin = each.processes["server"] if "proxy" in commands else None
                    pace(flow.arm, namespaces["server"], namespaces["server"], origin, each.processes[front], flow.port)
                if (warm_up := each.processes.get("warm-up")) is not None:
                    warm_up.go()
        for each, commands in plans:
            with _told_of(each.flow):
                if (warm_up := each.processes.get("warm-up")) is not None and warm_up.wait(patience_s) != 0:
                    words = warm_up.last_words() or "no answer in time"
                    raise TrialError(f"its server did not answer the warm-up request: {words}")
                ready = commands["client"].ready_file
                if ready is not None and commands["client"].waits_for_go:
                    each.processes["client"].wait_for_file(ready, _CLIENT_PATIENCE_S)
        for each in self._running:
            if each.flow.arm is not None and each.flow.arm.protocol != "h3":
                namespace, flow = self._topology.others[each.flow.pair]["server"], each.flow
                file = each.raw / "server.tcpinfo"
                self._stack.enter_context(TcpInfoSampler(namespace, self._ip_version, flow.port, _SAMPLES, file))
        self._clients = {each.flow.label: commands["client"] for each, commands in plans}

    def _commands(self, flow: Flow) -> dict[Part, Command]:
        raw, home = self._folder(flow), self._raw.parent / "home" / flow.label
        for folder in (raw, home):
            folder.mkdir(parents=True)
        address = flow.pair.addresses("server")[self._ip_version]
        if flow.background is not None:
            place = Place(self._ip_version, address, flow.port, self._seed + flow.pair.number, home)
            both = background_commands(flow.background, place)
            commands: dict[Part, Command] = {"server": both["server"], "client": both["client"]}
        else:
            assert flow.arm is not None
            assert flow.workload is not None
            seat = Seat(raw, home, self._ip_version, address, flow.port, qlogs=False)
            parts: tuple[Part, ...] = ("server", "proxy") if flow.arm.proxy else ("server",)
            commands = {
                part: part_command(self._laboratory, flow.arm, flow.workload, seat, part)
                for part in (*parts, "warm-up", "client")
            }
        for command in commands.values():
            for file, content in command.files.items():
                file.parent.mkdir(exist_ok=True)
                file.write_text(content)
        for folder in (raw, home):
            self._laboratory.confinement.give(folder)
        return commands

    def _start(self, each: Competitor, part: Part, commands: dict[Part, Command]) -> None:
        if (command := commands.get(part)) is None:
            return
        end: End = "client" if part == "client" else "server"
        each.processes[part] = self._stack.enter_context(
            Process(
                f"the {part} of {each.flow.label}",
                command.argv,
                command.env,
                self._topology.others[each.flow.pair][end],
                work_dir=self._raw.parent / "home" / each.flow.label,
                output=each.raw / f"{part}.out",
                confinement=self._laboratory.confinement,
                waits_for_go=command.waits_for_go,
            )
        )

    def _folder(self, flow: Flow) -> Path:
        return self._raw / "competitors" / flow.label

    def begin(self) -> None:
        """The clock starts; returns when the measured client is to ask."""
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
                self._start(each, "client", {"client": self._clients[each.flow.label]})
            each.started_ns = time.monotonic_ns()
            each.processes["client"].go()

    @property
    def lasts(self) -> Duration | None:
        """How long, where that does not depend on the measured client."""
        return self._competition.duration if self._competition else None

    def patience_s(self, longest_s: float) -> float:
        """How long to wait until the next look at everything."""
        if self._competition is None:
            return longest_s
        left_s = (self._began_ns + self.lasts.ns - time.monotonic_ns()) / 1e9 if self.lasts else longest_s
        return max(0.0, min(longest_s, left_s, _LOOK_S))

    @property
    def is_over(self) -> bool:
        """Its time is up."""
        return self.lasts is not None and time.monotonic_ns() >= self._began_ns + self.lasts.ns

    def check(self) -> None:
        """Raises TrialError where another flow has ended before its time; lets pages be loaded again."""
        for each in self._running:
            if each.flow.label in self._clients:
                command = self._clients[each.flow.label]
                each.go_on(command, partial(self._start, each, "client", {"client": command}))
            if each.started_ns is not None and (why := each.trouble()) is not None:
                ran_s = (time.monotonic_ns() - each.started_ns) / 1e9
                raise TrialError(f"{each.flow.label} did not compete to the end: after {ran_s:.1f} s {why}")

    def end(self) -> None:
        """The measured transfer is over: note how all stand, while the link still runs."""
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
        self._stack.close()

    def facts(self) -> dict[str, Any]:
        """For trial.json."""
        if self._competition is None:
            return {}
        measured = {
            "label": MEASURED,
            "arm": self._arm.name,
            "background": None,
            "protocol": self._arm.protocol,
            **self._where(Pair(0), PORT),
            "started_ns": self._measured_ns,
        }
        told_ns = told_end_ns(self._raw)
        return {
            "competition": {
                "began_ns": self._began_ns,
                "ended_ns": self._ended_ns if told_ns is None else min(told_ns, self._ended_ns),
                "lasts_ns": self.lasts.ns if self.lasts else None,
                "lost_in_hubs": self._topology.lost_in_hubs,
                "flows": [measured, *(self._of(each) for each in self._running)],
            }
        }

    def _of(self, each: Competitor) -> dict[str, Any]:
        flow = each.flow
        return {
            "label": flow.label,
            "arm": flow.arm.name if flow.arm else None,
            "background": flow.background.kind if flow.background else None,
            "protocol": flow.arm.protocol if flow.arm else _transport(flow.background),
            **self._where(flow.pair, flow.port),
            "started_ns": each.started_ns,
            "ended": each.ended,
            "loads": each.loads if each.loads_pages else None,
            "tcp_congestion_control_asked": flow.tcp.congestion_control,
            "tcp_congestion_control": each.congestion_control,
        }

    def _where(self, pair: Pair, port: int) -> dict[str, Any]:
        version = self._ip_version
        ends = {f"{end}_address": pair.addresses(end)[version] for end in ("client", "server")}
        return {**ends, "server_port": port}


def _transport(background: model.Background | None) -> str:
    return "tcp" if background is not None and background.kind == "short_flows" else "udp"


@contextlib.contextmanager
def _told_of(flow: Flow) -> Any:
    """Let a reason say whose it is."""
    try:
        yield
    except TrialError as error:
        raise TrialError(f"{flow.label}: {error.message}") from error
