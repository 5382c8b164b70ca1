# SPDX-License-Identifier: Apache-2.0
"""Decrypted packets in the words of the RFCs: TLS messages, QUIC frames, HTTP/2 frames, each with its sender."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from quiclab.verify._ip import UDP, Sender
from quiclab.verify._tshark import Tree, child, children, descendants, dissect, number, octets, text
from quiclab.verify.wire import Socket, Wire

PacketKind = Literal["initial", "0-RTT", "handshake", "retry", "1-RTT", "version_negotiation"]
_LONG: tuple[PacketKind, ...] = ("initial", "0-RTT", "handshake", "retry")
_LONG_V2: tuple[PacketKind, ...] = ("retry", "initial", "0-RTT", "handshake")
"""By the type bits of the long header: RFC 9000 section 17.2, RFC 9369 section 3.2."""
CRYPTO, _STREAM_FIRST, _STREAM_LAST, PATH_CHALLENGE, PATH_RESPONSE = 0x06, 0x08, 0x0F, 0x1A, 0x1B
HTTP2_HEADERS, HTTP2_SETTINGS = 0x1, 0x4

_WANTED = (
    "tcp.flags.syn == 1 || tls.handshake || quic.header_form == 1"
    " || quic.stream.stream_id && !(quic.stream.offset > 4096) || quic.frame_type in {0x1a, 0x1b}"
    " || http2.type in {1, 4} || http.request || http.response"
)
"""Handshakes, the front of each stream, SETTINGS and HEADERS of HTTP/2, HTTP/1.1, path validation."""
_ON_NEW_PATH = (
    " || (udp.port == {port} && ((frame.number >= {0} && frame.number <= {1}) || (frame.number >= {2} &&"
    " frame.number <= {3})) && (quic.stream.stream_id || quic && !quic.frame))"
)
_EDGE_PACKETS, _LONG_PAYLOAD_BYTES, _MOST_PATHS = 100, 100, 4
"""Of each path after the first, that many packets at the beginning and at the end, counting those that may carry data:
whether data still flowed after path validation shows at the end, however many packets were under way meanwhile."""


@dataclass(frozen=True)
class TlsMessage:
    """A handshake message (RFC 8446 section 4)."""

    kind: int
    tree: Tree

    def extensions(self) -> dict[int, Tree]:
        """Those of the message, by type."""
        return {
            int(number_): tree
            for key, tree in self.tree
            if key.startswith("Extension: ") and (number_ := text(tree, "tls.handshake.extension.type"))
        }


@dataclass(frozen=True)
class QuicFrame:
    """STREAM frames and those of path validation; of others only the type."""

    kind: int
    stream_id: int | None = None
    offset: int = 0
    data: bytes = b""
    """Of a STREAM frame, or of PATH_CHALLENGE and PATH_RESPONSE."""

    @property
    def is_stream(self) -> bool:
        """RFC 9000 section 19.8."""
        return _STREAM_FIRST <= self.kind <= _STREAM_LAST


@dataclass(frozen=True)
class QuicPacket:
    """`frames` is None where the packet stayed closed."""

    kind: PacketKind
    frames: tuple[QuicFrame, ...] | None
    token: bool = False
    """An Initial packet that brings one, which proves the client's address (RFC 9000 section 8.1)."""
    destination_id: bytes = b""


@dataclass(frozen=True)
class Opened:
    """One packet of the capture."""

    number: int
    sender: Sender
    socket: Socket
    payload_bytes: int
    connection: int | None
    """tshark's number of a QUIC connection, whatever its addresses; None for TCP and where it does not know."""
    syn: bool
    messages: tuple[TlsMessage, ...]
    quic: tuple[QuicPacket, ...]
    http2: tuple[Tree, ...]
    http1: Tree
    """A request or a response of HTTP/1.1; empty if there is none."""

    def frames(self) -> Iterator[tuple[PacketKind, QuicFrame]]:
        """All QUIC frames, with the kind of the packet that carried them."""
        for packet in self.quic:
            for frame in packet.frames or ():
                yield packet.kind, frame


def open_packets(capture: Path, key_log: Path, server_port: int, wire: Wire) -> list[Opened]:
    """What is wanted of a capture, in its order. Raises `UnopenedError`."""
    new_paths = [socket for socket in wire.sockets if socket[0] == UDP][1:]
    wanted = _WANTED + "".join(_on_new_path(socket, wire) for socket in new_paths[-_MOST_PATHS:])
    return [
        opened
        for at, layers in dissect(capture, key_log, server_port, wanted)
        if 0 < at <= len(wire.packets) and (opened := _opened(at, layers, wire)) is not None
    ]


def _on_new_path(socket: Socket, wire: Wire) -> str:
    numbers = [
        at
        for at, packet in enumerate(wire.packets, 1)
        if packet and packet.socket == socket and packet.payload_bytes >= _LONG_PAYLOAD_BYTES
    ]
    if not numbers:
        return ""
    first, last = numbers[:_EDGE_PACKETS], numbers[-_EDGE_PACKETS:]
    return _ON_NEW_PATH.format(first[0], first[-1], last[0], last[-1], port=socket[2])


def _opened(at: int, layers: Tree, wire: Wire) -> Opened | None:
    seen = wire.packets[at - 1]
    if seen is None:
        return None
    return Opened(
        number=at,
        sender=seen.sender,
        socket=seen.socket,
        payload_bytes=seen.payload_bytes,
        connection=number(child(layers, "quic"), "quic.connection.number"),
        syn=any(key == "tcp" for key, _ in layers) and seen.payload_bytes == 0,
        messages=tuple(
            TlsMessage(number(m, "tls.handshake.type") or 0, m) for m in descendants(layers, "tls.handshake")
        ),
        quic=tuple(_quic(packet) for packet in children(layers, "quic")),
        http2=tuple(stream for layer in children(layers, "http2") for stream in children(layer, "http2.stream")),
        http1=child(layers, "http"),
    )


def _message(tree: Tree) -> TlsMessage:
    return TlsMessage(number(tree, "tls.handshake.type") or 0, tree)


def _quic(packet: Tree) -> QuicPacket:
    frames = tuple(_frame(frame) for frame in children(packet, "quic.frame"))
    token = bool(number(packet, "quic.token_length"))
    return QuicPacket(_kind(packet), frames or None, token, octets(packet, "quic.dcid"))


def _kind(packet: Tree) -> PacketKind:
    if number(packet, "quic.version") == 0:
        return "version_negotiation"
    for name, kinds in (("quic.long.packet_type", _LONG), ("quic.long.packet_type_v2", _LONG_V2)):
        kind = number(packet, name)
        if kind is not None:
            return kinds[kind]
    return "1-RTT"


def _frame(tree: Tree) -> QuicFrame:
    kind = number(tree, "quic.frame_type") or 0
    if kind == PATH_CHALLENGE:
        return QuicFrame(kind, data=octets(tree, "quic.path_challenge.data"))
    if kind == PATH_RESPONSE:
        return QuicFrame(kind, data=octets(tree, "quic.path_response.data"))
    if _STREAM_FIRST <= kind <= _STREAM_LAST:
        return QuicFrame(
            kind,
            number(tree, "quic.stream.stream_id"),
            number(tree, "quic.stream.offset") or 0,
            octets(tree, "quic.stream_data"),
        )
    return QuicFrame(kind)


def http2_type(frame: Tree) -> int | None:
    """RFC 9113 section 6; None for the connection preface."""
    return number(frame, "http2.type")
