# SPDX-License-Identifier: Apache-2.0
"""A folder as one archive that depends on its content alone: the same files make the same bytes. And back."""

from __future__ import annotations

import errno
import gzip
import io
import itertools
import os
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from quiclab.model.errors import DecodeError
from quiclab.store.disk import disk_errors

_MOST_HEADER_BYTES = 1 << 16
"""Most bytes that say of one file what it is: a path of 4,096 bytes and its size take 6 KiB. tarfile reads them at
once, however many they are said to be."""
_MOST_FILES = 20_000
"""Most files of one archive."""
_OF_ITS_NAME = {errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG}
"""Refusals of a file that is in an archive twice, as a file and as a folder, or by a name that no file can have."""


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


def unpack(packed: bytes, folder: Path, most_bytes: int, most_files: int = _MOST_FILES) -> None:
    """Write the files of an archive that another machine packed below `folder`, which must not be there yet.

    Raises DecodeError for links, devices and names that lead elsewhere, before they are written, for what would be
    larger than `most_bytes` or have more than `most_files`, and for a file whose header alone takes much memory.
    """
    with disk_errors(folder):
        folder.mkdir(parents=True)
    plain = _Bounded(gzip.GzipFile(fileobj=io.BytesIO(packed)), most_bytes)
    try:
        with tarfile.open(fileobj=plain, mode="r|") as archive:
            for number in itertools.count():
                plain.allow(_MOST_HEADER_BYTES)
                if (entry := archive.next()) is None:
                    break
                if number == most_files:
                    raise DecodeError(f"an archive holds more than {most_files} files")
                plain.allow(None)
                _write(archive, entry, folder)
                archive.members.clear()  # type: ignore[attr-defined]  # it keeps a list of them otherwise
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError) as error:
        raise DecodeError(f"an archive cannot be unpacked: {error}") from error


def _write(archive: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> None:
    name = PurePosixPath(entry.name)
    content = archive.extractfile(entry) if entry.isreg() and not entry.issparse() else None
    if content is None or name.is_absolute() or ".." in name.parts or not name.parts:
        raise DecodeError(f"an archive holds {entry.name!r}, which is no file of its own folder")
    file = folder / name
    with disk_errors(folder):
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as written:
                os.fchmod(written.fileno(), 0o644 if entry.mode & 0o077 else 0o600)
                shutil.copyfileobj(content, written)
        except OSError as error:
            if error.errno not in _OF_ITS_NAME:
                raise
            raise DecodeError(f"an archive holds a file that cannot be written: {error}") from error


class _Bounded(io.RawIOBase):
    """A stream that refuses to be longer than so many bytes, in all and from one look at what comes next to another."""

    def __init__(self, stream: gzip.GzipFile, most_bytes: int) -> None:
        self._stream = stream
        self._left = self._most = most_bytes
        self._allowed: int | None = _MOST_HEADER_BYTES

    def allow(self, most_bytes: int | None) -> None:
        """Bound what is read from now on; with None only the whole is bounded."""
        self._allowed = most_bytes

    def read(self, size: int = -1) -> bytes:
        part = self._stream.read(size)
        self._left -= len(part)
        if self._left < 0:
            raise DecodeError(f"an archive holds more than {self._most} bytes")
        if self._allowed is not None:
            self._allowed -= len(part)
            if self._allowed < 0:
                raise DecodeError(f"an archive has more than {_MOST_HEADER_BYTES} bytes of headers for one file")
        return part
