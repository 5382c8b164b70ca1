# SPDX-License-Identifier: Apache-2.0
"""The life of one trial: namespaces, link, server, warm-up, the measured client, and back to nothing.

    prepare ─▶ start server, client and warm-up client together ─▶ server ready ─▶ warm up over loopback ─▶ go
            ─▶ client ends ─▶ link closes ─▶ server ends ─▶ everything that is left is killed

Only the time between "go" and the client's end is the transfer; the rest is overhead and is kept as `time_ns`.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quiclab.errors import TrialError, VoidError
from quiclab.plan.rows import PlanRow
from quiclab.runner.account import account_problem
from quiclab.runner.address_change import ChangingAddress
from quiclab.runner.commands import (
    ORIGIN_PORT,
    PORT,
    Part,
    arm_of,
    parts_of,
    path_of,
    received_folder,
    resumes,
    shown_name,
    trial_command,
    workload_of,
)
from quiclab.runner.competition import Contest
from quiclab.runner.cpu import SlowCpu
from quiclab.runner.document import kept_body, read_json, received_bodies, trial_document
from quiclab.runner.first_visit import greet_network, visit_first
from quiclab.runner.flows import other_flows, who_cannot_run
from quiclab.runner.laboratory import Laboratory
from quiclab.runner.observation import Observation
from quiclab.runner.onlooker import NOBODY, Onlooker
from quiclab.runner.pacing import pace
from quiclab.runner.places import CLIENT, SERVER, front_place, place_of_part
from quiclab.runner.tcp_control import watch_congestion_control
from quiclab.runner.topology import Topology
from quiclab.runner.waiting import ended, visit
from quiclab.store.secrets import keep_safe
from quiclab.testbed import clock
from quiclab.testbed.link import Link
from quiclab.testbed.process import Process, collect, kill_everything_else
from quiclab.testbed.syscall_count import counting
from quiclab.units import Duration

_GRACE_S = 1.0
_COUNTED_GRACE_S = 15.0
"""A program whose every call stops it twice takes its time to end, and its counts come last."""
_LOOK_S = 0.5
"""Between two looks whether those who answer the client are still there."""
_CLIENT_PATIENCE_S = 60
"""For a client that takes long to start, as browsers do."""


@dataclass
class _Record:
    """What becomes trial.json."""

    onlooker: Onlooker
    phases: dict[str, int] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)
    failure: str | None = None
    void: str | None = None
    """What spoiled the trial that was no endpoint's doing."""
    client_exit_code: int | None = None
    address_change: dict[str, Any] | None = None
    competition: dict[str, Any] = field(default_factory=dict)
    client_reports: bool = False
    mark: int = field(default_factory=time.monotonic_ns)

    def phase(self, name: str) -> None:
        """Book the time since the last call under `name`."""
        now = time.monotonic_ns()
        self.phases[name] = self.phases.get(name, 0) + now - self.mark
        self.onlooker.phase(name, now - self.mark)
        self.mark = now

    def facts(self) -> dict[str, Any]:
        """As trial.json has them."""
        return {
            "failure": self.failure,
            "void": self.void,
            "client_exit_code": self.client_exit_code,
            "client_reports": self.client_reports,
            "address_change": self.address_change,
            "host": self.host,
            "time_ns": self.phases,
        }


def run_trial(
    laboratory: Laboratory, row: PlanRow, attempt: int, *, counted: bool = False, onlooker: Onlooker = NOBODY
) -> Path:
    """Run one trial and return its folder (in memory): trial.json, and everything else under raw/.

    A trial that failed through its endpoints is a result: trial.json holds the reason under `failure`. With `counted`
    its programs' system calls are counted (`counts_file`), which slows them down: its times are worth nothing.
    Raises HostError when the laboratory itself cannot go on.
    """
    folder = laboratory.trial_dir(row.trial_id)
    collect()
    raw, home = folder / "raw", folder / "home"
    raw.mkdir()
    home.mkdir()
    started = clock.read()
    record = _Record(onlooker)
    summary: dict[str, Any] = {}
    try:
        with ExitStack() as stack:
            summary = _transfer(laboratory, row, raw, record, stack, counted)
    except VoidError as error:
        record.void = error.message
    finally:
        kill_everything_else()
    keep_safe(folder)
    body, received = kept_body(home / "body"), received_bodies(received_folder(raw))
    shutil.rmtree(home, ignore_errors=True)  # what programs left beside their logs
    record.phase("teardown")
    over = clock.read()
    account, own = read_json(raw / "client.json"), bool(arm_of(laboratory.study, row).client.argv)
    if own and (problem := account_problem(account, started.monotonic_ns, over.monotonic_ns)) is not None:
        record.failure, account = record.failure or problem, None
    document = trial_document(laboratory, row, attempt, (started, over), record.facts())
    document |= {"link": summary, "client": account, "own_client": own, "client_body": body, **record.competition}
    document["content"] = workload_of(laboratory.study, row).content
    if received is not None:
        document["received"] = received
    (folder / "trial.json").write_text(json.dumps(document, indent=1))
    return folder


