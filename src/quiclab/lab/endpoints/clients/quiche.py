# SPDX-License-Identifier: Apache-2.0
"""quiche as an HTTP/3 client: qlog, keys, resumption, 0-RTT, and active migration over a validated path.

It acknowledges whenever it wakes up: at once, and everything that has arrived by then; quiche cannot delay
acknowledgements. Certificates are checked against the study's CA alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._address_change import only_moves
from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._job import unsupported_objects
from quiclab.lab.endpoints._quiche import (
    COMMON_KNOBS,
    DATAGRAM,
    KNOWN,
    own_values_of_quiche,
    probe_quiche,
    quiche_command,
    unsupported_by_quiche,
)
from quiclab.model.study import Knobs, Program, Protocol, Tcp, Workload


class QuicheClient:
    """A small program of ours around the quiche library."""

    name = "quiche"
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h3": COMMON_KNOBS
        | {"ack_delay", "ack_frequency", "session", "verify"}
        | {"migration", "migrate_at", "on_address_change"},
    }
    abilities: frozenset[Ability] = frozenset({"keylog", "qlog", "resumption", "early_data", "migration", "objects"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version."""
        return probe_quiche(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible, or None."""
        return unsupported_by_quiche(program) or only_moves(program)

    def unsupported_objects(self, program: Program, workload: Workload) -> str | None:
        """Reason why several objects are not possible: early data and migration are for one."""
        return unsupported_objects(program)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return program.knobs.max_payload or DATAGRAM

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that it has by itself."""
        return {key: value for key, value in own_values_of_quiche(program).items() if key in self.knobs[protocol]}

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows, of which those that are set stay while the others grow; and how it acknowledges."""
        stream = program.knobs.stream_window or "1 MB growing to 16 MiB"
        connection = program.knobs.connection_window or "10 MB growing to 24 MiB"
        facts = {
            "receive_window": f"QUIC stream window {stream}, connection window {connection}",
            "acknowledgements": _acknowledgements(program.knobs),
        }
        return KNOWN.traits(program, facts)

    def command(self, context: Context) -> Command:
        """Command of the program, which loads everything and then waits for the word."""
        return quiche_command(context, "client")


def _acknowledgements(knobs: Knobs) -> str:
    """Acknowledgement policy of the client: quiche acknowledges with the next packet that it is asked for, and our
    program asks later if it is told to."""
    if knobs.ack_delay is None and knobs.ack_frequency is None:
        return "at each wake-up"
    number = f"{knobs.ack_frequency} packets or " if knobs.ack_frequency else ""
    return f"after {number}{knobs.ack_delay or '25 ms'}, also where packets are missing"
