# SPDX-License-Identifier: Apache-2.0
"""Datagrams that the kernel had for a UDP socket and dropped, because its receive buffer was full or the checksum
wrong."""

from __future__ import annotations

import json
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from quiclab.lab.testbed._ticker import Ticker
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.model.units import Duration

INTERVAL = Duration(50_000_000)
"""A look takes about 0.15 ms, most of it for waking up."""

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
    """Context manager that looks at the sockets while they exist, because a socket's count goes with the socket. It
    notes in `output` (JSON lines) between which two looks each dropped something."""

    def __init__(self, namespace: NetworkNamespace, output: Path | None = None, interval: Duration = INTERVAL) -> None:
        self._namespace = namespace
        self._output = output
        self._interval = interval
        self._file: TextIO | None = None
        self._looked_ns = 0
        self._found: dict[tuple[int, int], int] = {}
        self._tables: list[TextIO] = []
        self._ticker = Ticker(interval, self._sample)
        self._lock = threading.Lock()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            # The namespace in which the file is opened decides which sockets it shows: opened inside, it can be read
            # outside.
            self._tables = [stack.enter_context(table) for table in self._namespace.run(_open_tables)]
            if self._output is not None:
                self._file = stack.enter_context(self._output.open("w"))
                self._file.write(json.dumps({"udp_drops": 1, "interval_ns": self._interval.ns}) + "\n")
            self._looked_ns = time.monotonic_ns()
            stack.enter_context(self._ticker)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sample()
        self._stack.close()

    def per_socket(self) -> list[SocketDrops]:
        """Drops found until now, or until the end; sockets that dropped nothing are left out."""
        with self._lock:
            return [SocketDrops(*key, drops) for key, drops in sorted(self._found.items()) if drops]

    def _sample(self) -> None:
        with self._lock:
            now_ns = time.monotonic_ns()
            for table in self._tables:
                table.seek(0)
                for line in table.read().splitlines()[1:]:
                    if line.rstrip().endswith(" 0"):
                        continue
                    row = line.split()
                    key = int(row[_LOCAL_ADDRESS].rpartition(":")[2], 16), int(row[_INODE])
                    before, drops = self._found.get(key, 0), int(row[_DROPS])
                    if drops > before:
                        self._note(*key, drops - before)
                    self._found[key] = max(drops, before)
            self._looked_ns = now_ns

    def _note(self, port: int, inode: int, drops: int) -> None:
        if self._file is not None:
            line = {"at_ns": time.monotonic_ns(), "since_ns": self._looked_ns, "port": port, "inode": inode}
            self._file.write(json.dumps(line | {"drops": drops}) + "\n")


def _open_tables() -> list[TextIO]:
    paths = (Path("/proc/thread-self/net", name) for name in ("udp", "udp6"))
    return [path.open() for path in paths if path.exists()]