def counts_file(raw: Path, role: str) -> Path:
    """What strace left of one program of a counted trial."""
    return raw / f"{role}.calls"


def _transfer(
    laboratory: Laboratory, row: PlanRow, raw: Path, record: _Record, stack: ExitStack, counted: bool
) -> dict[str, Any]:
    """Everything with resources; returns the link's summary."""
    arm, path = arm_of(laboratory.study, row), path_of(laboratory.study, row)
    topology = stack.enter_context(Topology(laboratory, row, raw))
    namespaces = topology.namespaces
    record.host["sysctls"] = topology.sysctls
    record.phase("namespaces")
    record.failure = who_cannot_run(row, other_flows(laboratory.study, row), laboratory.cannot_run)
    if record.failure is not None:
        return stack.enter_context(topology.link()).stop()
    commands = {part: trial_command(laboratory, row, raw, part) for part in parts_of(arm)}
    record.client_reports = commands["client"].reports
    for command in commands.values():
        for file, content in command.files.items():
            file.parent.mkdir(exist_ok=True)
            file.write_text(content)
    upload = workload_of(laboratory.study, row).upload
    if upload:
        received_folder(raw).mkdir(parents=True, exist_ok=True)
    for folder in ("server-qlog", "proxy-qlog", "client-qlog"):
        (raw / folder).mkdir()
    laboratory.confinement.give(raw.parent)
    observation = Observation(raw, arm, path, namespaces, upload=upload)
    stack.callback(
        lambda: record.host.update(observation.findings())
    )  # once it has ended, in namespaces that are there
    stack.enter_context(observation)
    contest = stack.enter_context(Contest(laboratory, row, raw, topology))
    slow = {
        role: stack.enter_context(SlowCpu(program, path.base_rtt, laboratory.calibrations))
        for role, program, _ in arm.programs()
    }

    started: list[Process] = []

    def start(name: Part) -> Process:
        command = commands[name]
        argv = command.argv
        if counted and name in slow:
            argv = counting(argv, counts_file(raw, name), command.env.get("PATH", os.defpath))
        process = Process(
            f"the {name} ({shown_name(arm, name)})",
            argv,
            command.env,
            namespaces[place_of_part(arm, path, name)],
            work_dir=raw.parent / "home",
            output=raw / f"{name}.out",
            confinement=laboratory.confinement,
            waits_for_go=command.waits_for_go,
        )
        stack.enter_context(process)
        started.append(process)
        record.onlooker.started(process.name, process.pid, process.argv)
        if name in ("client", "server", "proxy"):
            slow[name].admit(process)
            observation.watch(name, process)
        return process

    # Started early, measured later: loading libraries takes longer than most transfers. The server comes after the
    # link, which brings the address that it listens on.
    warm_up = start("warm-up")
    # Who resumes a session reads its ticket at the start, after the first visit, or makes that visit itself.
    first_visit = commands["client"].first_visit_file
    early = commands["client"].waits_for_go and (first_visit is not None or not resumes(arm))
    client = start("client") if early else None
    link = stack.enter_context(topology.link(impaired=first_visit is None))
    change = workload_of(laboratory.study, row).address_change
    moving = ChangingAddress(change, namespaces["client"], path, link, raw.parent / "home" / "reached")
    stack.enter_context(moving)
    topology.join()
    record.phase("link")
    origin = start("server") if arm.proxy else None
    front_name: Part = "proxy" if arm.proxy else "server"
    front = start(front_name)
    patience_s = laboratory.study.limits.ready.s
    controls: dict[str, str] = {}
    try:
        if origin is not None:
            origin.wait_for_sockets(ORIGIN_PORT, commands["server"].sockets, patience_s)
        front.wait_for_sockets(PORT, commands[front_name].sockets, patience_s)
        if arm.tcp.pacing:
            at_front, at_server = namespaces[front_place(arm, path)], namespaces[SERVER]
            record.host["tcp_pacing_limit_bytes_per_s"] = pace(arm, at_front, at_server, origin, front, PORT)
        record.phase("server_start")
        visit(warm_up, patience_s, "the server did not answer the warm-up request")
        if client is not None and first_visit is not None:
            visit_first(client, commands["client"], namespaces[CLIENT], path, _CLIENT_PATIENCE_S)
            link = stack.enter_context(topology.link_instead_of(link))
            greet_network(topology)
        elif resumes(arm):
            visit(start("first-visit"), patience_s, "the first visit, which fetches the ticket, failed")
        for folder in ("server-qlog", "proxy-qlog"):
            for old in (raw / folder).iterdir():
                old.unlink()  # of the connections so far
        contest.prepare(patience_s)
        record.phase("warm_up")
        waits, ready = commands["client"].waits_for_go, commands["client"].ready_file
        if client is None and waits:
            client = start("client")
        if client is not None and ready is not None:
            client.wait_for_file(ready, _CLIENT_PATIENCE_S)
            record.phase("client_start")
        link.begin()
        contest.begin()
        observation.begin()
        client = client or start("client")
        if waits:
            client.go()
        record.onlooker.began()
        moving.begin(client)
        answering = {"server": front} if origin is None else {"proxy": front, "server": origin}
        with watch_congestion_control(arm, path, namespaces, controls, upload=upload):
            limit, finishing_s = laboratory.study.limits.trial, commands["client"].finishing_s
            _watch(limit, finishing_s, client, answering, record, contest, link)
    except TrialError as error:
        record.failure = error.message
        record.void = next((told for process in started if (told := process.killed_from_outside())), None)
    record.host["tcp_congestion_controls"] = controls
    sender = "client" if upload else front_name
    if sender in controls:
        record.host[f"{'client' if upload else 'server'}_tcp_congestion_control"] = controls[sender]
    contest.end()
    observation.end()
    record.address_change = moving.end()
    record.phase("transfer")
    record.onlooker.stay(namespaces, raw)
    topology.count_losses()
    summary = link.stop()
    record.phase("link_stop")
    for role, process in (("client", client), ("proxy", front if origin else None), ("server", origin or front)):
        if process is not None:
            process.end(_COUNTED_GRACE_S if counted else _GRACE_S)
            observation.ended(role, process)
    contest.stop()
    record.competition = contest.facts()
    record.phase("server_stop")
    record.host["slow_cpu"] = {role: findings for role, each in slow.items() if (findings := each.findings())}
    return summary


def _watch(
    limit: Duration,
    finishing_s: float,
    client: Process,
    answering: Mapping[str, Process],
    record: _Record,
    contest: Contest,
    link: Link,
) -> None:
    """Wait for the client's end. Raises TrialError where it, or whoever is to answer it, ends badly or too late, and
    VoidError where the link has ended."""
    deadline = time.monotonic() + limit.s + finishing_s
    while True:
        code = client.wait(contest.patience_s(min(_LOOK_S, max(0.0, deadline - time.monotonic()))))
        contest.check()
        link.check()
        if code is not None:
            record.client_exit_code = code
            if code != 0:
                words = f"the client ended with exit code {code}: {client.last_words() or 'it printed nothing'}"
                # Who closed a connection by ending is seen to have ended only a moment later.
                gone = ended(answering, 0.0 if len(answering) == 1 else _LOOK_S)
                raise TrialError(f"{gone}; {words}" if gone else words)
            if contest.lasts is not None:
                raise TrialError(f"the measured client had all before {contest.lasts}: give its workload a larger size")
            return
        if contest.is_over:
            return
        if gone := ended(answering, 0.0):
            raise TrialError(gone)
        if time.monotonic() >= deadline:
            raise TrialError(f"the client did not end within {limit} (limits.trial)")
