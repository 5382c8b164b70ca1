# SPDX-License-Identifier: Apache-2.0
"""Logs of a trial that is over take less room: all but captures (`packed_captures`) are compressed by gzip.

A log keeps the name that its program gave it, with `.gz` behind it on the disk alone: tables name it without.
"""

from __future__ import annotations

import gzip
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from quiclab.store.packed_captures import is_packed_capture, plain_name, read_capture

_GZIP = b"\x1f\x8b"
_SUFFIX = ".gz"
_WORTH_IT_BYTES = 1 << 14
"""Smaller logs stay as they are, to be read at a glance."""
_LEVEL = 3
"""Ten times smaller in 4 ms per MB; higher levels take twice as long for a fifth less."""
_INCOMPRESSIBLE = (".pcapng", ".jpg")
_FOR_OTHER_PROGRAMS = "keys.log"
"""The key log, which whatever opens a capture wants to read as it is."""


def pack_logs(folder: Path) -> None:
    """Compress the logs below the `raw` of a trial's folder; the same content makes the same bytes."""
    for file in sorted((folder / "raw").rglob("*")):
        packed = file.with_name(file.name + _SUFFIX)
        if file.is_symlink() or not file.is_file() or file.name == _FOR_OTHER_PROGRAMS or os.path.lexists(packed):
            continue
        if file.suffix in (_SUFFIX, *_INCOMPRESSIBLE) or file.stat().st_size < _WORTH_IT_BYTES:
            continue
        with file.open("rb") as plain, packed.open("xb") as target:
            os.fchmod(target.fileno(), file.stat().st_mode & 0o777)
            with gzip.GzipFile("", "wb", _LEVEL, target, mtime=0) as stream:
                shutil.copyfileobj(plain, stream, 1 << 20)
        file.unlink()


def plain_names(files: Iterable[str]) -> dict[str, str]:
    """Name of each file → the name that its program gave it; one that another file has too stays as it is."""
    there = set(files)
    plain = {name: plain_name(name.removesuffix(_SUFFIX)) for name in there}
    return {name: name if short in there else short for name, short in plain.items()}


def plain_copies(files: Iterable[Path]) -> set[Path]:
    """Plain copies, among some files, of compressed ones beside them, which some other program needed: each is no
    second log."""
    there = set(files)
    pairs = ((file, file.with_name(plain_name(file.name.removesuffix(_SUFFIX)))) for file in there)
    return {plain for file, plain in pairs if plain != file and plain in there and _holds(file, plain)}


def _holds(compressed: Path, plain: Path) -> bool:
    try:
        return read_plain(compressed) == plain.read_bytes()
    except OSError:
        return False


def is_packed(content: bytes) -> bool:
    """True if a file's content is compressed by gzip."""
    return content.startswith(_GZIP)


def packed(content: bytes) -> bytes:
    """The content as `pack_logs` writes it."""
    return gzip.compress(content, _LEVEL, mtime=0)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The content of a file, unpacked while it is read, which may raise OSError, EOFError or zlib.error."""
    with path.open("rb") as file:
        compressed = is_packed(file.read(len(_GZIP)))
        file.seek(0)
        yield cast(BinaryIO, gzip.GzipFile(fileobj=file)) if compressed else file


def read_plain(path: Path, most_bytes: int = 1 << 30) -> bytes:
    """The content of a file, unpacked. Raises OSError if it is damaged, or longer than `most_bytes`."""
    if is_packed_capture(path):
        return read_capture(path)
    try:
        with opened(path) as file:
            content = file.read(most_bytes + 1)
    except (EOFError, zlib.error) as error:
        raise OSError(str(error)) from error
    if len(content) > most_bytes:
        raise OSError(f"it has more than {most_bytes} bytes")
    return content
