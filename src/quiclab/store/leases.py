# SPDX-License-Identifier: Apache-2.0
"""Leases: which worker of a cluster has which block to run, or had it. They are kept in the ledger.

The number of a lease, its fence, is larger than that of every lease before it. A result counts by the lease under which
it was made, and only while that is the newest of its block and has not ended: whatever a scheduler repeats, loses and
finds again, a block has one result.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from quiclab.store.disk import disk_errors
from quiclab.store.layout import StudyDir

Outcome = Literal["merged", "failed", "lost", "refused", "stopped"]
"""End of a lease: its result is in the study; the worker told an error; the worker is gone; what it sent was no result
of the block; the run was stopped."""


@dataclass(frozen=True)
class Lease:
    """The right of one worker to run one block."""

    fence: int
    block_id: str
    worker: str


class Leases:
    """The leases of a study; `Ledger.leases` has them."""

    def __init__(self, connection: sqlite3.Connection, study_dir: StudyDir) -> None:
        self._db = connection
        self._study_dir = study_dir

    def grant(self, block_id: str, worker: str) -> Lease:
        """Grant a block to a worker, above all leases before."""
        with disk_errors(self._study_dir.ledger), self._db:
            added = self._db.execute(
                "INSERT INTO leases (block_id, worker, granted_utc) VALUES (?, ?, ?)", (block_id, worker, _now())
            )
        return Lease(int(added.lastrowid or 0), block_id, worker)

    def end(self, lease: Lease, outcome: Outcome) -> None:
        """Say how a lease ended; the first word about it stays."""
        with disk_errors(self._study_dir.ledger), self._db:
            self._db.execute(
                "UPDATE leases SET ended_utc = ?, outcome = ? WHERE fence = ? AND outcome IS NULL",
                (_now(), outcome, lease.fence),
            )

    def end_all(self) -> None:
        """End the leases of a run that was killed: nobody waits for their results."""
        with disk_errors(self._study_dir.ledger), self._db:
            self._db.execute("UPDATE leases SET ended_utc = ?, outcome = 'lost' WHERE outcome IS NULL", (_now(),))

    def holds(self, fence: int, block_id: str) -> bool:
        """True if a result of a block that was made under this fence counts."""
        newest = self._db.execute(
            "SELECT fence, outcome FROM leases WHERE block_id = ? ORDER BY fence DESC LIMIT 1", (block_id,)
        ).fetchone()
        return bool(newest == (fence, None))

    def block_of(self, fence: int) -> str | None:
        """The block of the lease with this fence that has not ended; None where there is none."""
        found = self._db.execute("SELECT block_id FROM leases WHERE fence = ? AND outcome IS NULL", (fence,)).fetchone()
        return None if found is None else str(found[0])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
