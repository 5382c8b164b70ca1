# SPDX-License-Identifier: Apache-2.0
"""The tables of a whole study, from what its trials have: those of a trial are made here where no run has made them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
import polars as pl

from quiclab.evidence.made_by import MADE_BY, made_by
from quiclab.logs.decoders import decode_trial
from quiclab.model.errors import DecodeError
from quiclab.model.tables import OF_STUDY
from quiclab.processes import MOST, available_bytes, by_all_processors
from quiclab.store.disk import disk_errors
from quiclab.store.keep_raw import LOGS_LEFT_OUT
from quiclab.store.layout import DAMAGED, Attempt, StudyDir, judged_document, read_trial
from quiclab.store.ledger import Ledger, counting, look_into_ledger, open_ledger
from quiclab.store.parquet import write_parquet
from quiclab.store.record_form import view_of
from quiclab.store.trial_views import TrialShortcomings, TrialTime
from quiclab.study.counted_metrics import with_counts
from quiclab.study.tables_on_disk import has_tables, kept_metrics
from quiclab.study.trial_tables import keep_tables

_OF_PLAN = ("trial_id", "kind", "cell_id", "workload", "path", "arm", "baseline_arm", "block", "position")
"""Columns of the study's table `trials` that the plan's row has."""
_WORK_OF_A_TRIAL_BYTES = 10_000_000
"""Logs that take as long to decode as what every trial takes, however small."""
_WORTH_A_PROCESS_BYTES = 100_000_000
"""Logs for which one more process is worth its start."""
_PROCESS_BYTES = 250_000_000
"""Memory of a process that decodes small trials."""
_BYTES_PER_LOG_BYTE = 10
"""Memory that a byte of logs takes at most: 2 where captures are whole, more where they hold headers alone."""
Progress = Callable[[int, int], object]
"""Called with how many trials are decoded so far, and how many there are to decode."""


@dataclass(frozen=True)
class LedgerTrials:
    """Statements of the ledger about a study's trials."""

    planned: Mapping[str, Mapping[str, object]]
    """Trial → row of the plan."""
    attempts: Mapping[str, Sequence[Attempt]]
    damaged: Mapping[str, str]

    @property
    def counting(self) -> list[str]:
        """Trials that are verified and whole."""
        return counting(self.attempts, self.damaged)


def make_tables(study_dir: StudyDir, *, again: bool = False, progress: Progress = lambda *_: None) -> list[str]:
    """Make the tables of a study: decode the trials that have none of their own (all of them, with `again`).

    Returns the trials that are left out because nothing says what row of the plan they are. Raises DecodeError where
    there is no trial, HostError where the disk refuses.
    """
    ledger = _read(study_dir)
    with disk_errors(study_dir.tables):
        study_dir.tables.mkdir(exist_ok=True)
        for trial_id, tries in ledger.attempts.items():
            if tries[-1].status != "verified":
                study_dir.drop_tables(trial_id)
        unreadable = _decode_missing(study_dir, ledger.counting, again, progress)
        metrics = [
            found
            for trial_id in ledger.counting
            if trial_id not in unreadable and (found := kept_metrics(study_dir, trial_id)) is not None
        ]
        trials, without_row = trials_table(study_dir, ledger, {**ledger.damaged, **unreadable})
        mark = {MADE_BY: made_by()}
        write_parquet(trials, study_dir.tables / "trials.parquet", mark)
        of_all = with_counts(study_dir, pl.concat([OF_STUDY["metrics"].empty(), *metrics]))
        write_parquet(of_all, study_dir.metrics, mark)
    return without_row


def trials_table(study_dir: StudyDir, ledger: LedgerTrials, lacks: Mapping[str, str]) -> tuple[pl.DataFrame, list[str]]:
    """Return the study's table `trials`, and the trials that are left out because nothing says what row of the plan
    they are. `lacks` has the trials that are damaged or cannot be read, each with the reason. Raises DecodeError where
    there is no trial."""
    rows = {attempt: _row(study_dir, ledger, attempt) for tries in ledger.attempts.values() for attempt in tries}
    documents = {attempt: judged_document(study_dir.folder(attempt)) for attempt in rows}
    spans = {attempt: span for attempt, each in documents.items() if (span := span_of(each)) is not None}
    occasion = occasions(spans)
    known = [
        _trial_row(row, _as_it_is(attempt, lacks))
        | _when(spans.get(attempt), occasion.get(attempt))
        | {LOGS_LEFT_OUT: _logs_left_out(documents[attempt])}
        for attempt, row in rows.items()
        if row is not None
    ]
    if not known:
        raise DecodeError(f"{study_dir.root} holds no trial yet", "run it first: quiclab run")
    schema = {"began_utc": pl.String, "occasion": pl.Int64, LOGS_LEFT_OUT: pl.String}  # perhaps none has a value
    frame = pl.DataFrame(known, infer_schema_length=None, schema_overrides=schema)
    return frame, [attempt.trial_id for attempt, row in rows.items() if row is None]


def _logs_left_out(document: Mapping[str, object] | None) -> str | None:
    found = view_of(document, TrialShortcomings)
    return found.logs_left_out if found else None


def _read(study_dir: StudyDir) -> LedgerTrials:
    if study_dir.ledger.is_file():
        with look_into_ledger(study_dir) as ledger:
            ledger.rows()  # of an empty file nothing is known, and it is no ledger that begins
    with open_ledger(study_dir) as ledger:
        ledger.adopt()
        return told_by(ledger)


