# SPDX-License-Identifier: Apache-2.0
"""Runs without several causes as files of a study: STUDY/confirm/NAME has the declaration and the result of one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quiclab.model.confirmation_record import DeclaredTogether, TogetherResult
from quiclab.model.errors import DecodeError
from quiclab.model.mechanism_names import current_name
from quiclab.store.disk import read_object
from quiclab.store.own_files import is_own_file, read_own
from quiclab.store.record_form import view_of

DECLARATION, RESULT = "declared-together.json", "together.json"


@dataclass(frozen=True)
class KeptTogether:
    """Result of a run without several causes."""

    directory: Path
    """The study that was run."""
    cell: str
    arm: str
    blocks: int
    whole_ms: float | None
    """Time by which the whole falls without all of them; None where it is not known."""
    parts_ms: Mapping[str, float | None]
    """Cause → its part of that, in the order of the result."""
    open_parts: tuple[str, ...]
    """Causes whose part is not decided."""
    sound: bool
    """True if the declaration and the spec are those whose hashes were kept before the run."""


def kept_together(study: Path) -> list[KeptTogether]:
    """All such runs of a study that have a result, in the order of their folders' names."""
    folder = study / "confirm"
    if not folder.is_dir() or folder.is_symlink():
        return []
    found = (_read(each) for each in sorted(folder.iterdir()) if (each / RESULT).is_file())
    return [each for each in found if each is not None]


def _read(directory: Path) -> KeptTogether | None:
    files = [directory / name for name in (DECLARATION, RESULT, "spec.toml")]
    if not all(is_own_file(file, directory) for file in files):
        return None
    try:
        told, shown = read_object(files[0]), read_object(files[1])
    except (DecodeError, OSError):
        return None
    declaration, result = view_of(told, DeclaredTogether), view_of(shown, TogetherResult)
    if declaration is None or result is None:
        return None
    declared = declaration.declared
    text = json.dumps(told["declared"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    own = hashlib.sha256(read_own(files[2])).hexdigest() == declared.spec_sha256
    return KeptTogether(
        directory,
        declared.cell,
        declared.arm,
        result.blocks,
        result.whole.ms,
        {current_name(each.cause): each.part.ms for each in result.parts},
        tuple(current_name(each.cause) for each in result.parts if not each.decided),
        own and hashlib.sha256(text.encode()).hexdigest() == declaration.sha256 == result.sha256,
    )
