# SPDX-License-Identifier: Apache-2.0
"""Rows of a plan, and attempts that have run: recordings of real connections with the trial.json of a good trial."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from unit.evidence.verify.recordings import trial

from quiclab.model.plan_row import PlanRow

ROW = PlanRow(
    trial_id="7e57",
    kind="main",
    cell_id="object/plain",
    workload="object",
    path="plain",
    arm="h3",
    arm_name="h3",
    baseline_arm="h2",
    block=0,
    block_id="b10c",
    seed=1,
    position=0,
)
OTHER = replace(ROW, trial_id="07e5", arm="h2", arm_name="h2", position=1)


def attempt_at(row: PlanRow, number: int, folder: Path, **changes: Any) -> Path:
    """What the runner leaves of an attempt, in `folder`, before it is judged."""
    told = {"trial_id": row.trial_id, "attempt": number, "row": asdict(row), "started_monotonic_ns": 1}
    written = trial(folder, row.arm, **(told | changes))
    document = json.loads((written / "trial.json").read_text())
    # The keys by which the file is recognised stand at its begin, as the runner writes them.
    (written / "trial.json").write_text(json.dumps(told | document))
    return written
