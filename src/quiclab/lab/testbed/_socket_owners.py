# SPDX-License-Identifier: Apache-2.0
"""Programs that have a socket open, by the inode numbers under /proc/PID/fd."""

from __future__ import annotations

import contextlib
from pathlib import Path

from quiclab.lab.testbed._process_tree import everybody, tree


def holds(root: int, inodes: set[int]) -> bool:
    """True if one of these sockets is open in the program `root`, its children or its session, as far as they show."""
    own = tree(everybody(), root, frozenset()) if inodes else []
    return any((found := _sockets(stat.pid)) is None or found.keys() & inodes for stat in own)


def strangers(root: int, inodes: set[int]) -> list[str]:
    """Names of other programs that have one of these sockets open, unless the program `root` has it open too."""
    stats = everybody() if inodes else {}
    held = {pid: _sockets(pid) for pid in stats}
    own = {stat.pid for stat in tree(stats, root, frozenset())} if stats else set()
    if any(held[pid] is None for pid in own):
        return []
    left = inodes - {inode for pid in own for inode in held[pid] or ()}
    return sorted({_name(pid) for pid in stats if pid not in own and (held[pid] or {}).keys() & left})


def descriptors(root: int, inodes: set[int]) -> dict[int, tuple[int, int]]:
    """Process and file descriptor, by inode, of those of the sockets that the program `root` has open."""
    found = {}
    for stat in tree(everybody(), root, frozenset()):
        for inode, fd in (_sockets(stat.pid) or {}).items():
            if inode in inodes:
                found[inode] = (stat.pid, fd)
    return found


def _sockets(pid: int) -> dict[int, int] | None:
    """Inode numbers and file descriptors of the sockets that a process has open; None where it hides them."""
    found = {}
    try:
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                target = str(file.readlink())
                if target.startswith("socket:["):
                    found[int(target[8:-1])] = int(file.name)
    except PermissionError:
        return None
    except OSError:
        return {}
    return found


def _name(pid: int) -> str:
    """Name of a process as it was started, without the folder."""
    with contextlib.suppress(OSError):
        first = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
        return first.decode(errors="replace").rpartition("/")[2] or f"process {pid}"
    return f"process {pid}"
