# SPDX-License-Identifier: Apache-2.0
"""Other quiclab processes that measure on this machine, of any account: each makes the other's trials late.

While one measures it holds a socket with an abstract name, which says so. Every account can read the names in
/proc/net/unix, no file is written for it, and the kernel takes a name back when its process ends, however that ends.
Names belong to a network namespace, and so does the list that was opened in it: inside the sandbox it still tells of
the namespace that the sandbox was begun in.
"""

from __future__ import annotations

import os
import pwd
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

MACHINE = "QUICLAB_MACHINE"
"""Environment variable with a name of one's own for a share of this machine (its own processors, as a container may
have them): only processes with the same one count as neighbours."""
_LISTED = Path("/proc/net/unix")
_PAUSE_S = 0.5


@dataclass(frozen=True, order=True)
class Neighbour:
    """A process that measures."""

    pid: int
    uid: int
    token: str
    """Digits that no two processes have, should their namespaces give them one number."""

    def __str__(self) -> str:
        with suppress(KeyError):
            return f"process {self.pid} of {pwd.getpwuid(self.uid).pw_name}"
        return f"process {self.pid} of account {self.uid}"


class Announced:
    """This process among those that measure on this machine."""

    def __init__(self, listed: FileIO) -> None:
        """`listed` is the list of sockets, opened in the namespace that counts."""
        self._listed = listed
        machine = re.sub(r"[^A-Za-z0-9._-]", "-", os.environ.get(MACHINE, ""))[:40]
        self._prefix = f"quiclab-measures/{machine}/"
        self._self = Neighbour(os.getpid(), os.geteuid(), secrets.token_hex(8))
        self._socket: socket.socket | None = None

    def announce(self) -> None:
        """Tell the others, until `withdraw`."""
        own = self._self
        self._socket = _named_socket(f"{self._prefix}{own.pid}/{own.uid}/{own.token}")

    def withdraw(self) -> None:
        """Measure no more."""
        if self._socket is not None:
            self._socket.close()

    def others(self) -> tuple[Neighbour, ...]:
        """Processes that measure now, but for this one."""
        self._listed.seek(0)
        text = self._listed.read().decode(errors="replace")
        name = re.escape(f"@{self._prefix}") + r"(\d{1,10})/(\d{1,10})/([0-9a-f]{16})$"
        names = re.findall(name, text, re.MULTILINE)
        return tuple(sorted({Neighbour(int(pid), int(uid), token) for pid, uid, token in names} - {self._self}))

    def wait(self, tell: Callable[[tuple[Neighbour, ...]], None]) -> None:
        """Wait until no other process measures, and announce this one; the others are handed to `tell`, once.

        Of several that wait one at a time has the turn to look, which ends when it has announced itself.
        """
        if others := self.others():
            tell(others)
        while (turn := _named_socket(f"{self._prefix}turn")) is None:
            time.sleep(_PAUSE_S)
        with turn:
            while self.others():
                time.sleep(_PAUSE_S)
            self.announce()


def _named_socket(name: str) -> socket.socket | None:
    """A socket with this name; None where another one has it, or the namespace has no room for it."""
    found = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        found.bind(f"\0{name}".encode())
    except OSError:
        found.close()
        return None
    return found


_current: Announced | None = None


def current() -> Announced | None:
    """This process's announcement, in the sandbox that it began too; None where it measures nothing."""
    return _current


@contextmanager
def announced(*, wait: bool = False, tell: Callable[[tuple[Neighbour, ...]], None] = lambda _: None) -> Iterator[None]:
    """Announce that this process measures. Others that do so already are handed to `tell`, once; with `wait` this one
    waits for them. Where a block of this kind is begun within another one, the outer one is enough."""
    global _current
    if _current is not None or not _LISTED.exists():
        yield
        return
    with _LISTED.open("rb", buffering=0) as listed:
        own = Announced(listed)
        _current = own
        try:
            if wait:
                own.wait(tell)
            else:
                own.announce()
                if others := own.others():
                    tell(others)
            yield
        finally:
            _current = None
            own.withdraw()
