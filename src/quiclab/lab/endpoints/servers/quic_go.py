# SPDX-License-Identifier: Apache-2.0
"""quic-go as an HTTP/3 file server, and Go's net/http as an HTTP/2 one, in a small program of ours.

quic-go's New Reno has a beta of 0.7 instead of the 0.5 of RFC 9002 section 7.3.2 and leaves slow start when the RTT
rises. Session tickets announce early data even where they are refused, so that the refusal can be seen.

With `scheduler` or `priorities` the program itself decides whose turn it is among the responses of a connection, in the
same way over both protocols, 8 KiB at a time, and keeps at most 16 KiB unsent in the kernel (TCP_NOTSENT_LOWAT). Later
updates of a browser by PRIORITY_UPDATE frames are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._pages import CONTENT_TYPES, HEADERS, HTTP3_FIELD, HTTP3_HERE
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
from quiclab.model.study import Program, Protocol, Tcp

_BOTH = frozenset({"connection_window", "stream_window", "max_streams", "groups", "scheduler", "priorities"})


class QuicGoServer:
    """A small program of ours that serves the files below the root; one process. It writes an upload to a file as it
    arrives."""

    name = "quic-go"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h2", "h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h2": _BOTH | {"tls_version"},
        "h3": _BOTH | {"congestion_control", "early_data", "ecn", "gso", "max_payload", "path_mtu_discovery"},
    }
    abilities: frozenset[Ability] = frozenset(
        {"keylog", "qlog", "resumption", "early_data", "migration", "content_type", "upload", "pages"}
    )

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version."""
        return probe_quic_go(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible: there is reno only, groups in Go's order, and windows that Go accepts."""
        least = least_connection_window("server") if protocol == "h2" else 1
        return unsupported_by_quic_go(program) or wrong_window("connection_window", program.knobs, least)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return program.knobs.max_payload or KNOWN.fact(program, PAYLOAD)[ip_version]

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that quic-go has by itself, with `DefaultMaxIncomingStreams`, and those of Go's HTTP/2: the defaults
        of `http.HTTP2Config` of a server (Go 1.26)."""
        if protocol == "h3":
            return {**own_values_of_quic_go(program), **KNOWN.own_values(program, {"max_streams": 100})}
        return KNOWN.own_values(program, {"max_streams": 250, "stream_window": "1 MiB", "connection_window": "1 MiB"})

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender: quic-go's, or the kernel's TCP."""
        knobs = program.knobs
        asked = knobs.scheduler is not None or knobs.priorities is not None
        order = knobs.scheduler or "round_robin"
        told = {"scheduler": f"the more urgent first, then {order}" if knobs.priorities else order} if asked else {}
        return {**(sender_facts(program) if protocol == "h3" else tcp_sender_facts(tcp)), **told}

    def unsupported_upload(self, program: Program) -> str | None:
        """Every setting works with uploads."""
        return None

    def upload_facts(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows of quic-go, or of Go's HTTP/2 (Go 1.26)."""
        knobs = program.knobs
        if protocol == "h3":
            return KNOWN.traits(program, {"receive_window": quic_windows(knobs)})
        stream, connection = knobs.stream_window or "1 MiB", knobs.connection_window or "1 MiB"
        windows = f"HTTP/2 stream window {stream}, connection window {connection}"
        return {"receive_window": f"{windows}, TCP buffer up to {tcp.receive_buffer[2]}"}

    def command(self, context: Context) -> Command:
        """Command with the job in a file."""
        knobs = context.knobs
        return quic_go_command(context, "server", {"priorities": knobs.priorities, "page": _page(context)})


def _page(context: Context) -> dict[str, object] | None:
    """Settings for serving a page besides its files: types, fields, and further names, each at its own address."""
    if context.page is None:
        return None
    hosts = [
        {
            "listen": replace(context, address=host.address).authority,
            "protocols": list(host.protocols),
            "certificate": str(host.certificate),
            "key": str(host.key),
        }
        for host in context.page.hosts
    ]
    fields = {"headers": dict(HEADERS), "headers_over_h3": {HTTP3_FIELD: HTTP3_HERE}}
    return {"content_types": dict(CONTENT_TYPES), **fields, "hosts": hosts}
