# SPDX-License-Identifier: Apache-2.0
"""The lock by which one process at a time works in a folder. The kernel lets go when the process ends, however it ends.

Only its owner may open the file: a lock needs no more than a file that is open for reading, and another user who holds
it keeps the owner away.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quiclab.store.own_files import open_private

LOCK = ".lock"
"""Name of the file in a study by which it is held."""
_LOCKS = Path("/proc/locks")


@contextmanager
def held_alone(lock: Path) -> Iterator[None]:
    """Hold a folder by its lock. Raises BlockingIOError where somebody else does, OSError for a lock that cannot be
    opened."""
    with open_private(lock) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


@contextmanager
def kept_free(lock: Path) -> Iterator[None]:
    """Keep others from holding a folder, without writing to it. Raises BlockingIOError where somebody holds it. Nobody
    is kept out where nobody ever held it, or where the lock is another user's."""
    try:
        file = lock.open("rb")
    except FileNotFoundError:
        yield
        return
    except PermissionError:
        if holder_of(lock) is not None:
            raise BlockingIOError from None
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield


def holder_of(lock: Path) -> int | None:
    """The process that holds a folder by its lock; 0 where it is of another namespace, None where none does.

    The lock is not tried: that would keep a run away that begins now.
    """
    try:
        about = lock.stat()
        lines = _LOCKS.read_text().splitlines()
    except OSError:
        return None
    place = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    for line in lines:  # "1: FLOCK  ADVISORY  WRITE 4242 fe:00:131 0 EOF"; one that waits has "->" before FLOCK
        words = line.split()
        if len(words) == 8 and words[1] == "FLOCK" and words[5] == place:
            return max(0, int(words[4]))
    return None
