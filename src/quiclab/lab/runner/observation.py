# SPDX-License-Identifier: Apache-2.0
"""Observation of a trial's programs while they run: what they cost, what TCP says of itself, which sockets dropped."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from quiclab.lab.runner.commands import ORIGIN_PORT, PORT
from quiclab.lab.runner.places import SERVER, front_place
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.pressure import stalled_ns
from quiclab.lab.testbed.process import Process
from quiclab.lab.testbed.process_cost import ProcessCosts
from quiclab.lab.testbed.queues import queue_kinds
from quiclab.lab.testbed.run_delay import RunDelayCourse
from quiclab.lab.testbed.sampler import counters
from quiclab.lab.testbed.tcp_info import TcpInfoSampler
from quiclab.lab.testbed.udp_drops import UdpDrops
from quiclab.model import study
from quiclab.model.units import Duration

_LONGEST_INTERVAL = Duration(10_000_000)
_SHORTEST_INTERVAL = Duration(1_000_000)


def sampling_interval(path: study.Path) -> Duration:
    """Interval of the samples: min(10 ms, RTT/4), and no less than a thread can keep up with."""
    return max(_SHORTEST_INTERVAL, min(_LONGEST_INTERVAL, Duration(path.base_rtt.ns // 4)))


@dataclass(frozen=True)
class _TcpLeg:
    """TCP connections of one leg that the kernel is asked about at their sender's end."""

    file: str
    leg: Literal["client", "origin"]
    """Leg: between the client and the front, or between a proxy and its origin."""
    role: study.Role
    """The role whose sockets they are."""
    local_port: int
    """Local port of the connections; 0 for whatever port the program has."""
    place: str = SERVER
    """The place of that program."""


def _tcp_legs(arm: study.Arm, path: study.Path, upload: bool) -> tuple[_TcpLeg, ...]:
    legs = []
    if upload and arm.protocol != "h3":
        legs.append(_TcpLeg("client.tcpinfo", "client", "client", 0, "client"))
    if arm.protocol != "h3":
        role: study.Role = "proxy" if arm.proxy else "server"
        legs.append(_TcpLeg("server.tcpinfo", "client", role, PORT, front_place(arm, path)))
    if arm.proxy is not None and arm.origin_protocol != "h3":
        legs.append(_TcpLeg("origin.tcpinfo", "origin", "server", ORIGIN_PORT, SERVER))
    return tuple(legs)


class Observation:
    """Context manager around the programs of one trial; samples go to files under `raw`."""

    def __init__(
        self,
        raw: Path,
        arm: study.Arm,
        path: study.Path,
        namespaces: dict[str, NetworkNamespace],
        *,
        upload: bool = False,
        legs: tuple[_TcpLeg, ...] | None = None,
    ) -> None:
        """Observe the arm's own legs, or `legs` if given: an empty tuple where no kernel can be asked."""
        self._namespaces = namespaces
        self._course = RunDelayCourse(raw / "run-delay.jsonl")
        self._costs = ProcessCosts(raw / "process-cost.jsonl", course=self._course)
        self._drops = {
            place: UdpDrops(namespace, raw / f"{place}-udp-drops.jsonl") for place, namespace in namespaces.items()
        }
        self._legs = _tcp_legs(arm, path, upload) if legs is None else legs
        self._samplers = {
            leg.file: TcpInfoSampler(
                namespaces[leg.place], path.ip_version, leg.local_port, sampling_interval(path), raw / leg.file
            )
            for leg in self._legs
        }
        self._stalled_before: dict[str, int] = {}
        self._stalled: dict[str, int] = {}
        self._queues: list[str] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self._course)
            stack.enter_context(self._costs)
            for drops in self._drops.values():
                stack.enter_context(drops)
            for sampler in self._samplers.values():
                stack.enter_context(sampler)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def watch(self, role: str, process: Process) -> None:
        """A program was started."""
        self._costs.watch(role, process.pid)

    def begin(self) -> None:
        """The transfer begins."""
        self._stalled_before = stalled_ns()
        self._costs.begin()

    def end(self) -> None:
        """The transfer is over, and the servers still run."""
        self._costs.end()
        places = {leg.place for leg in self._legs}
        self._queues = sorted({kind for place in places for kind in queue_kinds(self._namespaces[place])})
        now = stalled_ns()
        self._stalled = {name: now[name] - before for name, before in self._stalled_before.items() if name in now}

    def ended(self, role: str, process: Process) -> None:
        """A program has ended."""
        if process.usage is not None:
            self._costs.ended(role, process.usage, process.waited)

    def findings(self) -> dict[str, object]:
        """Findings for trial.json, once the `with` block has been left."""
        return {
            "cost": self._costs.summary(),
            "stalled_ns": self._stalled,
            "tcp_queues": self._queues,
            "counters": {end: counters(namespace) for end, namespace in self._namespaces.items()},
            "udp_socket_drops": {
                end: [asdict(socket) for socket in drops.per_socket()] for end, drops in self._drops.items()
            },
            "tcp_info": {
                leg.file: {
                    "leg": leg.leg,
                    "sockets_of": leg.role,
                    "local_port": leg.local_port,
                    **self._samplers[leg.file].summary,
                }
                for leg in self._legs
            },
        }
