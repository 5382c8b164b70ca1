# SPDX-License-Identifier: Apache-2.0
"""quic-go as an HTTP/3 file server, and Go's net/http as an HTTP/2 one, in a small program of ours.

quic-go's New Reno has a beta of 0.7 instead of the 0.5 of RFC 9002 section 7.3.2 and leaves slow start when the RTT
rises. Session tickets announce early data even where they are refused, so that the refusal can be seen.
"""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.endpoints._api import Ability, Available, BoundedRun, Command, Context, Role, Unsupported
from quiclab.endpoints._quic_go import (
    least_connection_window,
    packet_size,
    probe_quic_go,
    quic_go_command,
    unsupported_by_quic_go,
    wrong_window,
)
from quiclab.endpoints._tcp import tcp_sender_facts
from quiclab.spec.model import Program, Protocol, Tcp

_BOTH = frozenset({"connection_window", "stream_window", "max_streams", "groups"})


class QuicGoServer:
    """Files below the root; one process."""

    name = "quic-go"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h2", "h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h2": _BOTH | {"tls_version"},
        "h3": _BOTH | {"congestion_control", "early_data", "ecn", "gso", "max_payload", "path_mtu_discovery"},
    }
    abilities: frozenset[Ability] = frozenset(
        {"keylog", "qlog", "resumption", "early_data", "migration", "content_type"}
    )

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version."""
        return probe_quic_go(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """reno only, groups in Go's order, windows that Go takes."""
        least = least_connection_window("server") if protocol == "h2" else 1
        return unsupported_by_quic_go(program) or wrong_window("connection_window", program.knobs, least)

    def facts(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """As read in quic-go 0.65, or the kernel's TCP."""
        knobs = program.knobs
        if protocol == "h2":
            return tcp_sender_facts(tcp)
        return {
            "congestion_control": "New Reno with beta 0.7",
            "initial_window": "32 packets",
            "packet_size": packet_size(knobs),
            "pacing": "paced, in bursts of up to 10 packets",
            "gso": "off" if knobs.gso is False else "on",
            "ecn": "not marked" if knobs.ecn is False else "ECT(0)",
        }

    def command(self, context: Context) -> Command:
        """The job goes in a file."""
        return quic_go_command(context, "server")
