# SPDX-License-Identifier: Apache-2.0
"""quiche as an HTTP/3 file server: reno, cubic or bbr2, qlog, 0-RTT accepted or refused.

quiche paces bbr2 only (0.22 paces all), and fills the congestion window to the last byte: after a loss many of its
packets are smaller than full (840 bytes where the window was cut to 0.7). Its tickets always allow 0-RTT, so that
`early_data = false` refuses what a client really offers. After a change of address that loses packets under way, a
transfer from quiche 0.30 can stall for good; judging by the bytes sent to each address, it repeated them only by PTO
and to the old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._quiche import (
    BETA,
    COMMON_KNOBS,
    DATAGRAM,
    KNOWN,
    can_pace,
    own_values_of_quiche,
    probe_quiche,
    quiche_command,
    unsupported_by_quiche,
)
from quiclab.model.study import Program, Protocol, Tcp


class QuicheServer:
    """A small program of ours around the quiche library; one process, one thread."""

    name = "quiche"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h3": COMMON_KNOBS | {"max_streams", "early_data", "gso", "scheduler"},
    }
    abilities: frozenset[Ability] = frozenset(
        {"keylog", "qlog", "resumption", "early_data", "migration", "content_type"}
    )

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version."""
        return probe_quiche(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible, or None."""
        return unsupported_by_quiche(program)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return program.knobs.max_payload or DATAGRAM

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that it has by itself."""
        return {key: value for key, value in own_values_of_quiche(program).items() if key in self.knobs[protocol]}

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender."""
        knobs = program.knobs
        paced = can_pace(program) and knobs.pacing is not False
        chosen = knobs.congestion_control or "cubic"
        facts = {
            "congestion_control": f"quiche {chosen}{BETA.get(chosen, '')}",
            "initial_window": f"{knobs.initial_window or 10} packets",
            "packet_size": f"UDP payload {knobs.max_payload or DATAGRAM} bytes, less where the window ends",
            "pacing": "paced" if paced else "not paced",
            "datagrams_per_system_call": "up to 64 (UDP_SEGMENT)" if knobs.gso else "1",
            "early_data": "accepted" if knobs.early_data else "refused",
            "scheduler": knobs.scheduler or "fifo",
        }
        return KNOWN.traits(program, facts)

    def command(self, context: Context) -> Command:
        """Command with the job in a file."""
        return quiche_command(context, "server")
