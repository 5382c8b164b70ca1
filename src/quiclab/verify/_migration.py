# SPDX-License-Identifier: Apache-2.0
"""Whether a QUIC connection moved to another address of the client, proven by path validation (RFC 9000 section 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from quiclab.verify._ip import Sender
from quiclab.verify._opened import PATH_CHALLENGE, PATH_RESPONSE, Opened, QuicFrame
from quiclab.verify.wire import Socket, Wire, socket_name


@dataclass(frozen=True)
class Migration:
    """None means that the packets do not tell."""

    address_changed: bool = False
    path_challenges: dict[str, int] = field(default_factory=dict)
    """Frames by sender."""
    path_responses: dict[str, int] = field(default_factory=dict)
    validated_by: tuple[Sender, ...] = ()
    """Whose PATH_CHALLENGE on the new path was answered."""
    migrated: bool | None = False
    """The new path was validated, and STREAM data flowed on it afterwards."""
    new_connection_id: bool | None = None
    """The client changed its Destination Connection ID with its address, as in a migration that it began by itself; a
    client whose address was changed by a NAT does not know (RFC 9000 section 9.5)."""
    new_path: dict[str, str | int] | None = None
    """The last one: the client's socket, its first packet in the capture, payload bytes by sender."""


def read_migration(packets: Sequence[Opened], others: Sequence[Opened], wire: Wire) -> Migration:
    """From the packets of one connection, and those of which nobody knows the connection."""
    sockets = list(dict.fromkeys(packet.socket for packet in packets))
    challenges = [(packet, frame.data) for packet, frame in _frames(packets, PATH_CHALLENGE)]
    responses = [(packet, frame.data) for packet, frame in _frames(packets, PATH_RESPONSE)]
    counted = Migration(
        path_challenges=_by_sender([packet for packet, _ in challenges]),
        path_responses=_by_sender([packet for packet, _ in responses]),
    )
    if len(sockets) < 2:
        return counted
    new = sockets[-1]
    matched = [
        (challenge, response)
        for response, answer in responses
        for challenge, data in challenges
        if data == answer and challenge.sender != response.sender and challenge.number < response.number
        if challenge.socket == new
    ]
    validated_at = min((response.number for _, response in matched), default=None)
    migrated: bool | None = validated_at is not None and any(
        packet.socket == new and packet.number > validated_at and any(frame.is_stream for _, frame in packet.frames())
        for packet in packets
    )
    if not migrated and _closed(new, [*packets, *others]):
        migrated = None
    return replace(
        counted,
        address_changed=True,
        validated_by=tuple(sorted({challenge.sender for challenge, _ in matched})),
        migrated=migrated,
        new_connection_id=_destinations(packets, new).isdisjoint(_destinations(packets, *sockets[:-1])),
        new_path=_path(new, wire),
    )


def _destinations(packets: Sequence[Opened], *sockets: Socket) -> set[bytes]:
    return {
        quic.destination_id
        for packet in packets
        if packet.sender == "client" and packet.socket in sockets
        for quic in packet.quic
    }


def _closed(socket: Socket, packets: Sequence[Opened]) -> bool:
    """Whether something that went over this path stayed encrypted."""
    return any(packet.socket == socket and any(quic.frames is None for quic in packet.quic) for packet in packets)


def _frames(packets: Sequence[Opened], kind: int) -> list[tuple[Opened, QuicFrame]]:
    return [(packet, frame) for packet in packets for _, frame in packet.frames() if frame.kind == kind]


def _by_sender(packets: Sequence[Opened]) -> dict[str, int]:
    return {sender: sum(packet.sender == sender for packet in packets) for sender in ("client", "server")}


def _path(socket: Socket, wire: Wire) -> dict[str, str | int]:
    known = wire.sockets[socket]
    return {
        "client_socket": socket_name(socket),
        "first_packet": known.first_packet,
        "payload_bytes_client": known.payload_bytes["client"],
        "payload_bytes_server": known.payload_bytes["server"],
    }
