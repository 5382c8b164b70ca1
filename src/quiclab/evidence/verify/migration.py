# SPDX-License-Identifier: Apache-2.0
"""Check that a QUIC connection moved to another address of the client, proven by path validation (RFC 9000 section
9)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from quiclab.evidence.verify.connections import Connection, Packet
from quiclab.evidence.verify.wire import Sender
from quiclab.model.tables import Row

_SENDERS: dict[str, Sender] = {"up": "client", "down": "server"}


@dataclass(frozen=True)
class Migration:
    """Facts about a connection's change of path; None means that the packets do not tell."""

    address_changed: bool = False
    path_challenges: dict[str, int] = field(default_factory=dict)
    """Frames by sender."""
    path_responses: dict[str, int] = field(default_factory=dict)
    validated_by: tuple[Sender, ...] = ()
    """Ends whose PATH_CHALLENGE on the new path was answered."""
    migrated: bool | None = False
    """The new path was validated, and STREAM data flowed on it afterwards."""
    new_connection_id: bool | None = None
    """The client changed its Destination Connection ID with its address, as in a migration that it began by itself; a
    client whose address was changed by a NAT does not know (RFC 9000 section 9.5)."""
    new_path: dict[str, str | int] | None = None
    """The last one: the client's socket, its first packet in the capture, payload bytes by sender."""


@dataclass(frozen=True)
class _Carried:
    packet: Packet
    data: str


def read_migration(connection: Connection) -> Migration:
    """Read from the packets of one connection whether it migrated."""
    packets = list(connection.packets()) if len(connection.sockets) > 1 else []
    at = {(packet.time_ns, packet.sender, packet.kind, packet.packet_number): packet for packet in packets}

    def carried(kind: str) -> Iterator[_Carried]:
        for frame in connection.frames(kind):
            packet = at.get(_key(frame))
            if packet is not None:
                yield _Carried(packet, json.loads(frame["detail"] or "{}").get("data", ""))

    challenges, responses = list(carried("path_challenge")), list(carried("path_response"))
    counted = Migration(
        path_challenges=_by_sender(connection, "path_challenge"),
        path_responses=_by_sender(connection, "path_response"),
    )
    if not packets:
        return counted
    new = connection.sockets[-1]
    matched = [
        (challenge, response)
        for response in responses
        for challenge in challenges
        if challenge.data == response.data and challenge.packet.sender != response.packet.sender
        if challenge.packet.number < response.packet.number and challenge.packet.socket == new
    ]
    validated_at = min((response.packet.number for _, response in matched), default=None)
    streams = [packet for frame in connection.frames("stream") if (packet := at.get(_key(frame))) is not None]
    migrated: bool | None = validated_at is not None and any(
        packet.socket == new and packet.number > validated_at for packet in streams
    )
    if not migrated and any(packet.socket == new and packet.packet_number is None for packet in packets):
        migrated = None
    first = next(packet for packet in packets if packet.socket == new)
    return replace(
        counted,
        address_changed=True,
        validated_by=tuple(sorted({challenge.packet.sender for challenge, _ in matched})),
        migrated=migrated,
        new_connection_id=_takes_another_id(connection, first),
        new_path={"client_socket": new, "first_packet": first.number, **_payload(packets, new)},
    )


def _key(frame: Row) -> tuple[int, Sender, str | None, int | None]:
    return frame["time_ns"], _SENDERS[frame["direction"]], frame["packet_type"], frame["packet_number"]


def _takes_another_id(connection: Connection, first: Packet) -> bool:
    """True if the client's first packet from its new address bore an ID that none before had."""
    rows = connection.tables["parameters"].select("name", "time_ns").iter_rows()
    return any(name == "connection_id_updated.server" and time_ns >= first.time_ns for name, time_ns in rows)


def _by_sender(connection: Connection, kind: str) -> dict[str, int]:
    ways = [frame["direction"] for frame in connection.frames(kind)]
    return {sender: ways.count(way) for way, sender in _SENDERS.items()}


def _payload(packets: Sequence[Packet], socket: str) -> dict[str, str | int]:
    datagrams = {packet.number: packet for packet in packets if packet.socket == socket}.values()
    return {
        f"payload_bytes_{sender}": sum(each.payload_bytes for each in datagrams if each.sender == sender)
        for sender in ("client", "server")
    }
