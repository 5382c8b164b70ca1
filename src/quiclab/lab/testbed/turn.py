# SPDX-License-Identifier: Apache-2.0
"""A turn that one process at a time has, of those that inherited it; the kernel takes it from a process that ends."""

from __future__ import annotations

import fcntl
import os


class Turn:
    """A lock between processes (fcntl(2), F_SETLK); the threads of one process share it."""

    def __init__(self) -> None:
        """Make it before the processes are forked."""
        self._fd = os.memfd_create("turn")

    def take(self) -> None:
        """Wait for the turn; at once where this process has it."""
        fcntl.lockf(self._fd, fcntl.LOCK_EX)

    def give_up(self) -> None:
        """Let another process have it; nothing happens where this one does not."""
        fcntl.lockf(self._fd, fcntl.LOCK_UN)
