# SPDX-License-Identifier: Apache-2.0
"""A folder as one archive that depends on its content alone: the same files make the same bytes."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path


def pack(folder: Path, name: str) -> bytes:
    """All files below `folder` as a tar.gz with `name` at its root: in order of path, without owners and times, and
    with the mode of a file only where that is for its owner alone."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = tarfile.TarInfo(f"{name}/{file.relative_to(folder)}")
            status = file.stat()
            entry.size, entry.mode = status.st_size, 0o644 if status.st_mode & 0o077 else 0o600
            with file.open("rb") as content:
                archive.addfile(entry, content)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", compresslevel=6, mtime=0) as stream:
        stream.write(plain.getvalue())
    return packed.getvalue()
