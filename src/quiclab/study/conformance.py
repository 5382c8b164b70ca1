# SPDX-License-Identifier: Apache-2.0
"""The conformance test, inside the sandbox: every case is tried once, and what it says about the programs is kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from quiclab.lab.endpoints import ENDPOINTS, Endpoint
from quiclab.lab.runner.laboratory import Laboratory, open_laboratory
from quiclab.lab.runner.trial import run_trial
from quiclab.lab.testbed import clock
from quiclab.lab.testbed.backend import choose_backend
from quiclab.model.conformance_record import CaseResult, ConformanceResults, TriedProgram, WrittenLogs
from quiclab.model.errors import SpecError
from quiclab.project import MORE_PROGRAMS
from quiclab.store.disk import move_in, read_object
from quiclab.store.record_form import as_json
from quiclab.study.conformance_cases import OBJECTS, Case, cases, study_of
from quiclab.study.trial import judge_attempt

RESULTS = "conformance.json"
Programs = Mapping[tuple[str, str], str]
"""Programs to try: (role, name) → version."""
Tried = Callable[[int, int, Case, CaseResult], None]
"""Called after each case with its number, how many there are, the case, and its result."""
_TRIES = 3
"""Number of times that a void trial is tried in all: the laboratory was at fault, which says nothing about the
programs."""


def try_all(folder: Path, clients: Programs, fronts: Programs, told: Tried) -> bool:
    """Try every client with every server and proxy, and write FOLDER/conformance.json; True if all objects came.

    That a server refuses 0-RTT or a migration is a finding, not a failure. Raises SpecError where nothing can be tried.
    """

    def those(names: Programs) -> list[Endpoint]:
        return [endpoint for endpoint in ENDPOINTS if (endpoint.role, endpoint.name) in names]

    tried = list(cases(those(clients), those(fronts)))
    if not tried:
        raise SpecError(
            "there is nothing to try", f"`quiclab doctor` lists what is here, `{MORE_PROGRAMS}` installs more"
        )
    laboratory = open_laboratory(study_of(tried), folder, choose_backend()[0])
    results: list[CaseResult] = []
    for number, case in enumerate(tried, 1):
        results.append(_try_case(laboratory, folder, case))
        told(number, len(tried), case, results[-1])
        document = ConformanceResults(1, clock.read().utc, _listed(clients), _listed(fronts), tuple(results))
        (folder / RESULTS).write_text(json.dumps(as_json(document), indent=1))
    return all(each.outcome == "verified" for each in results if each.what in OBJECTS)


def _listed(programs: Programs) -> tuple[TriedProgram, ...]:
    return tuple(TriedProgram(role, name, version) for (role, name), version in programs.items())


def _try_case(laboratory: Laboratory, folder: Path, case: Case) -> CaseResult:
    """Run a case, again where the laboratory was at fault; the logs of a case that failed stay in `folder`."""
    for attempt in range(1, _TRIES + 1):
        trial = run_trial(laboratory, case.row, attempt)
        verdict = judge_attempt(trial, case.row.trial_id, attempt).attempt
        if verdict.status != "void":
            break
    document = read_object(trial / "trial.json")
    raw = trial / "raw"
    result = CaseResult(
        client=case.arm.client.name,
        front=case.arm.front.name,
        role="proxy" if case.arm.proxy else "server",
        protocol=case.arm.protocol,
        what=case.what,
        outcome=verdict.status,
        reason=verdict.reason,
        logs=WrittenLogs(
            client_qlog=_written(raw / "client-qlog"),
            server_qlog=_written(raw / ("proxy-qlog" if case.arm.proxy else "server-qlog")),
            keys=(raw / "keys.log").exists() and (raw / "keys.log").stat().st_size > 0,
        ),
        proof=document["proof"],
    )
    if verdict.status == "verified":
        shutil.rmtree(trial)
    else:
        shutil.rmtree(folder / "failed" / f"{case.arm.name}.{case.what}", ignore_errors=True)
        move_in(trial, folder / "failed" / f"{case.arm.name}.{case.what}")
    return result


def _written(folder: Path) -> bool:
    return any(file.stat().st_size > 0 for file in folder.rglob("*") if file.is_file())
