# SPDX-License-Identifier: Apache-2.0
"""The ledger: which trials the plan has and what became of each attempt. SQLite, so that it survives `kill -9`.

A trial's folder is moved into place before the ledger says so; at the start of a run `adopt` brings the ledger up to
what the folders hold. So a trial is either done with all its artefacts, or it will be run again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from quiclab.errors import DecodeError, HostError
from quiclab.store.layout import BLOCK_VOID, Attempt, Status, StudyDir, disk_errors, read_trial

_SCHEMA = """
CREATE TABLE IF NOT EXISTS trials (trial_id TEXT PRIMARY KEY, block_id TEXT NOT NULL, row TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS attempts (
    trial_id TEXT NOT NULL REFERENCES trials, attempt INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (trial_id, attempt)
);
PRAGMA user_version = 1;
"""


class Ledger:
    """Open with `open_ledger`."""

    def __init__(self, connection: sqlite3.Connection, study_dir: StudyDir) -> None:
        self._db = connection
        self._study_dir = study_dir

    def plan(self, rows: Sequence[Any]) -> None:
        """Enter plan rows (dataclasses with trial_id and block_id); rows that are there are kept."""
        with disk_errors(self._study_dir.ledger), self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO trials VALUES (?, ?, ?)",
                [(row.trial_id, row.block_id, json.dumps(asdict(row))) for row in rows],
            )

    def rows(self) -> list[dict[str, Any]]:
        """All plan rows that were ever entered, in the order of their blocks in the plan."""
        rows = [json.loads(row) for (row,) in self._db.execute("SELECT row FROM trials")]
        return sorted(rows, key=lambda row: (row["cell_id"], row["block"], row["position"], row["trial_id"]))

    def attempts(self) -> dict[str, list[Attempt]]:
        """Attempts of every trial, in order."""
        found: dict[str, list[Attempt]] = {}
        for values in self._db.execute("SELECT trial_id, attempt, status, reason FROM attempts ORDER BY attempt"):
            found.setdefault(values[0], []).append(Attempt(*values))
        return found

    def record(self, attempt: Attempt) -> None:
        """One attempt has ended and its folder is in place."""
        with disk_errors(self._study_dir.ledger), self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?)",
                (attempt.trial_id, attempt.attempt, attempt.status, attempt.reason),
            )

    def void(self, trial_id: str) -> None:
        """Void a trial that counted, because another trial of its block was void. Its folder goes to failed/."""
        self.overrule(self.attempts()[trial_id][-1], "void", BLOCK_VOID)

    def overrule(self, attempt: Attempt, status: Status, reason: str) -> None:
        """A trial that counted counts no more. Its folder goes to failed/."""
        source, target = (
            self._study_dir.trial(attempt.trial_id),
            self._study_dir.failed(attempt.trial_id, attempt.attempt),
        )
        with disk_errors(target):
            if source.exists():
                source.replace(target)
        self.record(Attempt(attempt.trial_id, attempt.attempt, status, reason))

    def adopt(self) -> None:
        """Bring the ledger up to what the folders hold: a run was ended between the two."""
        known = {}
        for attempt in [attempt for tries in self.attempts().values() for attempt in tries]:
            if attempt.status == "void" or read_trial(self._study_dir.folder(attempt)) is not None:
                known[attempt.trial_id, attempt.attempt] = attempt
            else:
                self._forget(attempt)
        for place in ("trials", "failed"):
            for folder in sorted((self._study_dir.root / place).glob("[!.]*")):
                document = read_trial(folder)
                if document is None or (document["trial_id"], document["attempt"]) in known:
                    continue
                status, reason = document["status"], document["reason"]
                if place == "failed" and status == "verified":
                    status, reason = "void", BLOCK_VOID
                self.record(Attempt(document["trial_id"], document["attempt"], status, reason))

    def _forget(self, attempt: Attempt) -> None:
        with disk_errors(self._study_dir.ledger), self._db:
            self._db.execute(
                "DELETE FROM attempts WHERE trial_id = ? AND attempt = ?", (attempt.trial_id, attempt.attempt)
            )


@contextmanager
def open_ledger(study_dir: StudyDir) -> Iterator[Ledger]:
    """Open or make the ledger. Raises DecodeError when the file is none of ours, HostError when the disk refuses."""
    try:
        connection = sqlite3.connect(study_dir.ledger, timeout=5)
    except sqlite3.OperationalError as error:
        raise HostError(f"cannot open {study_dir.ledger}: {error}", "choose another directory with --out") from error
    try:
        connection.executescript(_SCHEMA)
        yield Ledger(connection, study_dir)
    except sqlite3.DatabaseError as error:
        if "full" in str(error):
            raise HostError(
                f"cannot write {study_dir.ledger}: {error}", "free some room and run the same command again"
            ) from error
        if "readonly" in str(error):
            raise HostError(
                f"cannot write {study_dir.ledger}: {error}", "choose another directory with --out"
            ) from error
        raise DecodeError(
            f"{study_dir.ledger} is damaged: {error}", "move it away; the trials in trials/ are adopted again"
        ) from error
    finally:
        connection.close()
