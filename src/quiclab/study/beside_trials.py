# SPDX-License-Identifier: Apache-2.0
"""Parts of a study that stand beside its trials, and tell whether any were taken out: its interim looks, remarks by
hand, and folders that its ledger does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from quiclab.model.errors import DecodeError
from quiclab.model.number_text import counted, listed
from quiclab.store.disk import read_object
from quiclab.store.layout import StudyDir
from quiclab.store.look_records import FILE, read_looks, unreadable_lines
from quiclab.store.remarks import read_remarks

_SHOWN = 5


def unknown_folders(study_dir: StudyDir, known: Collection[Path]) -> list[str]:
    """Sentence about everything in trials/ and failed/ that is the folder of no attempt in the ledger, in a list; an
    empty one where there is nothing. What a run set aside, or was moving in when it was killed, counts nowhere."""
    found = [
        f"{place}/{entry.name}"
        for place in ("trials", "failed")
        if (study_dir.root / place).is_dir()
        for entry in sorted((study_dir.root / place).iterdir())
        if entry not in known and "-aside" not in entry.name and not entry.name.startswith(".incoming-")
    ]
    if not found:
        return []
    more = [f"{len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return [f"Not judged, as the ledger has no such attempt: {listed([*found[:_SHOWN], *more])}."]


def blocks_in_ledger(rows: Mapping[str, Mapping[str, object]], tried: Collection[str]) -> Counter[str]:
    """Cell → blocks of its comparison that have an attempt. `rows` is trial → row of the plan."""
    main = (rows[each] for each in tried if rows.get(each, {}).get("kind") == "main")
    return Counter(str(cell) for cell, _ in {(row.get("cell_id"), row.get("block")) for row in main})


def doubts_by_looks(study_dir: StudyDir, run: Mapping[str, int]) -> list[str]:
    """Sentences about interim looks that do not fit the ledger. `run` is cell → blocks that it has of it."""
    told = []
    if broken := unreadable_lines(study_dir.root):
        told.append(f"{FILE} has {counted(broken, 'line')} that cannot be read: interim looks may be missing.")
    looks = read_looks(study_dir.root)
    if study_dir.report.exists() and not looks and not _is_of_single_blocks(study_dir):
        told.append(f"There is a report, and {FILE} has no interim look: it was removed, or the report is another's.")
    seen = Counter[str]()
    for look in looks:
        seen |= Counter(look.blocks)
    for cell, number in sorted(seen.items()):
        if number > run.get(cell, 0):
            told.append(f"An interim look saw {counted(number, 'block')} of {cell}; the ledger has {run.get(cell, 0)}.")
    return told


def doubts_by_remarks(study_dir: StudyDir) -> list[str]:
    """Sentence about remarks by hand that cannot be read, in a list; an empty one where they can."""
    try:
        read_remarks(study_dir.root)
    except DecodeError as error:
        return [f"Which trials were excluded by hand is not known: {error.message}."]
    return []


def _is_of_single_blocks(study_dir: StudyDir) -> bool:
    """True for a bundle, whose report counts as no interim look."""
    return study_dir.resolved.exists() and bool(read_object(study_dir.resolved).get("only_blocks"))
