# SPDX-License-Identifier: Apache-2.0
"""Results that workers send: unpacked beside the study, held against their lease, merged."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from quiclab.model.errors import DecodeError, SpecError
from quiclab.model.plan_row import PlanRow, by_block
from quiclab.store.archive import unpack
from quiclab.store.layout import StudyDir
from quiclab.store.leases import Lease
from quiclab.store.ledger import Ledger
from quiclab.study.merge import merge_block

PARTS = ".parts"
"""Folder of the study in which a result is until it is merged, below the fence of its lease."""
_UNPACKING = ".unpacking"
_MOST_BYTES = 8 << 30
"""Most bytes of one block's files."""


class Results:
    """The way of results into a study that is held and whose ledger is open."""

    def __init__(self, study_dir: StudyDir, ledger: Ledger) -> None:
        self._study_dir = study_dir
        self._ledger = ledger
        self._parts = study_dir.root / PARTS

    def take_in(self, lease: Lease, fence: int, packed: bytes, machine: str, rows: Sequence[PlanRow]) -> str | None:
        """Bring what was sent for a block into the study, and end its lease. `machine` names the facts about the
        machine that ran it.

        Returns why it does not count, None where it does: only what was made under the newest lease of the block, while
        that has not ended, is looked at.
        """
        leases = self._ledger.leases
        if not leases.holds(fence, lease.block_id):
            leases.end(lease, "refused")
            return f"it was made under lease {fence}, which is not the newest of the block, or has ended"
        folder = self._parts / str(fence)
        try:
            unpack(packed, folder / _UNPACKING, _MOST_BYTES)
            part = folder / _UNPACKING / "part"
            if not part.is_dir():
                raise DecodeError("the archive holds no study")
            # With its new name it is whole, and is merged whatever happens to this process.
            part = part.rename(folder / machine)
            merge_block(self._study_dir, self._ledger, StudyDir(part), rows)
        except (SpecError, DecodeError) as error:
            leases.end(lease, "refused")
            self._remove(folder)
            return "; ".join((error.message, *error.problems))
        leases.end(lease, "merged")
        self._remove(folder)
        return None

    def take_up(self, plan: Callable[[], Iterable[PlanRow]]) -> None:
        """Finish what a run on a cluster was merging when it was killed, and end all its leases. `plan` makes the whole
        plan, if it is needed."""
        parts = sorted(self._parts.glob("[0-9]*/*"))
        blocks = by_block(plan()) if parts else {}
        for part in parts:
            fence = int(part.parent.name)
            block_id = self._ledger.leases.block_of(fence)
            if part.name != _UNPACKING and block_id is not None and block_id in blocks:
                with suppress(SpecError, DecodeError):  # the block is run again
                    merge_block(self._study_dir, self._ledger, StudyDir(part), blocks[block_id])
                    self._ledger.leases.end(Lease(fence, block_id, ""), "merged")
        self._remove(self._parts)
        self._ledger.leases.end_all()

    def _remove(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # it is not there, or another result is in it
            self._parts.rmdir()
