# SPDX-License-Identifier: Apache-2.0
"""Bounds on the files that the programs of a trial leave.

These programs may be anybody's. What they leave is decoded, packed and copied to the disk, so that holes of a hundred
gigabytes, endless folders or names that are no text would stop a study.
"""

from __future__ import annotations

import gzip
import os
import stat
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path

from quiclab.model.terminal_escape import visible

_PART_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_LONGEST_NAME = 100


_OF_LABORATORY = ("link", "competitors", "run-delay", "process-cost")
_SUFFIXES_OF_LABORATORY = (".pcapng", ".pcap", ".qplog", ".tcpinfo", "-udp-drops.jsonl", ".out")
_PACKED = (".gz", ".zst")
_COMPETITORS = ("raw", "competitors")
_REGISTER = "trial.json"


@dataclass(frozen=True)
class Bounds:
    """The most that the programs of one trial may leave."""

    length_bytes: int = 2 << 30
    """Sum of the lengths of all files, holes included; of compressed ones the unpacked length counts."""
    entries: int = 2000
    """Number of files and folders."""
    depth: int = 16
    """Number of folders, one in the other."""


BOUNDS = Bounds()
"""Choices: a log of every packet of a download of 1 GB has less than 2 GiB, and no known program writes 200 files."""


def is_of_laboratory(name: str) -> bool:
    """True if a file or folder of this name, where a role's programs leave their logs, is the laboratory's own: none of
    theirs may have such a name."""
    plain = name
    while plain.endswith(_PACKED):
        plain = plain.rpartition(".")[0]
    return plain.startswith(_OF_LABORATORY) or plain.endswith(_SUFFIXES_OF_LABORATORY)


def was_written_by_laboratory(name: str) -> bool:
    """True if a file of a trial is the laboratory's, by its path in the trial's folder: below `raw`, or in the folder
    of a competing flow, and of a name that no program's file has."""
    *folders, last = name.split("/")
    beside = folders == ["raw"] or (tuple(folders[:2]) == _COMPETITORS and len(folders) == 3)
    return name == _REGISTER or (beside and is_of_laboratory(last))


def excess(folder: Path, bounds: Bounds = BOUNDS) -> str | None:
    """Say what is too much, or no file at all, among everything below `folder`; None where all is in order.

    Symbolic links are not followed, and nothing is read that is no regular file.
    """
    entries = length = 0
    open_folders = [(os.fsencode(folder), 1)]
    while open_folders:
        where, depth = open_folders.pop()
        with os.scandir(where) as found:
            for entry in found:
                name = _printable(entry.name)
                entries += 1
                if entries > bounds.entries:
                    return f"more than {bounds.entries} files and folders"
                if not _is_text(entry.name):
                    return f"a file whose name is not UTF-8: {name}"
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    if depth >= bounds.depth:
                        return f"folders nested deeper than {bounds.depth}"
                    open_folders.append((entry.path, depth + 1))
                elif stat.S_ISREG(status.st_mode):
                    length += status.st_size
                    if length > bounds.length_bytes:
                        return f"files of more than {_gib(bounds.length_bytes)} in all"
                    length += _unpacked_beyond(entry.path, status.st_size, bounds.length_bytes - length)
                    if length > bounds.length_bytes:
                        return f"logs that unpack to more than {_gib(bounds.length_bytes)}: {name}"
    return None


def remove_tree(folder: Path) -> None:
    """Remove a folder with everything in it, however deep that is; nothing happens where it is not there."""
    subprocess.run(["rm", "-rf", "--one-file-system", "--", folder], check=False, stderr=subprocess.DEVNULL)


def _unpacked_beyond(file: bytes, packed_bytes: int, room_bytes: int) -> int:
    """Bytes by which a file is longer unpacked than packed, counted as far as there is room and a little beyond."""
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
        if opened.read(len(_GZIP)) != _GZIP:
            return 0
        opened.seek(0)
        unpacked = 0
        try:
            with gzip.GzipFile(fileobj=opened) as plain:
                while unpacked - packed_bytes <= room_bytes and (part := plain.read(_PART_BYTES)):
                    unpacked += len(part)
        except (OSError, EOFError, zlib.error):
            pass  # it is damaged behind that, which a decoder says
        return max(0, unpacked - packed_bytes)


def _is_text(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _printable(name: bytes) -> str:
    return visible(name.decode(errors="backslashreplace"))[:_LONGEST_NAME]


def _gib(length_bytes: int) -> str:
    return f"{length_bytes / (1 << 30):.3g} GiB"
