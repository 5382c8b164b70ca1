# SPDX-License-Identifier: Apache-2.0
"""The steps of one trial, once its namespaces are there.

    start_early ─▶ serve ─▶ warm_up ─▶ transfer ─▶ end

Only the time between "go" and the client's end is the transfer; the rest is overhead and is kept as `time_ns`.

Congestion control that the kernel gave to the TCP connections of a trial, for every program on every leg.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from quiclab.lab.runner.address_change import ChangingAddress
from quiclab.lab.runner.commands import ORIGIN_PORT, PORT, resumes
from quiclab.lab.runner.competition import Contest
from quiclab.lab.runner.first_visit import greet_network, visit_first
from quiclab.lab.runner.observation import Observation
from quiclab.lab.runner.pacing import pace
from quiclab.lab.runner.places import CLIENT, SERVER, front_place
from quiclab.lab.runner.programs import Programs
from quiclab.lab.runner.running_trial import RunningTrial
from quiclab.lab.runner.topology import Topology
from quiclab.lab.testbed.link import Link
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.process import Process
from quiclab.lab.testbed.sampler import Side, tcp_congestion_control
from quiclab.model import study
from quiclab.model.errors import TrialError
from quiclab.store.own_files import own_files

_LOOK_S_TCP_CONTROL = 0.02


@dataclass(frozen=True)
class _Socket:
    """One end of a leg over TCP."""

    name: str
    """Name in trial.json: the program's role, and for a proxy the leg."""
    place: str
    port: int
    side: Side


def _sockets(arm: study.Arm, path: study.Path, upload: bool) -> list[_Socket]:
    front, found = front_place(arm, path), []
    if arm.protocol != "h3":
        found.append(_Socket("proxy" if arm.proxy else "server", front, PORT, "local"))
        if upload or arm.proxy is not None or arm.tcp.client_congestion_control is not None:
            found.append(_Socket("client", CLIENT, PORT, "remote"))
    if arm.proxy is not None and arm.origin_protocol != "h3":
        found.append(_Socket("server", SERVER, ORIGIN_PORT, "local"))
        if not arm.proxy_beside_server:  # over the loopback both ends have the server's
            found.append(_Socket("proxy_to_origin", front, ORIGIN_PORT, "remote"))
    return found


@contextmanager
def watch_congestion_control(
    arm: study.Arm,
    path: study.Path,
    namespaces: dict[str, NetworkNamespace],
    seen: dict[str, str],
    *,
    upload: bool,
) -> Iterator[None]:
    """Context in which the kernel is asked until every connection was seen once; its answers go into `seen`."""
    done = threading.Event()
    waiting = _sockets(arm, path, upload)

    def check() -> None:
        # Connections take a while to be made, and every check walks through the kernel's table.
        pause_s = max(_LOOK_S_TCP_CONTROL, 2 * path.base_rtt.s)
        while waiting and not done.wait(pause_s):
            for each in list(waiting):
                name = tcp_congestion_control(namespaces[each.place], path.ip_version, each.port, each.side)
                if name is not None:
                    seen[each.name] = name
                    waiting.remove(each)
            pause_s = _LOOK_S_TCP_CONTROL

    thread = threading.Thread(target=check)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


_LOOK_S = 0.5
"""Time between two checks that the programs that answer the client still run."""
_CLIENT_PATIENCE_S = 60
"""Time that a client has to start; browsers take long."""


