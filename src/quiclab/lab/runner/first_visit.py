# SPDX-License-Identifier: Apache-2.0
"""The first visit of a client that resumes what only its own process keeps, as browsers do, or what is of its address.

It is made over the links of the path without what impairs them. The delays stay, as a client remembers the round trip
with the session: after a visit over the loopback QUIC would expect answers before they can have come.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path as File
from typing import TYPE_CHECKING

from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.process import Process
from quiclab.model.errors import TrialError
from quiclab.model.study import Direction, Path

if TYPE_CHECKING:
    from quiclab.lab.runner.topology import Topology

_NEW_NETWORK_S = 2.0
"""A browser sees the links of the trial come as a new network, and is done with that 1.5 s later."""
_CLOSING_PATIENCE_S = 10.0
_LOOK_S = 0.01
_AT_REST = ("06", "0A")
"""TIME_WAIT and LISTEN in /proc/net/tcp."""


def unimpaired(path: Path) -> Path:
    """The path with its delays, and nothing else of what its links do."""

    def delayed(direction: Direction) -> Direction:
        return Direction(delay=direction.delay)

    more = tuple(replace(link, up=delayed(link.up), down=delayed(link.down), nat=None) for link in path.more_links)
    return replace(path, up=delayed(path.up), down=delayed(path.down), nat=None, more_links=more)


def visit_first(
    client: Process, files: tuple[File | None, File], at_client: NetworkNamespace, path: Path, patience_s: float
) -> None:
    """Let the client visit, and wait until its connections are closed at both ends. `files` appear when it is ready,
    if it says so, and when it has visited. Raises TrialError."""
    ready, visited = files
    if ready is not None:
        client.wait_for_file(ready, patience_s)
    client.say(b"first visit\n")
    client.wait_for_file(visited, patience_s)
    deadline = time.monotonic() + _CLOSING_PATIENCE_S
    while _open_connections(at_client):
        if time.monotonic() > deadline:
            raise TrialError("connections of the first visit stayed open")
        time.sleep(_LOOK_S)
    # What was said last is on its way; QUIC says goodbye once and waits for no answer.
    time.sleep(path.base_rtt.s)


def greet_network(topology: Topology) -> None:
    """Wait until all programs are done with the news that the links of the trial are there."""
    topology.join()
    time.sleep(_NEW_NETWORK_S)


def _open_connections(namespace: NetworkNamespace) -> int:
    """Connections of TCP that may still send something: it would come over the links of the trial."""
    rows = (line.split() for table in ("tcp", "tcp6") for line in namespace.read(table).splitlines()[1:])
    return sum(row[3] not in _AT_REST for row in rows)
