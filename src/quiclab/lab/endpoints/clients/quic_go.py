# SPDX-License-Identifier: Apache-2.0
"""quic-go as an HTTP/3 client, and Go's net/http as an HTTP/2 one, in a small program of ours.

Over HTTP/2 the body reaches the program by whole DATA frames, which most servers make 16 KiB large: its first byte is
reported when the first frame is complete. When several objects are requested at once, Go's scheduler decides which goes
first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._job import token_without_session, unsupported_objects, unsupported_upload
from quiclab.lab.endpoints._quic_go import (
    KNOWN,
    PAYLOAD,
    least_connection_window,
    own_values_of_quic_go,
    probe_quic_go,
    quic_go_command,
    quic_windows,
    sender_facts,
    unsupported_by_quic_go,
    wrong_window,
)
from quiclab.lab.endpoints._tcp import tcp_sender_facts
from quiclab.model.study import Program, Protocol, Tcp, Workload

_BOTH = frozenset({"connection_window", "stream_window", "groups", "session", "verify"})

_OWN_OVER_TCP: OwnValues = {"stream_window": "4 MiB"}


class QuicGoClient:
    """A small program of ours around quic-go and Go's net/http: one GET or PUT on a new connection, or several at
    once."""

    name = "quic-go"
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h2", "h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h2": _BOTH | {"tls_version"},
        "h3": _BOTH
        | {"congestion_control", "ecn", "gso", "max_payload", "path_mtu_discovery"}
        | {"migration", "migrate_at", "address_token"},
    }
    abilities: frozenset[Ability] = frozenset(
        {"keylog", "qlog", "resumption", "early_data", "migration", "objects", "upload"}
    )

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version."""
        return probe_quic_go(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible, such as early data over TCP, which Go's TLS does not have."""
        if protocol == "h2" and program.knobs.session == "early_data":
            return 'Go\'s TLS has no early data over TCP: session = "early_data" is not possible over h2'
        least = least_connection_window("client") if protocol == "h2" else 1
        if (alone := token_without_session(program)) is not None:
            return alone
        return unsupported_by_quic_go(program) or wrong_window("connection_window", program.knobs, least)

    def unsupported_objects(self, program: Program, workload: Workload) -> str | None:
        """Reason why several objects are not possible: migration is for one."""
        return unsupported_objects(program, early_data=True)

    def unsupported_upload(self, program: Program) -> str | None:
        """Reason why an upload is not possible: early data and migration are for downloads."""
        return unsupported_upload(program)

    def upload_facts(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender: quic-go's, or the kernel's TCP."""
        return sender_facts(program) if protocol == "h3" else tcp_sender_facts(tcp)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return program.knobs.max_payload or KNOWN.fact(program, PAYLOAD)[ip_version]

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that quic-go has by itself, or the stream window of Go's HTTP/2 (`transportDefaultStreamFlow` of Go
        1.26)."""
        return own_values_of_quic_go(program) if protocol == "h3" else KNOWN.own_values(program, _OWN_OVER_TCP)

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows of quic-go, or of Go's HTTP/2 (Go 1.26); one that is set neither grows nor shrinks."""
        stream, connection = program.knobs.stream_window, program.knobs.connection_window
        if protocol == "h3":
            return KNOWN.traits(program, {"receive_window": quic_windows(program.knobs)})
        return {
            "receive_window": f"HTTP/2 stream window {stream or '4 MiB'}, connection window {connection or '1 GiB'}, "
            f"TCP buffer up to {tcp.receive_buffer[2]}"
        }

    def command(self, context: Context) -> Command:
        """Command with the job in a file; the program loads everything, then waits for the word."""
        return quic_go_command(context, "client", {"address_token": True} if context.knobs.address_token else None)
