# SPDX-License-Identifier: Apache-2.0
"""HTTP as its frames show it: the version in use, the SETTINGS of both sides, and response header fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import pylsqpack

from quiclab.verify._cursor import Cursor, MalformedError
from quiclab.verify._ip import Sender
from quiclab.verify._opened import HTTP2_HEADERS, HTTP2_SETTINGS, Opened, http2_type
from quiclab.verify._reassembly import Reassembly
from quiclab.verify._tshark import Tree, children, descendants, number, text, texts

# Names as in the IANA registries "HTTP/2 Settings" and "HTTP/3 Settings", in lower case.
_HTTP2_SETTINGS = {
    0x1: "header_table_size",
    0x2: "enable_push",
    0x3: "max_concurrent_streams",
    0x4: "initial_window_size",
    0x5: "max_frame_size",
    0x6: "max_header_list_size",
    0x8: "enable_connect_protocol",
    0x9: "no_rfc7540_priorities",
}
_HTTP3_SETTINGS = {
    0x1: "qpack_max_table_capacity",
    0x6: "max_field_section_size",
    0x7: "qpack_blocked_streams",
    0x8: "enable_connect_protocol",
    0x33: "h3_datagram",
}
_HEADERS, _SETTINGS = 0x1, 0x4
_CONTROL_STREAM, _QPACK_ENCODER_STREAM = 0x00, 0x02

Settings = dict[str, int]


@dataclass(frozen=True)
class HttpSeen:
    """None means that the frames do not tell."""

    version: str | None = None
    """Of the first response, for example `HTTP/3`."""
    settings_client: Settings | None = None
    settings_server: Settings | None = None
    alt_svc: str | None = None
    """The field's value in the first response."""
    headers_read: bool = False
    """Whether the header fields of the first response could be read."""


def read_http(packets: Iterable[Opened]) -> HttpSeen:
    """The HTTP of one connection."""
    seen = list(packets)
    if any(packet.quic for packet in seen):
        return _http3(seen)
    if any(packet.http2 for packet in seen):
        return _http2(seen)
    response = next((packet.http1 for packet in seen if packet.http1 and packet.sender == "server"), None)
    if response is None:
        return HttpSeen()
    fields = dict(_field(line) for line in texts(response, "http.response.line"))
    return HttpSeen("HTTP/1.1", alt_svc=fields.get("alt-svc"), headers_read=True)


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()


def _http2(packets: list[Opened]) -> HttpSeen:
    settings: dict[Sender, Settings] = {}
    response: Tree | None = None
    for packet in packets:
        for frame in packet.http2:
            kind = http2_type(frame)
            if kind == HTTP2_SETTINGS and not number(frame, "http2.flags.ack.settings"):
                settings.setdefault(packet.sender, {}).update(_http2_settings(frame))
            elif kind == HTTP2_HEADERS and packet.sender == "server":
                response = response or frame
    fields = {
        text(header, "http2.header.name"): text(header, "http2.header.value")
        for header in descendants(response or (), "http2.header")
    }
    return HttpSeen(
        "HTTP/2" if response else None,
        settings.get("client"),
        settings.get("server"),
        fields.get("alt-svc"),
        headers_read=":status" in fields,
    )


def _http2_settings(frame: Tree) -> Iterable[tuple[str, int]]:
    for setting in children(frame, "http2.settings"):
        kind = number(setting, "http2.settings.id") or 0
        value = next((value for name, value in setting if name != "http2.settings.id"), "0")
        yield _HTTP2_SETTINGS.get(kind, f"0x{kind:x}"), int(value, 0)


def _http3(packets: list[Opened]) -> HttpSeen:
    streams: defaultdict[tuple[Sender, int], Reassembly] = defaultdict(Reassembly)
    for packet in packets:
        for _, frame in packet.frames():
            if frame.stream_id is not None:
                streams[packet.sender, frame.stream_id].add(frame.offset, frame.data)
    settings: dict[Sender, Settings] = {}
    encoder = b""
    for (sender, stream_id), stream in streams.items():
        if stream_id & 2 and stream.front:  # unidirectional: its type comes first (RFC 9114 section 6.2)
            rest = Cursor(bytes(stream.front), "an HTTP/3 stream")
            kind = _whole(rest)
            if kind == _CONTROL_STREAM and (found := _http3_settings(rest)) is not None:
                settings[sender] = found
            elif kind == _QPACK_ENCODER_STREAM and sender == "server":
                encoder = rest.rest()
    block = _response(streams)
    fields = {} if block is None else _decode(block, encoder, settings.get("client", {}))
    return HttpSeen(
        None if block is None else "HTTP/3",
        settings.get("client"),
        settings.get("server"),
        fields.get(b"alt-svc", b"").decode(errors="replace") or None,
        headers_read=b":status" in fields,
    )


def _whole(cursor: Cursor) -> int | None:
    """A variable-length integer, or None where the stream ends in it."""
    try:
        return cursor.varint()
    except MalformedError:
        return None


def _frames(cursor: Cursor) -> Iterable[tuple[int, bytes]]:
    """HTTP/3 frames as far as they are whole (RFC 9114 section 7.1)."""
    try:
        while cursor:
            kind = cursor.varint()
            yield kind, cursor.take(cursor.varint())
    except MalformedError:
        return


def _http3_settings(control: Cursor) -> Settings | None:
    """The first frame of the control stream (RFC 9114 section 7.2.4); None if it is not there yet."""
    kind, payload = next(iter(_frames(control)), (None, b""))
    if kind != _SETTINGS:
        return None
    found: Settings = {}
    pairs = Cursor(payload, "SETTINGS")
    while pairs:
        setting, value = _whole(pairs), _whole(pairs)
        if setting is None or value is None:
            return None
        if setting % 0x1F != 0x21 % 0x1F:  # Those are reserved, and drawn anew for each connection.
            found[_HTTP3_SETTINGS.get(setting, f"0x{setting:x}")] = value
    return found


def _response(streams: dict[tuple[Sender, int], Reassembly]) -> bytes | None:
    """The first field section that the server sent on a request stream."""
    for (sender, stream_id), stream in streams.items():
        if sender == "server" and stream_id % 4 == 0:
            for kind, payload in _frames(Cursor(bytes(stream.front), "a request stream")):
                if kind == _HEADERS:
                    return payload
    return None


def _decode(block: bytes, encoder: bytes, client: Settings) -> dict[bytes, bytes]:
    """Header fields of a QPACK field section (RFC 9204); none where a part of the dynamic table was not seen."""
    decoder = pylsqpack.Decoder(client.get("qpack_max_table_capacity", 0), client.get("qpack_blocked_streams", 0))
    try:
        decoder.feed_encoder(encoder)
        return dict(decoder.feed_header(0, block)[1])
    except (pylsqpack.DecompressionFailed, pylsqpack.EncoderStreamError, pylsqpack.StreamBlocked):
        return {}
