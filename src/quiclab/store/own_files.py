# SPDX-License-Identifier: Apache-2.0
"""Files that are a study's own. A study may come from a stranger, and a program under test may put anything where its
logs belong: no symbolic link is followed, for reading or for writing, and no FIFO is waited for."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from io import BufferedReader, BufferedWriter
from pathlib import Path

from quiclab.model.errors import DecodeError

_SHOWN = 10
_MOST_BYTES = 1 << 30
"""Largest file that is read at once: what is larger no program of ours has written."""
_MOST_BYTES_OF_MINE = 1 << 20
"""Largest record of what was done outside a study."""
_ALONE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def is_own_file(file: Path, root: Path) -> bool:
    """True if `file` is a regular file below `root`, with no symbolic link between."""
    return _is_below(file, root) and file.is_file()


def open_own(file: Path) -> BufferedReader:
    """Open a regular file to read it. Raises OSError for anything else, without waiting."""
    return os.fdopen(_regular(file, os.O_RDONLY), "rb")


def append_to_own(file: Path) -> BufferedWriter:
    """Open a regular file to write at its end; it is made where it is not there. Raises OSError for anything else,
    without waiting."""
    return os.fdopen(_regular(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")


def open_private(file: Path) -> BufferedWriter:
    """Open a regular file to write at its end, which nobody but its owner may open; it is made where it is not there.
    Raises OSError for anything else, without waiting."""
    opened = os.fdopen(_regular(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
    found = os.fstat(opened.fileno())
    if found.st_uid == os.geteuid() and found.st_mode & 0o077:
        os.fchmod(opened.fileno(), 0o600)
    return opened


def read_own(file: Path, *, last_bytes: int | None = None) -> bytes:
    """Read a regular file, or only its end. Raises OSError for anything else and for one that is too large."""
    with open_own(file) as opened:
        size = os.fstat(opened.fileno()).st_size
        if last_bytes is not None:
            opened.seek(max(0, size - last_bytes))
        elif size > _MOST_BYTES:
            raise OSError(f"{file} has {size} bytes, more than are read at once")
        return opened.read(_MOST_BYTES)


def read_named(file: Path) -> bytes:
    """Read a regular file that a spec names, which may be a link. Raises OSError for anything else, without waiting,
    and for one that is too large."""
    with os.fdopen(_regular(file.resolve(), os.O_RDONLY), "rb") as opened:
        if os.fstat(opened.fileno()).st_size > _MOST_BYTES:
            raise OSError(f"{file} is larger than any that is read at once")
        return opened.read(_MOST_BYTES)


def is_mine(folder: Path) -> bool:
    """True if a folder belongs to the user of this process, so that what stands in it is that user's word; also one
    that is not there."""
    try:
        return folder.lstat().st_uid == os.geteuid()
    except FileNotFoundError:
        return True


def read_mine(file: Path) -> bytes:
    """Read a small file by which something outside its folder is changed. Raises FileNotFoundError where it is not
    there, and DecodeError where folder or file belong to somebody else, or others may write to the file: it would be
    their word.
    """
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fd = os.open(file.name, os.O_RDONLY | _ALONE, dir_fd=folder)
        with os.fdopen(fd, "rb") as opened:
            found = os.fstat(fd)
            owners = {os.fstat(folder).st_uid, found.st_uid}
            if owners != {os.geteuid()} or found.st_mode & 0o022 or found.st_nlink != 1:
                raise DecodeError(
                    f"{file} is not believed: it, or its folder, belongs to another user, or others may write to it",
                    "look into it, and remove it if you do not know where it comes from",
                )
            if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES_OF_MINE:
                raise DecodeError(f"{file} is no file of quiclab's", "look into it, and remove it")
            return opened.read(_MOST_BYTES_OF_MINE)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise DecodeError(f"{file} cannot be read: {error.strerror}", "look into it, and remove it") from error
    finally:
        os.close(folder)


def content_of(file: Path, most_bytes: int = _MOST_BYTES) -> dict[str, object]:
    """Length and SHA-256 of a regular file, as trial.json has them; without a hash where it is longer than
    `most_bytes`, and so is not what was transferred. Raises OSError for anything else."""
    with open_own(file) as opened:
        size = os.fstat(opened.fileno()).st_size
        whole = size <= most_bytes
        return {"body_bytes": size, "sha256": hashlib.file_digest(opened, "sha256").hexdigest() if whole else ""}


def write_anew(file: Path, text: str) -> None:
    """Write a file where a program under test may write too: whatever stands there is removed before."""
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    file.unlink(missing_ok=True)
    with file.open("x", encoding="utf-8") as opened:
        opened.write(text)


def _regular(file: Path, flags: int, mode: int = 0o644) -> int:
    fd = os.open(file, flags | _ALONE, mode)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{file} is no regular file")
    return fd


def own_files(folder: Path, root: Path) -> list[Path]:
    """Regular files directly in `folder`, sorted; none where a symbolic link is on the way there from `root`."""
    if not (_is_below(folder, root) and folder.is_dir()):
        return []
    with os.scandir(folder) as entries:
        return sorted(folder / entry.name for entry in entries if entry.is_file(follow_symlinks=False))


def refuse_strange_files(root: Path) -> None:
    """Refuse a study with symbolic links, or with FIFOs and other things that are no files, before anything of it is
    read, written or packed. Raises DecodeError with those below `root`."""
    entries = list(_strange_below(root))
    links = tuple(entry.path for entry in entries if entry.is_symlink())
    if links:
        raise DecodeError(
            "a study must not have symbolic links: what they lead to would be overwritten, or packed for others",
            "remove them; where a folder of yours lies elsewhere, mount it here (mount --bind)",
            _first_of(links),
        )
    if entries:
        raise DecodeError(
            "a study has files and folders alone, and no FIFO, socket or device",
            "remove these",
            _first_of(tuple(entry.path for entry in entries)),
        )


def _first_of(paths: tuple[str, ...]) -> tuple[str, ...]:
    return paths[:_SHOWN] + ((f"and {len(paths) - _SHOWN} more",) if len(paths) > _SHOWN else ())


def first_unreadable(folder: Path) -> Path | None:
    """The first file or folder below a folder that this process may not read; None where there is none."""
    for parent, folders, files in os.walk(folder):
        found = (Path(parent, name) for name in (*folders, *files) if not os.access(Path(parent, name), os.R_OK))
        if (first := next(found, None)) is not None:
            return first
    return None if os.access(folder, os.R_OK) else folder


def _strange_below(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Entries below a folder that are neither folders nor regular files. A folder that may not even be entered is
    passed over, as the keys of another user's study are: nothing in it can be opened."""
    if not os.access(folder, os.R_OK) and not os.access(folder, os.X_OK):
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _strange_below(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False):
                yield entry


def _is_below(path: Path, root: Path) -> bool:
    below = path.relative_to(root)
    return not any((root / part).is_symlink() for part in (below, *below.parents) if part.parts)
