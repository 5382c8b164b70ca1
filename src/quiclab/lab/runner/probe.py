# SPDX-License-Identifier: Apache-2.0
"""One trial of a probe: our client and our link, and a server somewhere that is not ours.

Nothing is started at the far end of the link, which forwards to the caller's network; no request warms a stranger's
server, and there are neither logs nor TCP_INFO of it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from quiclab import __version__
from quiclab.lab.endpoints import Available, Command, Context, Foreign, find
from quiclab.lab.runner.account import text_problem
from quiclab.lab.runner.allowance import Allowance
from quiclab.lab.runner.confined import confined_run, reached_by
from quiclab.lab.runner.document import read_json, trial_document
from quiclab.lab.runner.jails import Jails
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.observation import Observation
from quiclab.lab.runner.probe_transfer import CLIENT, ProbeTransfer
from quiclab.lab.runner.running_trial import Record, RunningTrial
from quiclab.lab.runner.topology import Topology
from quiclab.lab.testbed import clock
from quiclab.lab.testbed.confinement import confine, mount_work_dir
from quiclab.lab.testbed.forwarded import ForwardedWay
from quiclab.lab.testbed.link import Backend
from quiclab.lab.testbed.process import collect, kill_everything_else
from quiclab.model.errors import HostError, TrialError, VoidError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.spec.target import Target
from quiclab.store.own_files import write_anew
from quiclab.store.secrets import keep_safe

USER_AGENT = f"quiclab/{__version__} (compares HTTP/2 with HTTP/3)"
NO_SERVER_LOGS = "the server is not the laboratory's: it leaves no log and no TCP_INFO"


@dataclass(frozen=True)
class Probe:
    """A probe that is ready for its trials."""

    laboratory: Laboratory
    targets: Mapping[str, Target]
    """Targets by the name of their workload."""
    way: ForwardedWay
    allowance: Allowance
    ca: Path
    insecure: bool
    most_bytes: int | None = None
    """Bytes of each body, where that is less than what is left of the allowance."""


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
    raw = folder / "raw"
    raw.mkdir()
    jails = Jails(laboratory.confinement, laboratory.work_dir, laboratory.kept, folder)
    started = clock.read()
    record = Record()
    summary: dict[str, object] = {}
    try:
        with ExitStack() as resources:
            trial = RunningTrial(laboratory, row, raw, record, resources, resources.enter_context(jails))
            summary = _carry_out(probe, trial, min(left, probe.most_bytes or left))
    except VoidError as error:
        record.void = error.message
    finally:
        kill_everything_else()
    record.logs_spoiled = jails.gather()
    jails.remove()
    keep_safe(folder)
    account = read_json(raw / "client.json")
    if (problem := text_problem(account)) is not None:
        record.failure, account = record.failure or problem, None
    document = trial_document(laboratory, row, attempt, (started, clock.read()), _probe_document(record, target))
    document |= {"link": summary, "client": account, "client_body": None}
    write_anew(folder / "trial.json", json.dumps(document, indent=1))
    requests = (account or {}).get("requests", [])
    probe.allowance.settle(target.authority, sizes, sum(each["body_bytes"] for each in requests))
    return folder


def _probe_document(record: Record, target: Target) -> dict[str, object]:
    """The record as trial.json has it, and the server that was asked."""
    return {
        "failure": record.failure,
        "void": record.void,
        "logs_spoiled": record.logs_spoiled,
        "client_exit_code": record.client_exit_code,
        "host": record.host,
        "time_ns": record.phases,
        "server_address": target.address,
        "server_port": target.port,
        "tcp_congestion_control_asked": None,
        "probe": {"url": target.url, "server": NO_SERVER_LOGS},
    }


def _carry_out(probe: Probe, trial: RunningTrial, most_bytes: int) -> dict[str, object]:
    """Everything with resources; returns the link's summary."""
    record, resources = trial.record, trial.resources
    topology = resources.enter_context(Topology(trial.laboratory, trial.row, trial.raw))
    record.host["sysctls"] = topology.sysctls
    record.phase("namespaces")
    observation = Observation(trial.raw, trial.arm, trial.path, topology.namespaces, legs=())
    resources.callback(lambda: record.host.update(observation.findings()))
    resources.enter_context(observation)
    transfer = ProbeTransfer(trial, topology, observation)
    transfer.start_early(_command(probe, trial, most_bytes), probe.way)
    try:
        transfer.transfer()
    except TrialError as error:
        record.failure = error.message
        record.void = transfer.killed_from_outside()
    return transfer.end()


def _command(probe: Probe, trial: RunningTrial, most_bytes: int) -> Command:
    target, home = probe.targets[trial.row.workload], trial.home
    return find("client", CLIENT).command(
        Context(
            program=trial.arm.client,
            protocols=(trial.arm.protocol,),
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
            qlog_dir=trial.raw / "client-qlog",
            keylog=trial.raw / "keys.log",
            output=trial.raw / "client.json",
            session_file=home / "session",
            foreign=Foreign(most_bytes, USER_AGENT, probe.insecure),
        )
    )
