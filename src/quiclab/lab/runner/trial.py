# SPDX-License-Identifier: Apache-2.0
"""The life of one trial: namespaces, link, server, warm-up, the measured client, and back to nothing.

    prepare ─▶ start server, client and warm-up client together ─▶ server ready ─▶ warm up over loopback ─▶ go
            ─▶ client ends ─▶ link closes ─▶ server ends ─▶ everything that is left is killed

`runner.transfer` has the steps between the namespaces and the link's end.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

from quiclab.lab.runner.account import account_problem, text_problem
from quiclab.lab.runner.commands import received_folder
from quiclab.lab.runner.competition import Contest
from quiclab.lab.runner.document import kept_body, own_server_members, read_json, received_bodies, trial_document
from quiclab.lab.runner.flows import other_flows, who_cannot_run
from quiclab.lab.runner.jails import Jails
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.observation import Observation
from quiclab.lab.runner.onlooker import NOBODY, Onlooker
from quiclab.lab.runner.programs import Programs, commands_with_files
from quiclab.lab.runner.running_trial import Record, RunningTrial
from quiclab.lab.runner.topology import Topology
from quiclab.lab.runner.transfer import Transfer
from quiclab.lab.testbed import clock
from quiclab.lab.testbed.process import collect, kill_everything_else
from quiclab.model.errors import TrialError, VoidError
from quiclab.model.plan_row import PlanRow
from quiclab.store.own_files import write_anew
from quiclab.store.secrets import keep_safe


def run_trial(
    laboratory: Laboratory, row: PlanRow, attempt: int, *, counted: bool = False, onlooker: Onlooker = NOBODY
) -> Path:
    """Run one trial and return its folder (in memory): trial.json, and everything else under raw/.

    A trial that failed through its endpoints is a result: trial.json holds the reason under `failure`. With `counted`
    its programs' system calls are counted (`programs.counts_file`), which slows them down: its times are worth nothing.
    Raises HostError when the laboratory itself cannot go on.
    """
    folder = laboratory.trial_dir(row.trial_id)
    collect()
    raw = folder / "raw"
    raw.mkdir()
    jails = Jails(laboratory.confinement, laboratory.work_dir, laboratory.kept, folder)
    started = clock.read()
    record = Record(onlooker)
    summary: dict[str, object] = {}
    try:
        with ExitStack() as resources:
            trial = RunningTrial(laboratory, row, raw, record, resources, resources.enter_context(jails), counted)
            summary = _carry_out(trial)
    except VoidError as error:
        record.void = error.message
    finally:
        kill_everything_else()
    body, received = _bodies(trial)
    record.logs_spoiled = jails.gather()
    jails.remove()
    keep_safe(folder)
    record.phase("teardown")
    over = clock.read()
    account, own = read_json(raw / "client.json"), bool(trial.arm.client.argv)
    problem = text_problem(account)
    if own and problem is None:
        problem = account_problem(account, started.monotonic_ns, over.monotonic_ns)
    if problem is not None:
        record.failure, account = record.failure or problem, None
    document = trial_document(laboratory, row, attempt, (started, over), _trial_document(record))
    document |= {"link": summary, "client": account, "client_body": body}
    document |= {**record.competition, **own_server_members(laboratory.study, row)}
    if received is not None:
        document["received"] = received
    write_anew(folder / "trial.json", json.dumps(document, indent=1))
    return folder


def _bodies(trial: RunningTrial) -> tuple[dict[str, object] | None, dict[str, dict[str, object]] | None]:
    """Bodies that the client kept of a download and the server of an upload."""
    most_bytes = trial.workload.total.bytes
    kept = kept_body(trial.real("client", trial.home / "body"), most_bytes)
    if not trial.workload.upload:
        return kept, None
    folder = trial.real("server", received_folder(trial.raw))
    return kept, received_bodies(folder, trial.workload.object_names, most_bytes)


def _trial_document(record: Record) -> dict[str, object]:
    """The record as trial.json has it."""
    return {
        "failure": record.failure,
        "void": record.void,
        "logs_spoiled": record.logs_spoiled,
        "client_exit_code": record.client_exit_code,
        "client_reports": record.client_reports,
        "address_change": record.address_change,
        "host": record.host,
        "time_ns": record.phases,
    }


def _carry_out(trial: RunningTrial) -> dict[str, object]:
    """Everything with resources; returns the link's summary."""
    laboratory, row, record, resources = trial.laboratory, trial.row, trial.record, trial.resources
    topology = resources.enter_context(Topology(laboratory, row, trial.raw))
    namespaces = topology.namespaces
    record.host["sysctls"] = topology.sysctls
    record.phase("namespaces")
    record.failure = who_cannot_run(row, other_flows(laboratory.study, row), laboratory.cannot_run)
    if record.failure is not None:
        return resources.enter_context(topology.link()).stop()
    commands = commands_with_files(trial)
    record.client_reports = commands["client"].reports
    observation = Observation(trial.raw, trial.arm, trial.path, namespaces, upload=trial.workload.upload)
    # Findings are read once it has ended, in namespaces that are there.
    resources.callback(lambda: record.host.update(observation.findings()))
    resources.enter_context(observation)
    contest = resources.enter_context(Contest(laboratory, row, trial.raw, topology, trial.jails))
    programs = Programs(trial, commands, namespaces, observation)
    steps = Transfer(trial, topology, programs, contest, observation)
    try:
        steps.start_early()
        steps.serve()
        steps.warm_up()
        steps.transfer()
    except TrialError as error:
        record.failure = error.message
        record.void = programs.killed_from_outside()
    return steps.end()
