# SPDX-License-Identifier: Apache-2.0
"""Files and folders that get to the disk without ever being half written, and the disk's refusals in words."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import resource
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from quiclab.model.errors import DecodeError, HostError, SpecError
from quiclab.model.json_trouble import json_trouble
from quiclab.store.own_files import first_unreadable, read_own

_SHOWN = 5
"""Most names of files that a refusal tells."""


@contextmanager
def disk_errors(
    place: Path, kept: str = "finished trials are kept", option: str = "--out", elsewhere: str = ""
) -> Iterator[None]:
    """Turn the file system's refusals into a HostError that says what to do. `kept` says what is safe where the disk is
    full, and `option` is that which names the place; `elsewhere` says how to go on where no option does."""
    copied, elsewhere = elsewhere, elsewhere or f"choose another place with {option}"
    try:
        yield
    except Exception as wrapped:
        error = _refusal(wrapped)
        if error is None:
            raise
        hints = {
            errno.ENOSPC: f"free some room and run the same command again: {kept}",
            errno.EDQUOT: f"your quota is used up: free some room and run again; {kept}",
            errno.EROFS: f"the file system is read-only: {copied or f'work on a copy, or {elsewhere}'}",
            errno.EACCES: f"you may not write there: {elsewhere}",
            errno.EPERM: f"you may not write there: {elsewhere}",
            errno.EISDIR: f"a folder is in the way: {elsewhere}",
            errno.ENOTEMPTY: f"a folder is in the way: {elsewhere}",
            errno.ENOTDIR: f"a file is in the way: {elsewhere}",
            errno.EEXIST: f"a file is in the way: {elsewhere}",
            errno.ENOENT: f"no file can be made there: {elsewhere}",
            errno.EFBIG: f"{larger_files()}, and run the same command again: {kept}",
        }
        if error.errno not in hints or _is_elsewhere(error, place):
            raise
        # A chamber's files are written from outside it, below its root.
        where = re.sub(
            r"^/proc/\d+/root(?=/)", "", str(place if _stands_for(error, place) else error.filename or place)
        )
        raise HostError(f"cannot write {where}: {error.strerror}", hints[error.errno]) from wrapped


def larger_files() -> str:
    """Say what to do where a file must not become larger: the limit of this process, or the file system's own."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit == resource.RLIM_INFINITY:
        return "the file system takes no larger file: choose a place on another one"
    return f"files may have {limit:,} bytes at most here: allow larger ones (ulimit -f unlimited)"


@contextmanager
def reading_errors() -> Iterator[None]:
    """Turn a refusal to let something be read into a HostError that says what to do."""
    try:
        yield
    except PermissionError as error:
        told = f"cannot read {error.filename}: {error.strerror}"
        raise HostError(told, "ask its owner for it, or run the command as its owner") from error


def need_readable(folder: Path) -> None:
    """Raise HostError where something below a folder may not be read."""
    with reading_errors():
        if (file := first_unreadable(folder)) is not None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))


def _is_elsewhere(error: OSError, place: Path) -> bool:
    """True if the refusal is of a file that is read: it lies elsewhere than what is written. What is not there can
    only be told from what cannot be made where it is the place itself."""
    if error.errno == errno.ENOENT:
        return not _stands_for(error, place)
    if error.errno not in (errno.EACCES, errno.EPERM) or not isinstance(error.filename, str | Path):
        return False
    file = Path(error.filename)
    return not (file.is_relative_to(place) or place.is_relative_to(file) or file.parent == place.parent)


def _stands_for(error: OSError, place: Path) -> bool:
    """True if a refusal is of what is written, of a folder above it, or of the file beside it that becomes it."""
    if not isinstance(error.filename, str | Path):
        return False
    file = Path(error.filename)
    return place.is_relative_to(file) or (file.parent == place.parent and file.name.startswith(f".{place.name}."))


def _refusal(error: Exception) -> OSError | None:
    """The operating system's error behind an exception; libraries in Rust wrap it and leave its number in the text."""
    if isinstance(error, OSError):
        return error
    number = re.search(r"\(os error (\d+)\)", str(error))
    return OSError(int(number[1]), os.strerror(int(number[1]))) if number else None


def write_atomically(
    path: Path,
    content: str | bytes,
    *,
    mode: int | None = None,
    kept: str = "finished trials are kept",
    option: str = "--out",
) -> None:
    """Write beside, then rename: readers see the old file or the new one, never half of it, and nothing else stays.
    `mode` is the file's; None leaves it to the user's umask. `kept` and `option` are those of `disk_errors`."""
    with disk_errors(path, kept, option):
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        with new_file(path) as temporary, temporary.open("xb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to, with nothing there; it becomes `path` at the end, or is removed after an
    error."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def shown_names(names: Sequence[str]) -> tuple[str, ...]:
    """The first names of files that are in the way, and how many more there are."""
    more = (f"and {len(names) - _SHOWN} more",) if len(names) > _SHOWN else ()
    return (*names[:_SHOWN], *more)


def check_name(path: Path) -> None:
    """Raise SpecError for a path that is not UTF-8, because not all programs and tables can name it."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = str(path).encode(errors="backslashreplace").decode()
        raise SpecError(f"the path {shown} is not UTF-8", "rename it, or choose another folder") from None


def read_object(path: Path, hint: str = "put it back from a copy of the study") -> dict[str, Any]:
    """Read the object in a JSON file of a study. Raises DecodeError, with `hint`, if there is none."""
    try:
        value = json.loads(read_own(path))
        if isinstance(value, dict):
            return value
        why = "it holds no JSON object"
    except FileNotFoundError:
        why = "it is not there"
    except (OSError, ValueError, RecursionError) as error:
        why = json_trouble(error)
    raise DecodeError(f"{path} cannot be read: {why}", hint)


def move_in(source: Path, target: Path) -> Path | None:
    """Bring a finished trial's folder from memory to the disk: `target` appears whole or not at all.

    A folder that was there is set aside under another name, which is returned: nothing that was measured is
    overwritten.
    """
    aside = copy_in(source, target)
    shutil.rmtree(source, ignore_errors=True)
    return aside


def copy_in(source: Path, target: Path) -> Path | None:
    """Copy a finished trial's folder, as `move_in` does it; the source stays."""
    aside = None
    with disk_errors(target):
        incoming = target.parent / f".incoming-{target.name}"
        shutil.rmtree(incoming, ignore_errors=True)
        try:
            shutil.copytree(source, incoming)
            _to_disk(incoming)
            if os.path.lexists(target):
                aside = _free_name(target)
                target.rename(aside)
            incoming.replace(target)
        except shutil.Error as error:
            shutil.rmtree(incoming, ignore_errors=True)
            raise OSError(
                errno.ENOSPC, str(error.args[0][0][2]) if error.args[0] else str(error), str(target)
            ) from error
        except OSError:
            shutil.rmtree(incoming, ignore_errors=True)
            raise
    return aside


def _to_disk(folder: Path) -> None:
    """Write every file below to the disk before the folder gets its name: after a power failure it is whole, or not
    there."""
    for parent, _, names in os.walk(folder):
        for path in (*(Path(parent, name) for name in names), Path(parent)):
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)


def _free_name(target: Path) -> Path:
    """Free name under failed/, where nothing is verified."""
    folder = target.parent.parent / "failed"
    names = (folder / f"{target.name}-aside{number}" for number in itertools.count(1))
    return next(name for name in names if not os.path.lexists(name))
