# SPDX-License-Identifier: Apache-2.0
"""quinn with h3 as an HTTP/3 client: loss detection and initial RTT by choice, qlog, keys, a change of address.

A session cannot be resumed: rustls keeps client sessions in memory only, and every trial is a new process.

With `migration = "active"` quinn is told of its new port: its first packet from there bears a new connection ID, and
the server challenges the new path and the old one; quinn itself sends no PATH_CHALLENGE. With `"rebinding"` quinn knows
nothing, the connection ID stays, and the server challenges both paths as well. Either way packets to the old port still
arrive until one arrives at the new port. If only the port changes, a quinn server keeps its congestion window (RFC 9000
section 9.4) over IPv4, and starts anew over IPv6.

Its qlog has the time, number and (if sent) size of each packet, but nothing about the frames in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._job import unsupported_objects
from quiclab.lab.endpoints._quinn import (
    COMMON_KNOBS,
    FIRST_PAYLOAD,
    KNOWN,
    own_values_of_quinn,
    probe_quinn,
    quinn_command,
    unsupported_by_quinn,
)
from quiclab.model.study import Program, Protocol, Tcp, Workload


class QuinnClient:
    """A small program of ours around the quinn and h3 libraries."""

    name = "quinn"
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {"h3": COMMON_KNOBS | {"verify", "migration", "migrate_at"}}
    abilities: frozenset[Ability] = frozenset({"keylog", "qlog", "migration", "ack_frequency", "objects"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version."""
        return probe_quinn(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible; a migration needs its place in the body."""
        if (program.knobs.migration is None) != (program.knobs.migrate_at is None):
            return "quinn's migration and migrate_at (the bytes of body after which it happens) need each other"
        return unsupported_by_quinn(program)

    def unsupported_objects(self, program: Program, workload: Workload) -> str | None:
        """Reason why several objects are not possible: migration is for one."""
        return unsupported_objects(program)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return program.knobs.max_payload or FIRST_PAYLOAD

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that it has by itself."""
        return {key: value for key, value in own_values_of_quinn(program).items() if key in self.knobs[protocol]}

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows, which do not grow."""
        stream = program.knobs.stream_window or "1.25 MB"
        connection = program.knobs.connection_window or "without limit"
        windows = f"QUIC stream window {stream}, connection window {connection}"
        return KNOWN.traits(program, {"receive_window": windows})

    def command(self, context: Context) -> Command:
        """Command of the program, which loads everything and then waits for the word."""
        return quinn_command(context, "client")
