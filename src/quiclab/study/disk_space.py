# SPDX-License-Identifier: Apache-2.0
"""Room on the disk while a study runs: what a trial is not to keep goes when its block is over.

Logs and captures take far more room than the tables that are made of them, and those of a trial that counts never go
before it has its tables.
The rule is about the whole study, so that a run which was killed in between is made up for by the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quiclab.model.plan_row import PlanRow
from quiclab.store.keep_raw import KeepRaw, leave_logs_out, raw_bytes
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import Ledger
from quiclab.study.observer import Observer
from quiclab.study.tables import make_tables_of
from quiclab.study.trial_tables import a_run_goes_on, kept_metrics


class RoomMaker(Observer):
    """Leaves out the raw files that a study is not to keep, block by block."""

    def __init__(self, study_dir: StudyDir, ledger: Ledger, keep: KeepRaw) -> None:
        self._study_dir = study_dir
        self._ledger = ledger
        self._keep = keep
        self._kept: set[Path] = set()
        """Folders whose raw files are kept within a size."""
        self._kept_bytes = 0
        self.removed = 0
        """Attempts whose raw files were removed now."""
        self.removed_bytes = 0

    def block_over(self, block: Sequence[PlanRow], *, void: bool) -> None:  # noqa: ARG002
        if self._keep.what == "all":
            return
        attempts = self._ledger.attempts()
        for row in block:
            for attempt in attempts.get(row.trial_id, ()):
                self._see_to(attempt, row)

    def _see_to(self, attempt: Attempt, row: PlanRow) -> None:
        folder = self._study_dir.folder(attempt)
        if self._keep.keeps(attempt, row.block) and self._has_room(folder):
            return
        if attempt.status != "verified" or self._has_tables(attempt.trial_id):
            size = leave_logs_out(folder, self._keep.rule)
            self.removed += size > 0
            self.removed_bytes += size

    def _has_tables(self, trial_id: str) -> bool:
        """True if a trial has tables, by now at least: a run that was killed may not have made them."""
        if kept_metrics(self._study_dir, trial_id) is None:
            with a_run_goes_on():
                make_tables_of(self._study_dir, trial_id)
        return kept_metrics(self._study_dir, trial_id) is not None

    def _has_room(self, folder: Path) -> bool:
        if self._keep.what != "size" or folder in self._kept:
            return True
        size = raw_bytes(folder)
        if self._kept_bytes + size > self._keep.number:
            return False
        self._kept.add(folder)
        self._kept_bytes += size
        return True
