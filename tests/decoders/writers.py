# SPDX-License-Identifier: Apache-2.0
"""Packet logs, captures and qlogs written by hand, for tests that need to know every byte."""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import dataclass, field
from typing import Any

CLIENT, SERVER = "10.77.0.1", "10.77.0.2"
CLIENT_PORT, SERVER_PORT = 40000, 443
REALTIME_MINUS_MONOTONIC_NS = 1_700_000_000_123_456_789


def packet_log(records: list[bytes], zero_ns: int = 1) -> bytes:
    """A packet log of version 1."""
    header = struct.pack("<8sIIQq", b"QLPKTLOG", 1, 48, zero_ns, REALTIME_MINUS_MONOTONIC_NS)
    return header.ljust(64, b"\0") + b"".join(records)


def record(
    direction: str,
    index: int,
    arrival_ns: int,
    due_ns: int = 0,
    *,
    lateness_ns: int = 0,
    size_bytes: int = 1500,
    queue: tuple[int, int] = (0, 0),
    action: int = 0,
    reason: int = 0,
    flags: int = 0,
    service_ns: int = 0,
) -> bytes:
    """One record; `queue` is (bytes, packets)."""
    numbers = (arrival_ns, due_ns, lateness_ns, queue[0], index, 0, 7, size_bytes, queue[1])
    codes = (("up", "down").index(direction), action, reason, flags)
    return struct.pack("<QQiIIIIHHBBBBI", *numbers, *codes, service_ns)


@dataclass
class Capture:
    """A capture of one end as the link writes it: raw IP, nanoseconds, packet ids."""

    end: str
    blocks: list[bytes] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"up": 0, "down": 0})

    def add(self, direction: str, time_ns: int, ip: bytes, *, index: int | None = None, dropped: str = "") -> int:
        """Append a packet; its index is the next of its direction unless it is given. Returns the index."""
        if index is None:
            index = self.counts[direction]
            self.counts[direction] += 1
        inbound = (direction == "down") == (self.end == "client")
        options = _option(2, struct.pack("<I", 1 if inbound else 2))
        options += _option(5, struct.pack("<Q", (direction == "down") << 32 | index))
        if dropped:
            options += _option(1, f"dropped: {dropped}".encode())
        time_ns += REALTIME_MINUS_MONOTONIC_NS
        head = struct.pack("<IIIII", 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(ip), len(ip))
        self.blocks.append(_block(6, head + _pad(ip) + options + b"\0\0\0\0"))
        return index

    def bytes(self) -> bytes:
        """The file."""
        comment = _option(1, f"quiclab realtime_minus_monotonic_ns={REALTIME_MINUS_MONOTONIC_NS}".encode())
        section = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
        interface = _block(1, struct.pack("<HHI", 101, 0, 0) + _option(9, b"\x09") + comment + b"\0\0\0\0")
        return b"".join([section, interface, *self.blocks])


def pcap(packets: list[bytes], *, big_endian: bool = False, nanoseconds: bool = True, link_type: int = 101) -> bytes:
    """A classic capture, of raw IP unless another link type is given, one packet a microsecond."""
    order = ">" if big_endian else "<"
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    unit = 1000 if nanoseconds else 1
    parts = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 1 << 18, link_type)]
    for number, packet in enumerate(packets):
        parts.append(struct.pack(f"{order}IIII", 1_700_000_000, number * unit, len(packet), len(packet)) + packet)
    return b"".join(parts)


def tcp(
    direction: str,
    seq: int,
    payload: bytes = b"",
    *,
    ack: int | None = None,
    flags: int = 0,
    sack: tuple[int, ...] = (),
    port: int = CLIENT_PORT,
) -> bytes:
    """An IPv4 packet with a TCP segment; the ACK flag comes with `ack`. `port` is the client's."""
    options = b""
    if sack:
        options = (
            b"\1\1" + bytes([5, 2 + 4 * len(sack)]) + struct.pack(f">{len(sack)}I", *(edge % 2**32 for edge in sack))
        )
    flags |= 0x10 if ack is not None else 0
    offset = (20 + len(options)) // 4
    segment = struct.pack(
        ">HHIIHHHH", *_ports(direction, port), seq % 2**32, (ack or 0) % 2**32, offset << 12 | flags, 65535, 0, 0
    )
    return _ipv4(direction, 6, segment + options + payload)


def udp(direction: str, payload_bytes: int) -> bytes:
    """An IPv4 packet with a UDP datagram of zeros."""
    return _ipv4(direction, 17, struct.pack(">HHHH", *_ports(direction), 8 + payload_bytes, 0) + bytes(payload_bytes))


def tls(kind: int, length: int) -> bytes:
    """A TLS record of `length` bytes, header included."""
    return struct.pack(">BHH", kind, 0x0303, length - 5) + bytes(length - 5)


@dataclass
class Qlog:
    """A 0.3 JSON-SEQ log without an epoch, as ngtcp2 writes it."""

    vantage: str
    records: list[dict[str, Any]] = field(default_factory=list)

    def packet(
        self, event: str, time_ms: float, number: int, length: int, frames: list[dict[str, Any]], kind: str = "1RTT"
    ) -> None:
        """Append a packet event."""
        data = {"frames": frames, "header": {"packet_type": kind, "packet_number": number}, "raw": {"length": length}}
        self.records.append({"time": time_ms, "name": f"transport:packet_{event}", "data": data})

    def bytes(self) -> bytes:
        """The file."""
        fields = {"time_format": "relative", "reference_time": 0, "group_id": "c0ffee"}
        trace = {"vantage_point": {"type": self.vantage}, "common_fields": fields}
        header = {"qlog_format": "JSON-SEQ", "qlog_version": "0.3", "trace": trace}
        return b"".join(b"\x1e" + json.dumps(each).encode() + b"\n" for each in (header, *self.records))


def stream(offset: int, length: int, *, fin: bool = False, stream_id: int = 0) -> dict[str, Any]:
    """A STREAM frame."""
    return {"frame_type": "stream", "stream_id": stream_id, "offset": offset, "length": length, "fin": fin}


def ack(*ranges: tuple[int, int]) -> dict[str, Any]:
    """An ACK frame."""
    return {"frame_type": "ack", "ack_delay": 0, "acked_ranges": [list(each) for each in ranges]}


def _ports(direction: str, client: int = CLIENT_PORT) -> tuple[int, int]:
    return (client, SERVER_PORT) if direction == "up" else (SERVER_PORT, client)


def _ipv4(direction: str, protocol: int, body: bytes) -> bytes:
    src, dst = (CLIENT, SERVER) if direction == "up" else (SERVER, CLIENT)
    addresses = socket.inet_aton(src) + socket.inet_aton(dst)
    head = struct.pack(">BBHHHBB", 0x45, 0, 20 + len(body), 0, 0, 64, protocol)
    if protocol == 6:  # Its checksum is left to do, as between two namespaces.
        body = body[:16] + _sum(addresses + struct.pack(">HH", 6, len(body))).to_bytes(2) + body[18:]
    return head + (0xFFFF - _sum(head + addresses)).to_bytes(2) + addresses + body


def _sum(data: bytes) -> int:
    """Of 16-bit words (RFC 1071)."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _pad(value)


def _block(kind: int, body: bytes) -> bytes:
    total = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + total + body + total
