# SPDX-License-Identifier: Apache-2.0
"""One trial of a probe: our client and our link, and a server somewhere that is not ours.

Nothing is started at the far end of the link, which forwards to the caller's network; no request warms a stranger's
server, and there are neither logs nor TCP_INFO of it.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quiclab import __version__
from quiclab.endpoints import Available, Command, Context, Foreign, find
from quiclab.errors import HostError, TrialError, VoidError
from quiclab.plan.rows import PlanRow
from quiclab.runner.allowance import Allowance
from quiclab.runner.commands import arm_of, path_of
from quiclab.runner.confined import confined_run, reached_by
from quiclab.runner.document import read_json, trial_document
from quiclab.runner.laboratory import Laboratory
from quiclab.runner.observation import Observation
from quiclab.runner.topology import Topology
from quiclab.spec.model import Study
from quiclab.spec.target import Target
from quiclab.store.secrets import keep_safe
from quiclab.testbed import clock
from quiclab.testbed.confinement import confine, mount_work_dir
from quiclab.testbed.forwarded import ForwardedWay
from quiclab.testbed.link import Backend
from quiclab.testbed.namespace import RouteMetrics
from quiclab.testbed.process import Process, collect, kill_everything_else

CLIENT = "curl-cffi"
USER_AGENT = f"quiclab/{__version__} (compares HTTP/2 with HTTP/3)"
_GRACE_S = 1.0
NO_SERVER_LOGS = "the server is not the laboratory's: it leaves no log and no TCP_INFO"


@dataclass(frozen=True)
class Probe:
    """Ready for trials."""

    laboratory: Laboratory
    targets: Mapping[str, Target]
    """By the name of their workload."""
    way: ForwardedWay
    allowance: Allowance
    ca: Path
    insecure: bool
    most_bytes: int | None = None
    """Of each body, where that is less than what is left of the allowance."""


def open_laboratory_for_probe(study: Study, study_dir: Path, backend: Backend) -> Laboratory:
    """A laboratory without servers. Must run inside the sandbox.

    Raises HostError where the client is not here."""
    work_dir = study_dir / ".work"
    mount_work_dir(work_dir)
    confinement = confine(work_dir, reached_by(study))
    found = find("client", CLIENT).probe(confined_run(confinement))
    if not isinstance(found, Available):
        raise HostError(f"the client {CLIENT} is not here: {found.reason}", found.install)
    return Laboratory(study, backend, work_dir, {}, work_dir, work_dir, {}, confinement, {CLIENT: found.version})


def lend_ca(laboratory: Laboratory, ca: Path) -> Path:
    """A copy of the authorities to trust that the client can read, wherever theirs lies."""
    lent = laboratory.work_dir / "ca.pem"
    shutil.copyfile(ca, lent)
    return lent


def run_probe_trial(probe: Probe, row: PlanRow, attempt: int) -> Path:
    """Run one trial and return its folder (in memory): trial.json, and everything else under raw/.

    Raises TrialError where the host has had all the requests or bytes that it may have.
    """
    laboratory, target = probe.laboratory, probe.targets[row.workload]
    sizes = next(each for each in laboratory.study.workloads if each.name == row.workload).total.bytes
    left = probe.allowance.take(target.authority, sizes)
    folder = laboratory.trial_dir(row.trial_id)
    collect()
    raw, home = folder / "raw", folder / "home"
    for each in (raw, home, raw / "client-qlog"):
        each.mkdir()
    started = clock.read()
    facts = _facts(target)
    summary: dict[str, Any] = {}
    try:
        with ExitStack() as stack:
            summary = _transfer(probe, row, raw, min(left, probe.most_bytes or left), facts, stack)
    except VoidError as error:
        facts["void"] = error.message
    finally:
        kill_everything_else()
    keep_safe(folder)
    shutil.rmtree(home, ignore_errors=True)
    document = trial_document(laboratory, row, attempt, (started, clock.read()), facts)
    account = read_json(raw / "client.json")
    document |= {"link": summary, "client": account, "client_body": None}
    (folder / "trial.json").write_text(json.dumps(document, indent=1))
    requests = (account or {}).get("requests", [])
    probe.allowance.settle(target.authority, sizes, sum(each["body_bytes"] for each in requests))
    return folder


def _facts(target: Target) -> dict[str, Any]:
    """What stands in trial.json, and is known or null beforehand."""
    return {
        "failure": None,
        "void": None,
        "client_exit_code": None,
        "host": {},
        "time_ns": {},
        "server_address": target.address,
        "server_port": target.port,
        "tcp_congestion_control_asked": None,
        "probe": {"url": target.url, "server": NO_SERVER_LOGS},
    }


def _transfer(
    probe: Probe, row: PlanRow, raw: Path, most_bytes: int, facts: dict[str, Any], stack: ExitStack
) -> dict[str, Any]:
    """Everything with resources; returns the link's summary."""
    laboratory = probe.laboratory
    arm, path = arm_of(laboratory.study, row), path_of(laboratory.study, row)
    mark = time.monotonic_ns()

    def phase(name: str) -> None:
        nonlocal mark
        now = time.monotonic_ns()
        facts["time_ns"][name] = now - mark
        mark = now

    topology = stack.enter_context(Topology(laboratory, row, raw))
    client_end, far_end = topology.namespaces["client"], topology.namespaces["server"]
    facts["host"]["sysctls"] = topology.sysctls
    phase("namespaces")
    observation = Observation(raw, arm, path, topology.namespaces, legs=())
    stack.callback(lambda: facts["host"].update(observation.findings()))
    stack.enter_context(observation)
    command = _command(probe, row, raw, most_bytes)
    for file, content in command.files.items():
        file.write_text(content)
    laboratory.confinement.give(raw.parent)
    client = stack.enter_context(
        Process(
            f"the client ({CLIENT})",
            command.argv,
            command.env,
            client_end,
            work_dir=raw.parent / "home",
            output=raw / "client.out",
            confinement=laboratory.confinement,
            waits_for_go=True,
        )
    )
    observation.watch("client", client)
    link = stack.enter_context(topology.link())
    route = RouteMetrics(arm.tcp.congestion_control, arm.tcp.initial_window)
    stack.enter_context(probe.way.open(client_end, far_end, route))
    phase("link")
    observation.begin()
    client.go()
    try:
        facts["client_exit_code"] = _wait(client, laboratory.study)
    except TrialError as error:
        facts["failure"] = error.message
        facts["void"] = client.killed_from_outside()
    observation.end()
    phase("transfer")
    summary = link.stop()
    phase("link_stop")
    client.end(_GRACE_S)
    observation.ended("client", client)
    return summary


def _wait(client: Process, study: Study) -> int:
    code = client.wait(study.limits.trial.s)
    if code is None:
        raise TrialError(f"the client did not end within {study.limits.trial} (--timeout)")
    if code != 0:
        raise TrialError(f"the client ended with exit code {code}: {client.last_words() or 'it printed nothing'}")
    return code


def _command(probe: Probe, row: PlanRow, raw: Path, most_bytes: int) -> Command:
    arm, target = arm_of(probe.laboratory.study, row), probe.targets[row.workload]
    home = raw.parent / "home"
    return find("client", CLIENT).command(
        Context(
            program=arm.client,
            protocols=(arm.protocol,),
            ip_version=4,
            address=target.address,
            port=target.port,
            host=target.host,
            object_name=target.path,
            work_dir=home,
            root=home,
            certificate=home,
            key=home,
            ca=probe.ca,
            qlog_dir=raw / "client-qlog",
            keylog=raw / "keys.log",
            output=raw / "client.json",
            session_file=home / "session",
            foreign=Foreign(most_bytes, USER_AGENT, probe.insecure),
        )
    )
