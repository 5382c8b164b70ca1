# SPDX-License-Identifier: Apache-2.0
"""Datagrams that the kernel had for a UDP socket and dropped, because its receive buffer was full or the checksum
wrong."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from quiclab.testbed._ticker import Ticker
from quiclab.testbed.namespace import NetworkNamespace
from quiclab.units import Duration

INTERVAL = Duration(100_000_000)

_LOCAL_ADDRESS, _INODE, _DROPS = 1, 9, 12
"""Columns of /proc/net/udp and udp6."""


@dataclass(frozen=True)
class SocketDrops:
    """One socket that dropped something."""

    port: int
    """Local port of the socket."""
    inode: int
    """Inode number, which tells two sockets with one port apart."""
    drops: int
    """Number of drops, at least: what a socket dropped between the last look and its end is in the namespace's sum
    only."""


class UdpDrops:
    """Context manager that looks at the sockets while they exist, because a socket's count goes with the socket."""

    def __init__(self, namespace: NetworkNamespace, interval: Duration = INTERVAL) -> None:
        self._namespace = namespace
        self._found: dict[tuple[int, int], int] = {}
        self._tables: list[TextIO] = []
        self._ticker = Ticker(interval, self._look)
        self._lock = threading.Lock()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            # The namespace in which the file is opened decides which sockets it shows: opened inside, it can be read
            # outside.
            self._tables = [stack.enter_context(table) for table in self._namespace.run(_open_tables)]
            stack.enter_context(self._ticker)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._look()
        self._stack.close()

    def per_socket(self) -> list[SocketDrops]:
        """Drops found until now, or until the end; sockets that dropped nothing are left out."""
        with self._lock:
            return [SocketDrops(*key, drops) for key, drops in sorted(self._found.items()) if drops]

    def _look(self) -> None:
        with self._lock:
            for table in self._tables:
                table.seek(0)
                for row in map(str.split, table.read().splitlines()[1:]):
                    key = int(row[_LOCAL_ADDRESS].rpartition(":")[2], 16), int(row[_INODE])
                    self._found[key] = max(int(row[_DROPS]), self._found.get(key, 0))


def _open_tables() -> list[TextIO]:
    paths = (Path("/proc/thread-self/net", name) for name in ("udp", "udp6"))
    return [path.open() for path in paths if path.exists()]
