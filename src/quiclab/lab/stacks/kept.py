# SPDX-License-Identifier: Apache-2.0
"""Programs that were compiled once, kept in the user's cache directory for the next checkout of the same sources."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
from pathlib import Path

_MOST = 4
"""Number of versions that are kept of one program."""


def kept_folder() -> Path:
    """Folder $XDG_CACHE_HOME/quiclab/programs, by default below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "quiclab", "programs")


def take(name: str, made_from: str, target: Path) -> bool:
    """Copy the program that was compiled from the same sources to `target`; False if there is none, or it is damaged.

    `made_from` is the digest of its sources.
    """
    kept = _program_path(name, made_from)
    try:
        whole = _checksum(kept).read_text() == _sha256(kept)
        if whole:
            shutil.copy(kept, target)
            os.utime(kept)
    except OSError:
        return False
    return whole


def keep(name: str, made_from: str, program: Path) -> None:
    """Put a copy of a program aside. A cache directory that cannot be written is no reason to fail."""
    kept = _program_path(name, made_from)
    part = kept.with_name(f".{kept.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program, part)
        _checksum(kept).write_text(_sha256(part))
        part.replace(kept)
        same = [each for each in kept.parent.glob(f"{name}-*") if each.suffix != ".sha256"]
        for old in sorted(same, key=lambda each: each.stat().st_mtime_ns)[:-_MOST]:
            old.unlink()
            _checksum(old).unlink(missing_ok=True)


def _program_path(name: str, made_from: str) -> Path:
    """Path of a kept program, by its sources, the processor and the C library."""
    machine = "-".join((platform.machine(), *platform.libc_ver()))
    return kept_folder() / f"{name}-{hashlib.sha256(f'{made_from} {machine}'.encode()).hexdigest()[:32]}"


def _checksum(kept: Path) -> Path:
    return kept.with_name(f"{kept.name}.sha256")


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
