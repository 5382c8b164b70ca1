# SPDX-License-Identifier: Apache-2.0
"""From raw artefacts to tables, metrics and the report: each step is made from the files of the one before."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import track

from quiclab.cli.console import VisibleConsole
from quiclab.errors import DecodeError, SpecError
from quiclab.store.layout import DAMAGED, Attempt, StudyDir, disk_errors, read_trial
from quiclab.store.ledger import open_ledger
from quiclab.store.parquet import is_whole, write_parquet

if TYPE_CHECKING:
    import polars


def analyse(study_dir: StudyDir, *, again: bool = False, metric: str | None = None) -> Path:
    """Decode what is not decoded yet (everything, with `again`), test, print the result table; the report's path.

    `metric` is what the table and a page of its own are about, beside the usual one. Raises SpecError where the study
    has nothing to compare by it.
    """
    # Imported late: these take a while, which the measuring side never needs.
    from quiclab.report import (
        analyse_study,
        claims_lines,
        metrics_of_pages,
        read_study,
        remark_lines,
        render,
        shares,
        write_report,
    )

    console = VisibleConsole()
    make_tables(study_dir, console, again=again)
    with disk_errors(study_dir.tables):
        study = read_study(study_dir.root)
        usual = metrics_of_pages(study, metric)[0]
        analysis = analyse_study(study_dir.root, metric)
        render(analysis, console)
        claims = claims_lines(study, analysis) if analysis.metric.name == usual else []
        for line in (*remark_lines(study, analysis), *shares(study), *claims):
            console.print(line, highlight=False, markup=False)
        report = write_report(study_dir.root, metric)
    console.print(f"report: {report}", highlight=False, soft_wrap=True)
    return report


def make_tables(study_dir: StudyDir, console: Console, *, again: bool = False) -> None:
    """Decode what is not decoded yet (everything, with `again`). Raises DecodeError where there is no trial."""
    import polars

    from quiclab.tables import OF_STUDY

    metrics: list[polars.DataFrame] = []
    with open_ledger(study_dir) as ledger:
        ledger.adopt()
        planned = {row["trial_id"]: row for row in ledger.rows()}
        attempts = [attempt for tries in ledger.attempts().values() for attempt in tries]
        damaged = ledger.damaged()
    rows: list[dict[str, Any]] = []
    with disk_errors(study_dir.tables):
        study_dir.tables.mkdir(exist_ok=True)
        for attempt in track(attempts, "decoding", console=console, transient=True):
            status, lacks = attempt.status, damaged.get(attempt.trial_id)
            document = read_trial(study_dir.folder(attempt))
            if status == "verified" and lacks is None and document is not None:
                try:
                    metrics.append(_metrics(study_dir, attempt.trial_id, document, again=again))
                except DecodeError as error:
                    lacks = error.message
            row = planned.get(attempt.trial_id) or (document or {}).get("row")
            if row is None:
                console.print(f"of trial {attempt.trial_id} the ledger has no row of a plan: it is left out")
                continue
            if status == "verified" and lacks is not None:
                attempt = Attempt(attempt.trial_id, attempt.attempt, DAMAGED, lacks)
            rows.append(_trial_row(row, attempt))
        if not rows:
            raise DecodeError(f"{study_dir.root} holds no trial yet", "run it first: quiclab run")
        write_parquet(polars.DataFrame(rows, infer_schema_length=None), study_dir.tables / "trials.parquet")
        write_parquet(polars.concat([OF_STUDY["metrics"].empty(), *metrics]), study_dir.metrics)


def _metrics(study_dir: StudyDir, trial_id: str, document: dict[str, Any], *, again: bool) -> polars.DataFrame:
    """The metrics of a verified trial, which is decoded where its tables are not whole. Raises DecodeError."""
    import polars

    kept = study_dir.tables / "metrics" / f"{trial_id}.parquet"
    # Without its keys a trial of a bundle would lose what its tables have.
    may_lose = document.get("keys_left_out") and is_whole(kept)
    if not may_lose and (again or not _is_decoded(study_dir, trial_id)):
        _decode(study_dir, trial_id, study_dir.trial(trial_id), document)
    return polars.read_parquet(kept, glob=False)


def _is_decoded(study_dir: StudyDir, trial_id: str) -> bool:
    """Whether every table that the study has is there of this trial, and whole."""
    from quiclab.tables import OF_STUDY, TABLES

    names = (name for name in {**TABLES, **OF_STUDY} if name == "metrics" or (study_dir.tables / name).is_dir())
    return all(is_whole(study_dir.tables / name / f"{trial_id}.parquet") for name in names)


def _decode(study_dir: StudyDir, trial_id: str, folder: Path, document: dict[str, Any]) -> None:
    """All tables of one trial; its metrics last, so that their file says that the trial is decoded."""
    import polars

    from quiclab.decoders import decode_trial
    from quiclab.metrics import (
        bytes_acknowledged,
        compute_trial,
        flow_throughput,
        flows,
        object_runs,
        page_progress,
        video_throughput,
    )
    from quiclab.tables import OF_STUDY, TABLES

    decoded = decode_trial(folder)
    known = {**OF_STUDY, **TABLES}
    tables = {
        **decoded.tables,
        "decode_stats": decoded.stats,
        "bytes_acknowledged": bytes_acknowledged(decoded.tables, document),
        "page_progress": page_progress(decoded.tables, document),
        "video_throughput": video_throughput(decoded.tables, document),
        "flow_throughput": flow_throughput(decoded.tables, document),
        "flows": flows(decoded.tables, document),
        "object_runs": object_runs(decoded.tables, document),
        "metrics": polars.DataFrame(
            compute_trial(folder, decoded.tables, document), known["metrics"].schema(), orient="row"
        ),
    }
    if "page" in (document.get("expected") or {}):
        _write_har(study_dir, trial_id, tables)
    files = {name: study_dir.tables / name / f"{trial_id}.parquet" for name in tables}
    files["metrics"].unlink(missing_ok=True)
    for name, table in tables.items():
        write_parquet(table, files[name], known[name].metadata)


def _write_har(study_dir: StudyDir, trial_id: str, tables: dict[str, Any]) -> None:
    """The load of a page as the browser's own account tells it; none where that has no request."""
    from quiclab.exports import EXPORTS, Choice

    folder = study_dir.tables / "har"
    folder.mkdir(exist_ok=True)
    lazy = {name: table.lazy() for name, table in tables.items()}
    har = next(export for export in EXPORTS if export.format == "har")
    sources = set(tables["http_requests"]["source"])
    source = next((each for each in ("raw/client-trace.json", "raw/client-page.har") if each in sources), None)
    if source is None:
        return
    with contextlib.suppress(DecodeError, SpecError):
        har.write(lazy, Choice(source=source), folder / f"{trial_id}.har")


def _trial_row(row: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    wanted = ("trial_id", "kind", "cell_id", "workload", "path", "arm", "baseline_arm", "block", "position")
    return {name: row[name] for name in wanted} | {
        "attempt": attempt.attempt,
        "seed": str(row["seed"]),
        "status": attempt.status,
        "reason": attempt.reason,
    }
