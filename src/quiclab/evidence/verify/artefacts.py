# SPDX-License-Identifier: Apache-2.0
"""The artefact register: every file of a trial with its format, what it is worth, and its size."""

from __future__ import annotations

from pathlib import Path

from quiclab.model.trial_record import Artefact
from quiclab.store.packed_captures import plain_name

_FORMATS = {
    ".qplog": ("packet-log", "data"),
    ".pcapng": ("pcapng", "data"),
    ".sqlog": ("qlog", "log"),
    ".qlog": ("qlog", "log"),
    ".json": ("json", "meta"),
    ".out": ("text", "log"),
    ".log": ("key-log", "log"),
}


def register(folder: Path) -> list[Artefact]:
    """One row per file below raw/, in order of path."""
    rows: list[Artefact] = []
    for path in sorted((folder / "raw").rglob("*")):
        if path.is_file():
            plain = path.with_name(plain_name(path.name.removesuffix(".gz")))
            form, kind = _FORMATS.get(plain.suffix, ("other", "meta"))
            size = path.stat().st_size
            rows.append(Artefact(path=str(path.relative_to(folder)), format=form, kind=kind, bytes=size))
    return rows
