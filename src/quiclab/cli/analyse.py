# SPDX-License-Identifier: Apache-2.0
"""From raw artefacts to tables, metrics and the report; every step can be done again from the files of the one before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from quiclab.store.layout import StudyDir, disk_errors, read_trial
from quiclab.store.ledger import open_ledger


def analyse(study_dir: StudyDir) -> Path:
    """Decode what is not decoded yet, compute metrics, print the result table, write the report; its path."""
    # Imported late: these take over a second, which the measuring side never needs.
    import polars

    from quiclab.decoders import decode_trial
    from quiclab.metrics import compute_trial
    from quiclab.report import write_report
    from quiclab.report.analyse import analyse_study
    from quiclab.report.terminal import render

    console = Console()
    rows: list[dict[str, Any]] = []
    metric_rows: list[Any] = []
    with open_ledger(study_dir) as ledger:
        ledger.adopt()
        attempts = ledger.attempts()
    for trial_id, tries in attempts.items():
        for attempt in tries:
            verified = attempt.status == "verified"
            folder = study_dir.trial(trial_id) if verified else study_dir.failed(trial_id, attempt.attempt)
            document = read_trial(folder)
            if document is None:
                continue
            rows.append(_trial_row(document, attempt.status, attempt.reason))
            if not verified:
                continue
            decoded = decode_trial(folder)
            with disk_errors(study_dir.tables):
                for name, table in decoded.tables.items():
                    (study_dir.tables / name).mkdir(exist_ok=True)
                    table.write_parquet(study_dir.tables / name / f"{trial_id}.parquet")
            metric_rows += compute_trial(folder, decoded.tables, document)
    with disk_errors(study_dir.tables):
        polars.DataFrame(rows, infer_schema_length=None).write_parquet(study_dir.tables / "trials.parquet")
        polars.DataFrame(metric_rows, infer_schema_length=None).write_parquet(study_dir.metrics)
    render(analyse_study(study_dir.root), console)
    report = write_report(study_dir.root)
    console.print(f"report: {report}", highlight=False, soft_wrap=True)
    return report


def _trial_row(document: dict[str, Any], status: str, reason: str) -> dict[str, Any]:
    row = document["row"]
    wanted = ("trial_id", "kind", "cell_id", "workload", "path", "arm", "baseline_arm", "block", "position")
    return {name: row[name] for name in wanted} | {
        "attempt": document["attempt"],
        "seed": str(row["seed"]),
        "status": status,
        "reason": reason,
    }


def load_json(path: Path) -> Any:
    """A JSON file of the study."""
    return json.loads(path.read_text())
