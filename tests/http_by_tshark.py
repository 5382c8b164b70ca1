# SPDX-License-Identifier: Apache-2.0
"""HTTP frames of a capture by a plain reading of what tshark opens, in the words of the table http_frames.

HTTP/2: tshark's own dissection. HTTP/3: the bytes of the STREAM frames that tshark decrypts, put in order and cut into
frames here, and the header fields by pylsqpack: tshark 4.0 decodes no QPACK and drops streams that arrive out of order.
"""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pylsqpack
from tshark_trees import Tree, child, children, descendants, number, octets, text

Direction = Literal["up", "down"]
Fields = tuple[tuple[str, str], ...]

HTTP2_NAMES = {
    0x0: "data", 0x1: "headers", 0x2: "priority", 0x3: "rst_stream", 0x4: "settings", 0x5: "push_promise",
    0x6: "ping", 0x7: "goaway", 0x8: "window_update", 0x9: "continuation", 0xA: "altsvc", 0xC: "origin",
    0x10: "priority_update",
}  # fmt: skip
HTTP3_NAMES = {
    0x0: "data", 0x1: "headers", 0x3: "cancel_push", 0x4: "settings", 0x5: "push_promise", 0x7: "goaway",
    0xC: "origin", 0xD: "max_push_id", 0xF0700: "priority_update", 0xF0701: "priority_update",
}  # fmt: skip
_VALUES = {
    0x3: "http2.rst_stream.error",
    0x7: "http2.goaway.last_stream_id",
    0x8: "http2.window_update.window_size_increment",
}
_CONTROL, _PUSH, _ENCODER = 0, 1, 2


@dataclass(frozen=True)
class Frame:
    """One whole frame."""

    frame_type: str
    length_bytes: int
    end_stream: bool | None = None
    value: int | None = None
    fields: Fields | None = None


Frames = dict[tuple[Direction, int], list[Frame]]
"""Of one connection: those of each stream and direction, in order; HTTP/2: stream 0 is the connection."""


def http2_frames(capture: Path, key_log: Path, port: int) -> list[Frames]:
    """Of each connection, in the order of their first frames."""
    found: dict[int, Frames] = defaultdict(lambda: defaultdict(list))
    for layers in _packets(capture, key_log, port, "http2"):
        direction, client_port = _way(child(layers, "tcp"), "tcp", port)
        for layer in children(layers, "http2"):
            for stream in children(layer, "http2.stream"):
                kind = number(stream, "http2.type")
                if kind is not None:
                    stream_id = number(stream, "http2.streamid") or 0
                    found[client_port][direction, stream_id].append(_http2_frame(kind, stream))
    return list(found.values())


def _http2_frame(kind: int, stream: Tree) -> Frame:
    flags = number(stream, "http2.flags") or 0
    fields = tuple(
        (text(each, "http2.header.name") or "", text(each, "http2.header.value") or "")
        for each in children(stream, "http2.header")
    )
    value_name = _VALUES.get(kind)
    return Frame(
        HTTP2_NAMES.get(kind, "reserved" if kind % 0x1F == 0x0B else f"unknown_{kind:#x}"),
        number(stream, "http2.length") or 0,
        bool(flags & 1) if kind in (0, 1) else None,
        number(stream, value_name) if value_name else None,
        fields or None,
    )


def http3_frames(capture: Path, key_log: Path, port: int) -> list[Frames]:
    """Of each connection, whatever its addresses, in the order of their first streams."""
    connections: dict[int, _Http3] = defaultdict(_Http3)
    for layers in _packets(capture, key_log, port, "quic.stream.stream_id"):
        direction, _ = _way(child(layers, "udp"), "udp", port)
        connection = number(child(layers, "quic"), "quic.connection.number") or 0
        for frame in descendants(layers, "quic.frame"):
            stream_id = number(frame, "quic.stream.stream_id")
            if stream_id is None or not 0x08 <= (number(frame, "quic.frame_type") or 0) <= 0x0F:
                continue
            data = octets(frame, "quic.stream_data")
            offset = number(frame, "quic.stream.offset") or 0
            fin = number(frame, "quic.stream.fin") == 1
            connections[connection].add(direction, stream_id, offset, data, fin)
    return [connection.frames() for connection in connections.values()]


@dataclass
class _Stream:
    """Bytes in order, and how far they were cut into frames."""

    front: bytearray = field(default_factory=bytearray)
    waiting: dict[int, bytes] = field(default_factory=dict)
    end: int | None = None
    kind: int | None = None
    read: int = 0
    frames: list[Frame] = field(default_factory=list)

    def add(self, offset: int, data: bytes, fin: bool) -> None:
        if fin:
            self.end = offset + len(data)
        if len(data) > len(self.waiting.get(offset, b"")):
            self.waiting[offset] = data
        for start in sorted(self.waiting):
            if start > len(self.front):
                break
            self.front += self.waiting.pop(start)[len(self.front) - start :]

    def varint(self, at: int) -> tuple[int, int] | None:
        """The integer there and where it ends."""
        if at >= len(self.front):
            return None
        length = 1 << (self.front[at] >> 6)
        if at + length > len(self.front):
            return None
        value = int.from_bytes(self.front[at : at + length], "big") & ((1 << (8 * length - 2)) - 1)
        return value, at + length


