# SPDX-License-Identifier: Apache-2.0
"""Remarks on single trials, made by hand: notes, and exclusions with a reason. Nothing is ever deleted.

They are in STUDY/remarks.json in the order in which they were made; one that was taken back stays, with the time of
that.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from quiclab.model.errors import DecodeError
from quiclab.model.json_trouble import json_trouble
from quiclab.model.remark_record import Kind, Remark, Remarks
from quiclab.store.disk import write_atomically
from quiclab.store.forms import misfit
from quiclab.store.own_files import read_own
from quiclab.store.record_form import as_json, as_record, form_of

__all__ = ["FILE", "Kind", "Remark", "excluded", "read_remarks", "say", "take_back", "write_remarks"]

FILE = "remarks.json"


def read_remarks(root: Path) -> list[Remark]:
    """All remarks of a study, including those taken back. Raises DecodeError for a file that cannot be read."""
    file = root / FILE
    if not file.exists():
        return []
    try:
        document = json.loads(read_own(file))
        is_object = isinstance(document, dict)
        wrong = misfit(document, form_of(Remarks)) if is_object else "it is no object with a list of remarks"
    except (OSError, ValueError, RecursionError) as error:
        wrong = json_trouble(error)
    if wrong is not None:
        raise DecodeError(f"{file} cannot be read: {wrong}", "mend it, or move it away: it holds annotations only")
    return list(as_record(document, Remarks).remarks)


def write_remarks(root: Path, remarks: Sequence[Remark]) -> None:
    """Write the remarks of a study, in place of those that were there."""
    content = as_json(Remarks(remarks=tuple(remarks)))
    write_atomically(root / FILE, json.dumps(content, indent=1, ensure_ascii=False))


def excluded(remarks: Sequence[Remark]) -> dict[str, str]:
    """Trials that are excluded now, each with the reason."""
    return {each.trial_id: each.text for each in remarks if each.kind == "exclusion" and each.undone_utc is None}


def say(remarks: Sequence[Remark], trial_id: str, kind: Kind, text: str) -> list[Remark]:
    """Add a remark; the reason of a new exclusion replaces that of an old one."""
    before = take_back(remarks, trial_id, "exclusion") if kind == "exclusion" else list(remarks)
    return [*before, Remark(trial_id, kind, text, _now())]


def take_back(remarks: Sequence[Remark], trial_id: str, kind: Kind) -> list[Remark]:
    """Take back the last note of a trial, or its exclusion."""
    found = [
        number
        for number, each in enumerate(remarks)
        if (each.trial_id, each.kind, each.undone_utc) == (trial_id, kind, None)
    ]
    return [
        msgspec.structs.replace(each, undone_utc=_now()) if number == max(found, default=-1) else each
        for number, each in enumerate(remarks)
    ]


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