class Transfer:
    """The link and the programs of one trial, from their start to the link's account.

    `serve`, `warm_up` and `transfer` raise TrialError where an endpoint fails; `end` follows all the same.
    """

    _link: Link
    _moving: ChangingAddress
    _warm_up: Process

    def __init__(
        self, trial: RunningTrial, topology: Topology, programs: Programs, contest: Contest, observation: Observation
    ) -> None:
        self._trial = trial
        self._topology = topology
        self._programs = programs
        self._contest = contest
        self._observation = observation
        self._controls: dict[str, str] = {}
        """Socket → the congestion control that the kernel gave it."""

    @property
    def _client(self) -> Process | None:
        return self._programs.started.get("client")

    @property
    def _patience_s(self) -> float:
        return self._trial.laboratory.study.limits.ready.s

    def start_early(self) -> None:
        """Start what is measured later, as loading libraries takes longer than most transfers, and the link.

        The server comes after the link, which brings the address that it listens on.
        """
        trial, command = self._trial, self._programs.commands["client"]
        self._warm_up = self._programs.start("warm-up")
        # A client that resumes a session reads its ticket at the start, after the first visit, or makes it itself.
        visits_itself = command.first_visit_file is not None
        if command.waits_for_go and (visits_itself or not resumes(trial.arm)):
            self._programs.start("client")
        over_links = visits_itself or bool(trial.arm.client.knobs.address_token)
        self._link = trial.resources.enter_context(self._topology.link(impaired=not over_links))
        at_client, reached = self._topology.namespaces[CLIENT], trial.real("client", trial.home / "reached")
        self._moving = ChangingAddress(trial.workload.address_change, at_client, trial.path, self._link, reached)
        trial.resources.enter_context(self._moving)
        self._topology.join()
        trial.record.phase("link")

    def serve(self) -> None:
        """Start the server, and the proxy before it, and wait until they listen."""
        arm, programs, namespaces = self._trial.arm, self._programs, self._topology.namespaces
        origin = programs.start("server") if arm.proxy else None
        front = programs.start(programs.front_part)
        if origin is not None:
            origin.wait_for_sockets(ORIGIN_PORT, programs.commands["server"].sockets, self._patience_s)
        front.wait_for_sockets(PORT, programs.commands[programs.front_part].sockets, self._patience_s)
        if arm.tcp.pacing:
            at_front = namespaces[front_place(arm, self._trial.path)]
            limits = pace(arm, at_front, namespaces[SERVER], origin, front, PORT)
            self._trial.record.host["tcp_pacing_limit_bytes_per_s"] = limits
        self._trial.record.phase("server_start")

    def warm_up(self) -> None:
        """Let the server answer once, let a client that is to resume visit it, and make the other flows ready."""
        trial, command = self._trial, self._programs.commands["client"]
        visit(self._warm_up, self._patience_s, "the server did not answer the warm-up request")
        if self._client is not None and command.first_visit_file is not None:
            ready, visited = command.ready_file, trial.real("client", command.first_visit_file)
            files = (ready and trial.real("client", ready), visited)
            visit_first(self._client, files, self._topology.namespaces[CLIENT], trial.path, _CLIENT_PATIENCE_S)
            self._link = trial.resources.enter_context(self._topology.link_instead_of(self._link))
            greet_network(self._topology)
        elif resumes(trial.arm):
            first_visit = self._programs.start("first-visit")
            visit(first_visit, self._patience_s, "the first visit, which fetches the ticket, failed")
            if trial.arm.client.knobs.address_token:
                time.sleep(trial.path.base_rtt.s)  # what was said last is on its way
                self._link = trial.resources.enter_context(self._topology.link_instead_of(self._link))
                self._topology.join()
        for role in self._programs.answering:
            jail = trial.jails.jail(role)
            for old in own_files(jail.raw / f"{role}-qlog", jail.raw):
                old.unlink(missing_ok=True)  # it has the connections so far
        self._contest.prepare(self._patience_s)
        trial.record.phase("warm_up")

    def transfer(self) -> None:
        """Say "go", and wait for the client's end. Raises VoidError where the link has ended."""
        trial, command = self._trial, self._programs.commands["client"]
        client, namespaces, upload = self._client, self._topology.namespaces, trial.workload.upload
        if client is None and command.waits_for_go:
            client = self._programs.start("client")
        if client is not None and command.ready_file is not None:
            client.wait_for_file(trial.real("client", command.ready_file), _CLIENT_PATIENCE_S)
            trial.record.phase("client_start")
        trial.record.onlooker.begins()
        self._link.begin()
        self._contest.begin()
        self._observation.begin()
        client = client or self._programs.start("client")
        if command.waits_for_go:
            client.go()
        trial.record.onlooker.began()
        self._moving.begin(client)
        with watch_congestion_control(trial.arm, trial.path, namespaces, self._controls, upload=upload):
            self._watch(client, command.finishing_s)

    def _watch(self, client: Process, finishing_s: float) -> None:
        """Wait until the client has ended well, or the time of a competition is over."""
        contest, answering, limit = self._contest, self._programs.answering, self._trial.laboratory.study.limits.trial
        deadline = time.monotonic() + limit.s + finishing_s
        while True:
            code = client.wait(contest.patience_s(min(_LOOK_S, max(0.0, deadline - time.monotonic()))))
            contest.check()
            self._link.check()
            if code is not None:
                return self._judge(code, client)
            if contest.is_over:
                return None
            if gone := ended(answering, 0.0):
                raise TrialError(gone)
            if time.monotonic() >= deadline:
                raise TrialError(f"the client did not end within {limit} (limits.trial)")

    def _judge(self, code: int, client: Process) -> None:
        """Raise TrialError where the client ended badly, or before the time of a competition."""
        self._trial.record.client_exit_code = code
        if code != 0:
            said = (client.last_words() or "it printed nothing").removeprefix(f"exit code {code}: ")
            words = f"the client ended with exit code {code}: {said}"
            # A program that closed a connection by ending is seen to have ended only a moment later.
            answering = self._programs.answering
            gone = ended(answering, 0.0 if len(answering) == 1 else _LOOK_S)
            raise TrialError(f"{gone}; {words}" if gone else words)
        if (lasts := self._contest.lasts) is not None:
            raise TrialError(
                f"the measured client had everything in less than {lasts}: give its workload a larger size"
            )

    def end(self) -> dict[str, object]:
        """Close the link and end the programs, whether or not the transfer went well; return the link's summary."""
        trial, record = self._trial, self._trial.record
        self._note_congestion_controls()
        self._contest.end()
        self._observation.end()
        record.address_change = self._moving.end()
        record.phase("transfer")
        record.onlooker.stay(self._topology.namespaces, trial.raw)
        self._topology.count_losses()
        summary = self._link.stop()
        record.phase("link_stop")
        self._programs.end()
        self._contest.stop()
        record.competition = self._contest.document()
        record.phase("server_stop")
        self._programs.note_slow_cpu()
        return summary

    def _note_congestion_controls(self) -> None:
        host, upload = self._trial.record.host, self._trial.workload.upload
        host["tcp_congestion_controls"] = self._controls
        sender = "client" if upload else self._programs.front_part
        if sender in self._controls:
            host[f"{'client' if upload else 'server'}_tcp_congestion_control"] = self._controls[sender]


# Waiting for the programs of a trial.
def visit(client: Process, patience_s: float, trouble: str) -> None:
    """Let a throw-away client make its request. Raises TrialError, which begins with `trouble`, if that fails."""
    client.go()
    code = client.wait(patience_s)
    if code != 0:
        raise TrialError(f"{trouble}: {client.last_words() or 'no answer in time'}")


def ended(answering: Mapping[study.Role, Process], patience_s: float) -> str | None:
    """Say which of these programs has ended, if one has; the first is given `patience_s` to do so."""
    for role, process in answering.items():
        code = process.wait(patience_s)
        if code is not None:
            return f"the {role} ended during the transfer with exit code {code}: {process.last_words()}"
        patience_s = 0.0
    return None
