# SPDX-License-Identifier: Apache-2.0
"""One trial of a spec by itself, inside the sandbox: its folder is a study of its own, of one trial."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from quiclab.lab.runner.commands import arm_of, path_of, workload_of
from quiclab.lab.runner.laboratory import Laboratory, open_laboratory
from quiclab.lab.runner.onlooker import Onlooker
from quiclab.lab.runner.trial import run_trial
from quiclab.lab.testbed.backend import choose_backend
from quiclab.lab.testbed.link import Backend
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.trial import judge_attempt, keep_attempt
from quiclab.study.trials import keep_host


@dataclass(frozen=True)
class Prepared:
    """A trial that can be run."""

    study_dir: StudyDir
    row: PlanRow
    laboratory: Laboratory
    backend: Backend
    why: str
    """Reason for this backend, in words."""


@dataclass(frozen=True)
class Kept:
    """A trial that was run."""

    attempt: Attempt
    folder: Path


def prepare_one(study: Study, study_dir: StudyDir, row: PlanRow, wanted: Backend | None) -> Prepared:
    """Check that this machine has what the trial needs, and write down what machine it is. Raises HostError."""
    backend, why = (wanted, "as asked") if wanted else choose_backend()
    laboratory = open_laboratory(_only(study, row), study_dir.root, backend)
    keep_host(study_dir, laboratory, backend)
    return Prepared(study_dir, row, laboratory, backend, why)


def run_one(prepared: Prepared, onlooker: Onlooker) -> Kept:
    """Run the trial, judge it, keep it. An earlier attempt that counted no longer does. Raises HostError."""
    study_dir, row = prepared.study_dir, prepared.row
    with open_ledger(study_dir) as ledger:
        ledger.adopt()
        ledger.plan([row])
        tries = ledger.attempts().get(row.trial_id, [])
        number = max((each.attempt for each in tries), default=0) + 1
        folder = run_trial(prepared.laboratory, row, number, onlooker=onlooker)
        judged = judge_attempt(folder, row.trial_id, number)
        if tries and tries[-1].status == "verified":
            ledger.overrule(tries[-1], "void", "run again by hand (quiclab trial)")
        keep_attempt(study_dir, ledger, judged)
    return Kept(judged.attempt, study_dir.folder(judged.attempt))


def _only(study: Study, row: PlanRow) -> Study:
    """Return as much of the study as this trial needs, so that programs of other arms need not be installed."""
    workload = workload_of(study, row)
    needed = study.arms if workload.competition else (arm_of(study, row),)
    return dataclasses.replace(study, workloads=(workload,), paths=(path_of(study, row),), arms=needed)
