# SPDX-License-Identifier: Apache-2.0
"""Looks at a study: what was there, and how it was tested, each time somebody could see a result.

STUDY/looks.jsonl has a line for each, oldest first. Lines are only added: one that a crash cut off, or that is not of
its form, is passed over, and the next one begins on a line of its own.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from quiclab.model.errors import HostError
from quiclab.store.disk import disk_errors
from quiclab.store.forms import Each, Number, misfit
from quiclab.store.own_files import append_to_own, is_own_file, read_own

FILE = "looks.jsonl"
_MOST_BYTES = 1 << 24
"""Bytes at the file's end that are read: tens of thousands of looks."""
_FORM = {
    "when_utc!": str,
    "planned!": int,
    "blocks!": Each(int),
    "alpha!": Number,
    "metrics!": [str],
    "matters_pct": Number,
}


@dataclass(frozen=True)
class InterimLook:
    """One analysis whose result somebody could see."""

    when_utc: str
    planned: int
    """Blocks of each cell that the spec planned."""
    blocks: dict[str, int]
    """Cell → blocks that had been run."""
    alpha: float
    metrics: tuple[str, ...]
    """Names of the metrics that were compared, the study's own first."""
    matters_pct: float | None = None
    """Smallest difference that mattered, in per cent; None where the spec of that version had none."""

    def sees_what(self, other: InterimLook) -> bool:
        """True if another look saw the same trials, tested in the same way."""
        return {**asdict(self), "when_utc": ""} == {**asdict(other), "when_utc": ""}


def read_looks(root: Path) -> list[InterimLook]:
    """Looks at the study in `root`, oldest first; none where the file is missing or cannot be read."""
    return [look for line in _lines(root) if (look := _read_look(line)) is not None]


def unreadable_lines(root: Path) -> int:
    """Number of lines of the file that are no looks, such as one that a crash cut off."""
    return sum(_read_look(line) is None for line in _lines(root))


def _lines(root: Path) -> list[bytes]:
    file = root / FILE
    try:
        return read_own(file, last_bytes=_MOST_BYTES).splitlines() if is_own_file(file, root) else []
    except OSError:
        return []


def keep_look(root: Path, look: InterimLook) -> None:
    """Add a look, unless an earlier one saw the same. Raises HostError where it cannot be written."""
    if any(earlier.sees_what(look) for earlier in read_looks(root)):
        return
    try:
        with disk_errors(root / FILE):
            _append(root / FILE, json.dumps(asdict(look), ensure_ascii=False).encode())
    except OSError as error:
        raise HostError(f"cannot write {root / FILE}: {error.strerror or error}", "move it out of the study") from error


def _append(file: Path, line: bytes) -> None:
    with append_to_own(file) as opened:
        broken = os.fstat(opened.fileno()).st_size > 0 and read_own(file, last_bytes=1) != b"\n"
        opened.write(b"\n" * broken + line + b"\n")
        opened.flush()
        os.fsync(opened.fileno())


def _read_look(line: bytes) -> InterimLook | None:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if misfit(found, _FORM):
        return None
    return InterimLook(
        found["when_utc"],
        found["planned"],
        found["blocks"],
        float(found["alpha"]),
        tuple(found["metrics"]),
        None if found.get("matters_pct") is None else float(found["matters_pct"]),
    )
