# SPDX-License-Identifier: Apache-2.0
"""Counts of system calls, inside the sandbox: after the timed trials, one more of each arm that nobody times.

It runs the first workload over the first path. Neither the ledger nor any table of trials knows of it: all that is
kept is STUDY/system-calls/ARM.json.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

from quiclab.evidence.verify.trial import judge, problem_of
from quiclab.lab.runner.document import read_json
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.programs import counts_file
from quiclab.lab.runner.trial import run_trial
from quiclab.lab.testbed.syscall_count import syscall_count_problem, syscall_counts
from quiclab.logs.decoders import decode_trial
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Arm, Study
from quiclab.model.units import Duration
from quiclab.plan.make import planned_rows
from quiclab.store.disk import read_object, write_atomically
from quiclab.store.layout import StudyDir
from quiclab.store.record_form import as_trial
from quiclab.study.observer import Observer

_SLOWER = 5
"""Times the study's limits that a program may take whose every call stops it twice."""


def count_system_calls(laboratory: Laboratory, study_dir: StudyDir, observer: Observer) -> None:
    """Count for every arm that has no counts yet. An arm that could not be counted is asked about again."""
    missing = [arm for arm in laboratory.study.measured_arms if not _counted(study_dir.system_calls(arm.name))]
    problem = syscall_count_problem() if missing else None
    if problem is not None:
        observer.cannot_count(problem)
    for arm in missing:
        found = {"unsupported": problem} if problem is not None else _observed(laboratory, arm, observer)
        write_atomically(study_dir.system_calls(arm.name), json.dumps(found, indent=1))


def _observed(laboratory: Laboratory, arm: Arm, observer: Observer) -> dict[str, object]:
    observer.counting(arm.name)
    found, problem = _count(_patient(laboratory), arm)
    observer.counted(arm.name, problem)
    return found


def _counted(file: Path) -> bool:
    found = read_json(file)
    return isinstance(found, dict) and "unsupported" not in found


def _patient(laboratory: Laboratory) -> Laboratory:
    study = laboratory.study
    limits = dataclasses.replace(
        study.limits, trial=Duration(_SLOWER * study.limits.trial.ns), ready=Duration(_SLOWER * study.limits.ready.ns)
    )
    return dataclasses.replace(laboratory, study=dataclasses.replace(study, limits=limits))


def _count(laboratory: Laboratory, arm: Arm) -> tuple[dict[str, object], str | None]:
    """Counts of an arm's programs, and the reason why its transfer went wrong, if it did."""
    row = _row(laboratory.study, arm)
    folder = run_trial(laboratory, row, attempt=1, counted=True)
    judge(folder, decode_trial(folder).tables)
    trial = as_trial(read_object(folder / "trial.json"))
    # How late the link was is of no interest here: what arrived is.
    problem = problem_of(trial)
    size = trial.expected.body_bytes or 0
    roles = {role: _role(folder, role, program.name, size) for role, program, _ in arm.programs()}
    shutil.rmtree(folder)
    counts: dict[str, object] = {
        "version": 1,
        "arm": arm.name,
        "workload": row.workload,
        "path": row.path,
        "body_bytes": size,
        "body_right": problem is None,
        "problem": problem,
        "roles": roles,
    }
    return counts, problem


def _row(study: Study, arm: Arm) -> PlanRow:
    """Any row of the plan that runs this arm in the first cell."""
    first = ("main", arm.name, study.measured_workloads[0].name, study.paths[0].name)
    return next(row for row in planned_rows(study) if (row.kind, row.arm_name, row.workload, row.path) == first)


def _role(folder: Path, role: str, program: str, body_bytes: int) -> dict[str, object]:
    calls = syscall_counts(counts_file(folder / "raw", role))
    if not calls:
        return {"program": program, "unsupported": "it was killed before its calls were summed up"}
    total = sum(calls.values())
    return {
        "program": program,
        "total": total,
        "calls_per_mb": round(total / (body_bytes / 1e6), 1),
        "calls": dict(sorted(calls.items(), key=lambda item: (-item[1], item[0]))),
    }
