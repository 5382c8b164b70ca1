# SPDX-License-Identifier: Apache-2.0
"""One trial of the conformance test, inside the sandbox, and what it says about the two programs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.decoders import decode_trial
from quiclab.plan.rows import PlanRow
from quiclab.runner.laboratory import Laboratory
from quiclab.runner.trial import run_trial
from quiclab.store.layout import move_in
from quiclab.verify.trial import judge

if TYPE_CHECKING:
    from quiclab.cli.conformance import Case


def try_case(laboratory: Laboratory, folder: Path, case: Case, trial_id: str, tries: int) -> dict[str, Any]:
    """Run it, again where the laboratory was at fault; the logs of what failed stay in `folder`."""
    for attempt in range(1, tries + 1):
        trial = run_trial(laboratory, _row(case, trial_id), attempt)
        verdict = judge(trial, decode_trial(trial).tables)
        if verdict.status != "void":
            break
    document = json.loads((trial / "trial.json").read_text())
    raw = trial / "raw"
    result = {
        "client": case.arm.client.name,
        "front": case.arm.front.name,
        "role": "proxy" if case.arm.proxy else "server",
        "protocol": case.arm.protocol,
        "what": case.what,
        "outcome": verdict.status,
        "reason": verdict.reason,
        "logs": {
            "client_qlog": _written(raw / "client-qlog"),
            "server_qlog": _written(raw / ("proxy-qlog" if case.arm.proxy else "server-qlog")),
            "keys": (raw / "keys.log").exists() and (raw / "keys.log").stat().st_size > 0,
        },
        "proof": document["proof"],
    }
    if verdict.status == "verified":
        shutil.rmtree(trial)
    else:
        shutil.rmtree(folder / "failed" / f"{case.arm.name}.{case.what}", ignore_errors=True)
        move_in(trial, folder / "failed" / f"{case.arm.name}.{case.what}")
    return result


def _row(case: Case, trial_id: str) -> PlanRow:
    return PlanRow(
        trial_id=trial_id,
        kind="main",
        cell_id=f"{case.workload}/quiet",
        workload=case.workload,
        path="quiet",
        arm=case.arm.name,
        arm_name=case.arm.name,
        baseline_arm=case.arm.name,
        block=0,
        block_id=trial_id,
        seed=1,
        position=0,
    )


def _written(folder: Path) -> bool:
    return any(file.stat().st_size > 0 for file in folder.rglob("*") if file.is_file())
