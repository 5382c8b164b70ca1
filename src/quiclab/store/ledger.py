# SPDX-License-Identifier: Apache-2.0
"""The ledger: which trials the plan has and what became of each attempt. SQLite, so that it survives `kill -9`.

A trial's folder is moved into place, whole, before the ledger says so; `adopt` brings the ledger up to what the folders
hold. So what has a verdict, in the ledger or in its trial.json, was whole once. The verdict stays: a trial whose files
were lost later is damaged, has no result, and is not run again, even if the ledger was lost. A trial without a verdict
is run again.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from quiclab.model.bounds import MOST_BLOCKS
from quiclab.model.errors import DecodeError, HostError
from quiclab.model.json_trouble import json_trouble
from quiclab.store.disk import disk_errors, read_object
from quiclab.store.layout import BLOCK_CUT, BLOCK_VOID, Attempt, Status, StudyDir, damage, read_register
from quiclab.store.leases import Leases
from quiclab.store.no_study import need_ledger
from quiclab.store.own_files import open_own

_VERSION = 1
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS trials (trial_id TEXT PRIMARY KEY, block_id TEXT NOT NULL, row TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS attempts (
    trial_id TEXT NOT NULL REFERENCES trials, attempt INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (trial_id, attempt)
);
CREATE TABLE IF NOT EXISTS leases (
    fence INTEGER PRIMARY KEY AUTOINCREMENT, block_id TEXT NOT NULL, worker TEXT NOT NULL,
    granted_utc TEXT NOT NULL, ended_utc TEXT, outcome TEXT
);
PRAGMA user_version = {_VERSION};
"""
_TABLES = frozenset({"trials", "attempts", "leases"})
_SQLITE, _HEADER_BYTES, _VERSION_AT = b"SQLite format 3\0", 100, 60
"""Begin and length of the header of a SQLite database, and where the user version stands in it (SQLite, Database File
Format, section 1.3)."""

_ROW = {
    **dict.fromkeys(("trial_id", "block_id", "kind", "cell_id", "workload", "path", "arm"), str),
    **dict.fromkeys(("arm_name", "baseline_arm"), str),
    **dict.fromkeys(("block", "position", "seed"), int),
}
"""Keys of the row of a plan, with their types."""
_MOST = {"block": MOST_BLOCKS, "position": 2**63, "seed": 2**64}
"""Numbers of a row, each with the least that it cannot be."""
_MOST_ATTEMPTS = 2**31
"""Least number that no attempt has; they count from 1."""
_ADOPTED_AGAIN = "move it away and run the study again (quiclab run): the trials in trials/ and failed/ are adopted"


def _check(known: bool) -> None:
    if not known:
        raise ValueError("a row of another form")


def _is_id(value: object) -> bool:
    """True if a value may name a folder."""
    return isinstance(value, str) and re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z#-]*", value) is not None


