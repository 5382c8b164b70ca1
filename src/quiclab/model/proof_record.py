# SPDX-License-Identifier: Apache-2.0
"""The proof of a trial: what its packets, the kernel and the programs show, as the member `proof` of trial.json.

Each fact is a value or `UNPROVEN`; one that an earlier version of quiclab did not look for is `UNPROVEN` as well.
docs/explanation/proof.md has their meaning.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

UNPROVEN: Final = "unproven"
"""Stand-in for a fact that nothing shows."""
Unproven = Literal["unproven"]


class HttpResponse(msgspec.Struct, frozen=True):
    """One request of the measured client whose headers could be read, with its answer."""

    http_version: str | None = None
    method: str | None = None
    url: str | None = None
    status: int | None = None
    content_encoding: str | None = None
    content_range: str | None = None
    body_bytes: int = 0
    """Bytes of the response's body, as sent."""
    sent_bytes: int = 0
    """Bytes of the request's body, as sent."""
    ended: bool = False
    """True if the response came to its end."""


class ConnectionProof(msgspec.Struct, frozen=True):
    """Answers to one connection of the client; a client that begins again elsewhere has several."""

    resumed: bool | None
    """True if TLS resumed a session; None where nothing shows it."""
    client_socket: str | None = None
    early_data: str | None = None
    range_asked: str | None = None
    if_range: str | None = None
    status: int | None = None
    content_range: str | None = None


class OriginLeg(msgspec.Struct, frozen=True):
    """Connections between a proxy and its origin, by the packets at the proxy's end."""

    transports: tuple[str, ...] = ()
    connections: int = 0
    bytes_from_origin: int = 0
    bytes_to_origin: int = 0


class FlowProof(msgspec.Struct, frozen=True):
    """One of several flows at a link, by the client's capture."""

    transport: str = "none"
    payload_bytes_down: int = 0
    """Payload that came from the flow's server."""
    tls_version: str | None = None
    alpn_offered: tuple[str, ...] = ()


BytesByEnd = dict[str, int]
"""Bytes by the end that sent them."""


class Proof(msgspec.Struct, frozen=True):
    """Facts of a trial that enter its verdict."""

    transport: str = UNPROVEN
    """`tcp`, `quic`, or `none`."""
    tls_version: str = UNPROVEN
    tls_group: str = UNPROVEN
    resumed: bool | Unproven = UNPROVEN
    early_data_offered: bool | Unproven = UNPROVEN
    address_token: bool | Unproven = UNPROVEN
    """True if the client's first Initial packet had a token."""
    early_data_packets: int | Unproven = UNPROVEN
    alpn_offered: tuple[str, ...] | Unproven = UNPROVEN
    client_sockets: tuple[str, ...] | Unproven = UNPROVEN
    client_addresses: dict[str, BytesByEnd] | Unproven = UNPROVEN
    """Payload by the client's address."""
    payload_bytes: dict[str, BytesByEnd] | Unproven = UNPROVEN
    """Payload by transport, `tcp` and `udp`."""
    payload_bytes_of_one_socket: dict[str, BytesByEnd] | Unproven = UNPROVEN
    """The most that one socket of the client carried, by transport."""
    ecn: dict[str, dict[str, object] | Unproven] | Unproven = UNPROVEN
    http_version: str = UNPROVEN
    """The version of HTTP by the client's account."""
    tcp_congestion_control_asked: str | None = None
    tcp_congestion_control: str = UNPROVEN
    """Congestion control of the sender's socket."""
    origin_leg: OriginLeg | Unproven = UNPROVEN
    versions: dict[str, object] = msgspec.field(default_factory=dict)
    competition: dict[str, FlowProof] = msgspec.field(default_factory=dict)
    """Flow → what it moved."""
    connections: int | Unproven = UNPROVEN
    http_version_seen: str = UNPROVEN
    """The version of HTTP by opened packets."""
    alpn: str = UNPROVEN
    early_data: str = UNPROVEN
    """`not_offered`, `accepted` or `rejected`."""
    early_data_bytes: int | Unproven = UNPROVEN
    address_changed: bool | Unproven = UNPROVEN
    path_challenges: BytesByEnd | Unproven = UNPROVEN
    """Frames by the end that sent them."""
    new_connection_id: bool | Unproven = UNPROVEN
    migrated: bool | Unproven = UNPROVEN
    answers: tuple[ConnectionProof, ...] | Unproven = UNPROVEN
    http_responses: tuple[HttpResponse, ...] | Unproven = UNPROVEN
    unproven_because: dict[str, str] = msgspec.field(default_factory=dict)
    """Fact → why nothing shows it."""
    account_contradicted: str | None = None
    """The first claim of the client's account that its packets contradict."""
    capture_contradicted: str | None = None
    """The first capture that contradicts the link's log."""
