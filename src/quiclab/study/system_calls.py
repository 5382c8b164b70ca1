# SPDX-License-Identifier: Apache-2.0
"""Counts of system calls, inside the sandbox, after the timed trials, in trials that nobody times.

Either one more of each arm, of the first workload over the first path: all that is kept is STUDY/system-calls/ARM.json.
Or one more of each timed trial that counts, which runs the same row of the plan: STUDY/system-calls/trials/TRIAL.json,
of which `counted_metrics` makes metrics. Neither the ledger nor any table of trials knows of them.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from quiclab.evidence.verify.trial import judge, problem_of
from quiclab.lab.runner.document import read_json
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.programs import counts_file
from quiclab.lab.runner.trial import run_trial
from quiclab.lab.testbed.syscall_count import syscall_count_problem, syscall_counts
from quiclab.logs.decoders import decode_trial
from quiclab.model.bounds import MOST_BLOCKS
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Arm, Study
from quiclab.model.units import Duration
from quiclab.plan.make import planned_rows
from quiclab.store.disk import read_object, write_atomically
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import counting, look_into_ledger
from quiclab.store.record_form import as_trial
from quiclab.study.observer import Observer

_SLOWER = 5
"""Times the study's limits that a program may take whose every call stops it twice."""


def count_system_calls(
    laboratory: Laboratory, study_dir: StudyDir, rows: Sequence[PlanRow], observer: Observer
) -> None:
    """Count all that the study asks for and that has no counts yet. Trials that could not be counted, because this
    machine has no strace, are asked about again; of `rows`, the plan, only those that count are counted beside."""
    study = laboratory.study
    counted = study.count_system_calls
    if counted is True:
        wanted = [(study_dir.system_calls(arm.name), arm.name, _row(study, arm)) for arm in study.measured_arms]
    else:
        beside = _rows_beside(study_dir, rows, MOST_BLOCKS if isinstance(counted, str) else counted)
        wanted = [
            (study_dir.system_calls_beside(row.trial_id), f"{row.arm_name} ({number} of {len(beside)})", row)
            for number, row in enumerate(beside, 1)
        ]
    missing = [each for each in wanted if not _counted(each[0])]
    problem = syscall_count_problem() if missing else None
    if problem is not None:
        observer.cannot_count(problem)
    for file, name, row in missing:
        found = {"unsupported": problem} if problem is not None else _observed(laboratory, row, name, observer)
        write_atomically(file, json.dumps(found, indent=1))
    if counted is not True:
        _show_one_of_each(study_dir, study, [row for _, _, row in wanted])


def _rows_beside(study_dir: StudyDir, rows: Sequence[PlanRow], blocks: int) -> list[PlanRow]:
    """Rows of the first blocks of each cell whose trials count; one arm after the other within a block, as planned."""
    with look_into_ledger(study_dir) as ledger:
        whole = set(counting(ledger.attempts(), ledger.damaged()))
    return [row for row in rows if row.kind == "main" and row.block < blocks and row.trial_id in whole]


def _show_one_of_each(study_dir: StudyDir, study: Study, rows: Sequence[PlanRow]) -> None:
    """Give each arm the counts of its first trial in the first cell: the report shows the calls of one by name."""
    cell = (study.measured_workloads[0].name, study.paths[0].name)
    for arm in study.measured_arms:
        mine = [row for row in rows if row.arm_name == arm.name and (row.workload, row.path) == cell]
        if mine and not _counted(study_dir.system_calls(arm.name)):
            first = min(mine, key=lambda row: row.block)
            found = read_json(study_dir.system_calls_beside(first.trial_id))
            write_atomically(study_dir.system_calls(arm.name), json.dumps(found, indent=1))


def _observed(laboratory: Laboratory, row: PlanRow, name: str, observer: Observer) -> dict[str, object]:
    observer.counting(name)
    found, problem = _count(_patient(laboratory), row)
    observer.counted(name, problem)
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


def _count(laboratory: Laboratory, row: PlanRow) -> tuple[dict[str, object], str | None]:
    """Counts of a row's programs, and the reason why its transfer went wrong, if it did."""
    arm = next(arm for arm in laboratory.study.arms if arm.name == row.arm_name)
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