class Ledger:
    """The ledger of a study; open it with `open_ledger`."""

    def __init__(self, connection: sqlite3.Connection, study_dir: StudyDir) -> None:
        self._db = connection
        self._study_dir = study_dir
        self.leases = Leases(connection, study_dir)
        """Leases of the blocks that workers of a cluster run."""

    def plan(self, rows: Sequence[Any]) -> None:
        """Enter plan rows (dataclasses with trial_id and block_id); rows that are there already are kept."""
        with disk_errors(self._study_dir.ledger), self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO trials VALUES (?, ?, ?)",
                [(row.trial_id, row.block_id, json.dumps(asdict(row))) for row in rows],
            )

    def rows(self) -> list[dict[str, Any]]:
        """All plan rows that were ever entered, in the order of their blocks in the plan."""
        with self._readable():
            rows = [json.loads(row) for (row,) in self._db.execute("SELECT row FROM trials")]
            for row in rows:
                _check(all(isinstance(row[key], kind) for key, kind in _ROW.items()) and _is_id(row["trial_id"]))
                _check(all(0 <= row[key] < most for key, most in _MOST.items()))
            rows = [{key: row[key] for key in _ROW} for row in rows]
            return sorted(rows, key=lambda row: (row["cell_id"], row["block"], row["position"], row["trial_id"]))

    def attempts(self) -> dict[str, list[Attempt]]:
        """Attempts of every trial, in order."""
        found: dict[str, list[Attempt]] = {}
        with self._readable():
            for values in self._db.execute("SELECT trial_id, attempt, status, reason FROM attempts ORDER BY attempt"):
                trial_id, attempt, status, reason = values
                _check(_is_id(trial_id) and isinstance(attempt, int) and status in get_args(Status))
                _check(0 < attempt < _MOST_ATTEMPTS)
                found.setdefault(trial_id, []).append(Attempt(trial_id, attempt, status, str(reason)))
        return found

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn rows that no run has written into a DecodeError."""
        try:
            yield
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            why = "a row of another form" if isinstance(error, KeyError | TypeError) else json_trouble(error)
            told = f"{self._study_dir.ledger} holds what no run writes: {why}"
            raise DecodeError(told, _ADOPTED_AGAIN) from error

    def record(self, *attempts: Attempt) -> None:
        """Record attempts that have ended and whose folders are in place, all or none."""
        rows = [(each.trial_id, each.attempt, each.status, each.reason) for each in attempts]
        with disk_errors(self._study_dir.ledger), self._db:
            self._db.executemany("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?)", rows)

    def void(self, trial_id: str) -> None:
        """Void a trial that counted, because another trial of its block was void. Its folder goes to failed/."""
        self.overrule(self.attempts()[trial_id][-1], "void", BLOCK_VOID)

    def void_as_cut(self, attempt: Attempt) -> None:
        """Void a trial that counted, because the rest of its block was not run with it."""
        self.overrule(attempt, "void", BLOCK_CUT)

    def since_end_s(self, attempt: Attempt) -> float:
        """Seconds since an attempt was over, by its trial.json; 0 where that does not tell."""
        from quiclab.store.record_form import view_of
        from quiclab.store.trial_views import TrialTime

        try:
            document = read_object(self._study_dir.folder(attempt) / "trial.json")
        except DecodeError:
            return 0.0
        told = view_of(document, TrialTime)
        return 0.0 if told is None or told.span is None else (datetime.now(UTC) - told.span[1]).total_seconds()

    def overrule(self, attempt: Attempt, status: Status, reason: str) -> None:
        """Change the status of a trial that counted: its tables go, and its folder goes to failed/."""
        source, target = (
            self._study_dir.trial(attempt.trial_id),
            self._study_dir.failed(attempt.trial_id, attempt.attempt),
        )
        self._study_dir.drop_tables(attempt.trial_id)
        with disk_errors(target):
            if source.is_dir():
                source.replace(target)
        self.record(Attempt(attempt.trial_id, attempt.attempt, status, reason))

    def adopt(self) -> None:
        """Bring the ledger up to date with the folders, for a run that ended between moving a folder and recording
        it."""
        attempts = [attempt for tries in self.attempts().values() for attempt in tries]
        known = {(each.trial_id, each.attempt) for each in attempts if not self._was_overruled(each)}
        for place in ("trials", "failed"):
            for folder in sorted((self._study_dir.root / place).glob("[!.]*")):
                told = read_register(folder)
                if told is None or (told.trial_id, told.attempt) in known:
                    continue
                if folder.name not in (told.trial_id, f"{told.trial_id}-attempt{told.attempt}"):
                    continue  # set aside, or put here by hand
                status, reason = told.status, told.reason
                if place == "failed" and status == "verified":
                    status, reason = "void", BLOCK_VOID
                self.record(Attempt(told.trial_id, told.attempt, status, reason))

    def _was_overruled(self, attempt: Attempt) -> bool:
        """True if a run ended after the folder of an overruled trial had gone to failed/, before the ledger recorded
        it."""
        gone = attempt.status == "verified" and not self._study_dir.trial(attempt.trial_id).exists()
        return gone and self._study_dir.failed(attempt.trial_id, attempt.attempt).is_dir()

    def damaged(self) -> dict[str, str]:
        """Verified trials whose folder is not whole, each with what it lacks."""
        last = {trial_id: tries[-1] for trial_id, tries in self.attempts().items()}
        counting = {
            trial_id: self._study_dir.folder(each) for trial_id, each in last.items() if each.status == "verified"
        }
        return {trial_id: lacks for trial_id, folder in counting.items() if (lacks := damage(folder, trial_id))}


def is_ledger(file: Path) -> bool:
    """True if a file is a ledger by its header: of SQLite, and with the number of our schema."""
    try:
        with open_own(file) as opened:
            head = opened.read(_HEADER_BYTES)
    except OSError:
        return False
    return head.startswith(_SQLITE) and head[_VERSION_AT : _VERSION_AT + 4] == _VERSION.to_bytes(4)


def counting(attempts: Mapping[str, Sequence[Attempt]], damaged: Mapping[str, str]) -> list[str]:
    """Trials that are verified, and whose files are whole."""
    return [each for each, tries in attempts.items() if tries[-1].status == "verified" and each not in damaged]


def kept_positions(study_dir: StudyDir) -> dict[str, int]:
    """Position of every trial that was planned, by its id; nothing is written, and none is known where the ledger
    cannot be read."""
    with suppress(sqlite3.Error, ValueError, KeyError, TypeError, RecursionError):
        with closing(sqlite3.connect(f"{study_dir.ledger.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            rows = [json.loads(row) for (row,) in connection.execute("SELECT row FROM trials")]
        return {str(row["trial_id"]): int(row["position"]) for row in rows}
    return {}


@contextmanager
def look_into_ledger(study_dir: StudyDir) -> Iterator[Ledger]:
    """Open the ledger without writing to it, also while a run does. Raises DecodeError where there is none or the file
    is not one, HostError if the disk refuses."""
    need_ledger(study_dir)
    _refuse_what_is_no_file(study_dir)
    with _ledger_errors(study_dir), _without_writing(study_dir) as db:
        yield Ledger(db, study_dir)


def refuse_damaged_ledger(study_dir: StudyDir) -> None:
    """Raises DecodeError where a study has a ledger that is damaged: which trials count would not be known. An archive
    for readers has none."""
    if study_dir.ledger.exists():
        with look_into_ledger(study_dir) as ledger:
            ledger.rows()
            ledger.attempts()


@contextmanager
def _without_writing(study_dir: StudyDir) -> Iterator[sqlite3.Connection]:
    """Open a ledger that is whole; of one that a run was killed while it wrote, a copy from before that. Raises
    DecodeError where the file is no ledger."""
    with ExitStack() as opened:
        db = opened.enter_context(closing(sqlite3.connect(f"{study_dir.ledger.absolute().as_uri()}?mode=ro", uri=True)))
        try:
            _refuse_damaged(db, study_dir)
        except sqlite3.OperationalError as error:
            if "readonly" not in str(error):
                raise
            db = opened.enter_context(closing(sqlite3.connect(":memory:")))
            _copy(study_dir, db)
        _refuse_others(db, study_dir)
        yield db


@contextmanager
def borrowed_ledger(study_dir: StudyDir) -> Iterator[Ledger]:
    """Open a copy of the ledger, in memory and brought up to what the folders hold: of a study that stays as it is,
    byte by byte, and may be on a disk that cannot be written. No run may be at work in it.

    Raises DecodeError where there is no ledger or the file is not one, HostError if the disk refuses.
    """
    need_ledger(study_dir)
    _refuse_what_is_no_file(study_dir)
    with _ledger_errors(study_dir), closing(sqlite3.connect(":memory:")) as memory:
        _copy(study_dir, memory)
        memory.execute("SELECT 1 FROM trials LIMIT 1")  # an empty file has no plan, and without one nothing is known
        memory.executescript(_SCHEMA)
        ledger = Ledger(memory, study_dir)
        ledger.adopt()
        yield ledger


def _copy(study_dir: StudyDir, memory: sqlite3.Connection) -> None:
    """Copy a ledger into memory, as it was before what a killed run was writing to it. Raises DecodeError where the
    file is no ledger."""
    journal = study_dir.ledger.with_name(f"{study_dir.ledger.name}-journal")
    if not journal.exists():
        with disk_errors(study_dir.ledger), open_own(study_dir.ledger) as file:
            if database := file.read():
                memory.deserialize(database)
        _refuse_damaged(memory, study_dir)
        _refuse_others(memory, study_dir)
        return
    with TemporaryDirectory() as folder:
        # SQLite takes back what stands in the journal where it may write: in a copy of both.
        for source in (study_dir.ledger, journal):
            target = Path(folder, source.name)
            with disk_errors(target), open_own(source) as content, target.open("xb") as file:
                shutil.copyfileobj(content, file)
        with closing(sqlite3.connect(Path(folder, study_dir.ledger.name))) as connection:
            _refuse_damaged(connection, study_dir)
            _refuse_others(connection, study_dir)
            connection.backup(memory)


@contextmanager
def open_ledger(study_dir: StudyDir) -> Iterator[Ledger]:
    """Open or make the ledger; one that is there is not written by that. Raises DecodeError if the file is not a
    ledger, HostError if the disk refuses."""
    _refuse_what_is_no_file(study_dir)
    try:
        connection = sqlite3.connect(study_dir.ledger, timeout=5)
    except sqlite3.OperationalError as error:
        raise HostError(f"cannot open {study_dir.ledger}: {error}", "choose another directory with --out") from error
    with _ledger_errors(study_dir), closing(connection):
        _refuse_damaged(connection, study_dir)
        if _refuse_others(connection, study_dir) != _TABLES:
            connection.executescript(_SCHEMA)
        yield Ledger(connection, study_dir)


def _refuse_what_is_no_file(study_dir: StudyDir) -> None:
    if study_dir.ledger.exists() and not study_dir.ledger.is_file():
        raise DecodeError(f"{study_dir.ledger} is no file, but a folder, a FIFO or a device", _ADOPTED_AGAIN)


def _refuse_damaged(connection: sqlite3.Connection, study_dir: StudyDir) -> None:
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":  # such as a copy that was taken while a run wrote to it
        raise DecodeError(f"{study_dir.ledger} is damaged: {found}", _ADOPTED_AGAIN)


def _refuse_others(connection: sqlite3.Connection, study_dir: StudyDir) -> frozenset[str]:
    """Return which tables of a ledger are there. Raises DecodeError for a database with anything else: of another
    program, or with views and triggers, which would run when the ledger is used."""
    found = list(connection.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"))
    if others := [f"{kind} {name}" for kind, name in found if kind != "table" or name not in _TABLES]:
        told = f"{study_dir.ledger} is no ledger of quiclab's: it has the {others[0]}"
        raise DecodeError(told, _ADOPTED_AGAIN)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return frozenset(name for _, name in found) if version == _VERSION else frozenset()


@contextmanager
def _ledger_errors(study_dir: StudyDir) -> Iterator[None]:
    """Turn what SQLite says of a file into errors for a user."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if "full" in str(error):
            raise HostError(
                f"cannot write {study_dir.ledger}: {error}", "free some room and run the same command again"
            ) from error
        if "readonly" in str(error):
            raise HostError(
                f"cannot write {study_dir.ledger}: {error}", "choose another directory with --out"
            ) from error
        if "disk I/O error" in str(error) or "unable to open" in str(error) or "locked" in str(error):
            hint = "check that the disk is there and that this user may write to it; the study is as it was"
            raise HostError(f"cannot use {study_dir.ledger}: {error}", hint) from error
        raise DecodeError(f"{study_dir.ledger} is damaged: {error}", _ADOPTED_AGAIN) from error