def told_by(ledger: Ledger) -> LedgerTrials:
    """Contents of an open ledger."""
    planned = {row["trial_id"]: row for row in ledger.rows()}
    return LedgerTrials(planned, ledger.attempts(), ledger.damaged())


def _row(study_dir: StudyDir, ledger: LedgerTrials, attempt: Attempt) -> Mapping[str, object] | None:
    """Return the plan's row, from the trial's own files where the ledger was lost."""
    planned = ledger.planned.get(attempt.trial_id)
    trial = None if planned else read_trial(study_dir.folder(attempt))
    return planned if trial is None or trial.row is None else msgspec.structs.asdict(trial.row)


def _when(span: Span | None, occasion: int | None) -> dict[str, object]:
    return {"began_utc": None if span is None else span.began.isoformat(), "occasion": occasion}


def _as_it_is(attempt: Attempt, lacks: Mapping[str, str]) -> Attempt:
    """Return the attempt in the state that its files are in: a verified one may be damaged."""
    if attempt.status != "verified" or attempt.trial_id not in lacks:
        return attempt
    return Attempt(attempt.trial_id, attempt.attempt, DAMAGED, lacks[attempt.trial_id])


def _trial_row(row: Mapping[str, object], attempt: Attempt) -> dict[str, object]:
    told = {"attempt": attempt.attempt, "seed": str(row["seed"]), "status": attempt.status, "reason": attempt.reason}
    return {name: row[name] for name in _OF_PLAN} | told


def _decode_missing(study_dir: StudyDir, trials: Sequence[str], again: bool, progress: Progress) -> dict[str, str]:
    """Trial → why it cannot be decoded, of those that had no tables; by several processors where that is worth it."""
    missing = [trial_id for trial_id in trials if again or not has_tables(study_dir, trial_id)]
    sizes = {trial_id: raw_bytes(study_dir.trial(trial_id)) for trial_id in missing}
    missing.sort(key=lambda trial_id: sizes[trial_id], reverse=True)  # so that shares are alike
    finished = 0

    def done() -> None:
        nonlocal finished
        finished += 1
        progress(finished, len(missing))

    work = partial(make_tables_of, study_dir)
    found = by_all_processors(work, missing, at_most=processes_for(list(sizes.values())), done=done)
    return {trial_id: lacks for trial_id, lacks in zip(missing, found, strict=True) if lacks is not None}


def make_tables_of(study_dir: StudyDir, trial_id: str) -> str | None:
    """Make the tables of one trial anew; return why that is not possible, or None."""
    folder = study_dir.trial(trial_id)
    trial = read_trial(folder)
    if trial is None:
        return "its files changed while it was looked at"
    # Without its keys or its logs a trial would lose what its tables have.
    if (trial.logs_left_out or trial.keys_left_out) and kept_metrics(study_dir, trial_id) is not None:
        return None
    if trial.logs_left_out:
        return f"its tables are gone, and its logs were not kept (--keep-raw {trial.logs_left_out})"
    try:
        keep_tables(study_dir, trial_id, decode_trial(folder).tables, trial)
    except DecodeError as error:
        return error.message
    except Exception as error:
        error.add_note(f"met in the tables of trial {trial_id}")
        raise
    return None


def raw_bytes(folder: Path) -> int:
    """Size of a trial's raw files on the disk."""
    return sum(file.stat().st_size for file in (folder / "raw").rglob("*") if file.is_file())


def processes_for(sizes: Sequence[int]) -> int:
    """Number of processes that may decode trials of these sizes: as many as is worth a start, and as have room."""
    worth = sum(_WORK_OF_A_TRIAL_BYTES + size for size in sizes) // _WORTH_A_PROCESS_BYTES + 1
    room = available_bytes() // (_PROCESS_BYTES + _BYTES_PER_LOG_BYTE * max(sizes, default=0))
    return max(1, min(MOST, worth, room))


# Occasions: stretches of time in which trials of a study ran on one boot of one machine, without a long pause.
#
# No number of blocks within one occasion can show what all its trials share (temperature, neighbours, what the kernel
# happened to place where). Nobody has to say when a new one begins: another boot, or another machine, has another id.
PAUSE = timedelta(hours=1)
"""Time without a trial after which another occasion begins."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Span:
    """Time in which a trial ran, and the boot that it ran on."""

    began: datetime
    ended: datetime
    boot: str
    """Boot id of the kernel; empty where an earlier version of quiclab did not keep it."""


def span_of(document: Mapping[str, object] | None) -> Span | None:
    """Return when a trial ran by its trial.json; None where that does not tell."""
    told = view_of(document, TrialTime)
    return None if told is None or told.span is None else Span(*told.span, told.boot_id)


def _is_another(boot: str, before: str) -> bool:
    return bool(boot and before) and boot != before


def occasions(spans: Mapping[Key, Span]) -> dict[Key, int]:
    """Number of the occasion of each trial, from 1 in order of time."""
    found: dict[Key, int] = {}
    number, before = 0, None
    for key, span in sorted(spans.items(), key=lambda item: item[1].began):
        if before is None or span.began - before.ended >= PAUSE or _is_another(span.boot, before.boot):
            number += 1
        found[key] = number
        before = span
    return found