class _Http3:
    """All streams of one connection, and the two directions' QPACK decoders."""

    def __init__(self) -> None:
        self._streams: dict[tuple[Direction, int], _Stream] = defaultdict(_Stream)
        self._decoders: dict[Direction, pylsqpack.Decoder] = {}
        self._blocked: dict[tuple[Direction, int], int] = {}

    def add(self, direction: Direction, stream_id: int, offset: int, data: bytes, fin: bool) -> None:
        stream = self._streams[direction, stream_id]
        stream.add(offset, data, fin)
        if stream.kind is None:
            if stream_id % 4 == 0:
                stream.kind = _CONTROL
            elif (opening := stream.varint(0)) is not None:
                stream.kind, stream.read = opening
        if stream.kind == _ENCODER and (new := bytes(stream.front[stream.read :])):
            stream.read += len(new)
            for unblocked in self._decoder(direction).feed_encoder(new):
                _, fields = self._decoder(direction).resume_header(unblocked)
                self._decoded(direction, unblocked, fields)
        elif stream.kind == _CONTROL:
            self._cut(direction, stream_id, stream)

    def _decoder(self, direction: Direction) -> pylsqpack.Decoder:
        """For what goes in `direction`; its capacity is what the other end's SETTINGS allow, if they are known."""
        if direction not in self._decoders:
            capacity = 0
            for (way, stream_id), stream in self._streams.items():
                if way != direction and stream_id % 4 != 0 and stream.kind == _CONTROL:
                    capacity = _setting(stream, 0x1)
            self._decoders[direction] = pylsqpack.Decoder(capacity, 1000)
        return self._decoders[direction]

    def _cut(self, direction: Direction, stream_id: int, stream: _Stream) -> None:
        while (kind := stream.varint(stream.read)) and (length := stream.varint(kind[1])):
            end = length[1] + length[0]
            if end > len(stream.front):
                break
            payload = bytes(stream.front[length[1] : end])
            stream.read = end
            name = HTTP3_NAMES.get(kind[0], "reserved" if kind[0] % 0x1F == 0x21 % 0x1F else f"unknown_{kind[0]:#x}")
            stream.frames.append(Frame(name, length[0]))
            if kind[0] == 0x1:
                # Without a required insert count it needs no table, whose capacity may not be known yet.
                needs_table = payload[:1] != b"\x00"
                decoder = self._decoder(direction) if needs_table else pylsqpack.Decoder(0, 0)
                try:
                    _, fields = decoder.feed_header(stream_id, payload)
                    self._decoded(direction, stream_id, fields, len(stream.frames) - 1)
                except pylsqpack.StreamBlocked:
                    self._blocked[direction, stream_id] = len(stream.frames) - 1

    def _decoded(
        self, direction: Direction, stream_id: int, fields: list[tuple[bytes, bytes]], at: int | None = None
    ) -> None:
        frames = self._streams[direction, stream_id].frames
        at = self._blocked.pop((direction, stream_id)) if at is None else at
        shown = tuple((name.decode(), value.decode()) for name, value in fields)
        frames[at] = Frame(frames[at].frame_type, frames[at].length_bytes, fields=shown)

    def frames(self) -> Frames:
        found: Frames = {}
        for (direction, stream_id), stream in self._streams.items():
            if stream.kind != _CONTROL:
                continue
            found[direction, stream_id] = [
                Frame(each.frame_type, each.length_bytes, self._ends(stream_id, stream, at), None, each.fields)
                for at, each in enumerate(stream.frames)
            ]
        return found

    @staticmethod
    def _ends(stream_id: int, stream: _Stream, at: int) -> bool | None:
        if stream_id % 4 != 0:
            return None
        if at + 1 < len(stream.frames) or stream.read < len(stream.front):
            return False
        return True if stream.end == stream.read else None


def _setting(control: _Stream, wanted: int) -> int:
    """A setting of the first frame of a control stream; 0 if it is not there."""
    at = 0
    numbers: list[int] = []
    while (found := control.varint(at)) is not None and len(numbers) < 64:
        value, at = found
        numbers.append(value)
    # The stream's type, the frame's type and length, then pairs.
    pairs = dict(zip(numbers[3::2], numbers[4::2], strict=False))
    return pairs.get(wanted, 0)


def _packets(capture: Path, key_log: Path, port: int, wanted: str) -> Iterator[Tree]:
    command = ["tshark", "-n", "-r", str(capture), "-Y", wanted, "-T", "json", "-J", "tcp udp quic http2"]
    command += ["-o", f"tls.keylog_file:{key_log}", "-o", "tcp.reassemble_out_of_order:TRUE"]
    command += ["-d", f"udp.port=={port},quic", "-d", f"tcp.port=={port},tls"]
    done = subprocess.run(command, capture_output=True, check=True)
    for packet in json.loads(done.stdout, object_pairs_hook=tuple):
        yield child(child(packet, "_source"), "layers")


def _way(layer: Tree, protocol: str, port: int) -> tuple[Direction, int]:
    source, destination = number(layer, f"{protocol}.srcport") or 0, number(layer, f"{protocol}.dstport") or 0
    return ("up", source) if destination == port else ("down", destination)
