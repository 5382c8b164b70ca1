# SPDX-License-Identifier: Apache-2.0
"""Remarks on single trials, made by hand: notes, and exclusions with a reason. Nothing is ever deleted.

They are in STUDY/remarks.json in the order in which they were made; one that was taken back stays, with the time of
that.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from quiclab.model.errors import DecodeError
from quiclab.model.json_trouble import json_trouble
from quiclab.store.disk import write_atomically
from quiclab.store.forms import misfit
from quiclab.store.own_files import read_own

Kind = Literal["note", "exclusion"]
FILE = "remarks.json"


@dataclass(frozen=True)
class Remark:
    """One remark on one trial."""

    trial_id: str
    kind: Kind
    text: str
    """Text of a note, or the reason for an exclusion."""
    said_utc: str
    undone_utc: str | None = None
    """Time at which the remark was taken back; None while it holds."""


_FORM = {"remarks!": [{"trial_id!": str, "kind!": str, "text!": str, "said_utc!": str, "undone_utc": str}]}
"""Form of remarks.json (`quiclab.store.forms`)."""


def read_remarks(root: Path) -> list[Remark]:
    """All remarks of a study, including those taken back. Raises DecodeError for a file that cannot be read."""
    file = root / FILE
    if not file.exists():
        return []
    try:
        document = json.loads(read_own(file))
        wrong = misfit(document, _FORM) if isinstance(document, dict) else "it is no object with a list of remarks"
    except (OSError, ValueError, RecursionError) as error:
        wrong = json_trouble(error)
    if wrong is not None:
        raise DecodeError(f"{file} cannot be read: {wrong}", "mend it, or move it away: it holds annotations only")
    names = [each.name for each in dataclasses.fields(Remark)]
    return [Remark(**{name: item.get(name) for name in names}) for item in document["remarks"]]


def write_remarks(root: Path, remarks: Sequence[Remark]) -> None:
    """Write the remarks of a study, in place of those that were there."""
    content = {"version": 1, "remarks": [dataclasses.asdict(remark) for remark in remarks]}
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
        dataclasses.replace(each, undone_utc=_now()) if number == max(found, default=-1) else each
        for number, each in enumerate(remarks)
    ]


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
