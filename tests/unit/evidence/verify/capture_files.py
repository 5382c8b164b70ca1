# SPDX-License-Identifier: Apache-2.0
"""Reads, changes and writes small captures, so that tests can damage, drop and reorder the packets of real ones."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from quiclab.evidence.verify.connections import captured, connections
from quiclab.evidence.verify.handshake import Handshake, read_handshake
from quiclab.evidence.verify.wire import read_wire
from quiclab.logs.decoders import decode_trial

CAPTURES = Path(__file__).parent / "captures"
ALL_CAPTURES = sorted(path.stem for path in CAPTURES.glob("*.pcapng"))
PORT = 8443
"""Of the server in all of them."""


def write_capture(
    path: Path, packets: Iterable[bytes], link_type: int = 101, order: str = "<", comment: str = ""
) -> Path:
    """Write IP packets one after the other; `comment` goes with each packet."""
    option = struct.pack(order + "HH", 1, len(comment)) + _padded(comment.encode()) + bytes(4) if comment else b""
    blocks = [
        _block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)),
        _block(order, 1, struct.pack(order + "HHI", link_type, 0, 0)),
    ]
    for time, packet in enumerate(packets):
        fields = struct.pack(order + "5I", 0, 0, time, len(packet), len(packet))
        blocks.append(_block(order, 6, fields + _padded(packet) + option))
    path.write_bytes(b"".join(blocks))
    return path


def _block(order: str, kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return struct.pack(order + "II", kind, length) + body + struct.pack(order + "I", length)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def rows_of(capture: Path) -> dict[str, pl.DataFrame]:
    """What the tables of a trial hold that has this capture at its client's end, and no keys."""
    with TemporaryDirectory() as name:
        raw = Path(name) / "raw"
        raw.mkdir()
        shutil.copy(capture, raw / "client.pcapng")
        return captured(decode_trial(Path(name)).tables)


def handshake_of(capture: Path, port: int = PORT) -> Handshake:
    """The handshake of the client of such a trial."""
    rows = rows_of(capture)
    return read_handshake(read_wire(rows["ip_packets"], port), connections(rows))


def packets_of(name: str) -> list[bytes]:
    """All packets of a capture."""
    return packets_in(CAPTURES / f"{name}.pcapng")


def packets_in(capture: Path) -> list[bytes]:
    """Bytes of all packets in a capture that was written on a little-endian machine."""
    data, at, packets = capture.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            (captured_bytes,) = struct.unpack_from("<I", data, at + 20)
            packets.append(data[at + 28 : at + 28 + captured_bytes])
        at += length
    return packets


def from_client(packet: bytes) -> bool:
    """Whether it goes to the server."""
    header_bytes = (packet[0] & 15) * 4 if packet[0] >> 4 == 4 else 40
    return int.from_bytes(packet[header_bytes + 2 : header_bytes + 4]) == PORT


def cut_tcp(packet: bytes, start: int, end: int) -> bytes:
    """The segment with only those bytes of its payload (52 bytes of headers: IPv4, TCP with timestamps)."""
    sequence = int.from_bytes(packet[24:28]) + start
    payload = packet[52:][start:end]
    headers = packet[:2] + (52 + len(payload)).to_bytes(2) + packet[4:24] + sequence.to_bytes(4) + packet[28:52]
    return leave_checksum(headers + payload)


def leave_checksum(packet: bytes) -> bytes:
    """An IPv4 TCP segment as it stands before the network card: the field is the sum of the pseudo-header."""
    if packet[0] != 0x45 or packet[9] != 6:
        return packet
    total = sum(int.from_bytes(packet[at : at + 2]) for at in range(12, 20, 2)) + 6 + len(packet) - 20
    total = (total & 0xFFFF) + (total >> 16)
    return packet[:36] + ((total & 0xFFFF) + (total >> 16)).to_bytes(2) + packet[38:]


def cut_payload(capture: Path, target: Path, kept: int, whole: int = 0) -> Path:
    """The same packets; of all but the first `whole` only `kept` bytes."""
    data, out, at, packets = capture.read_bytes(), bytearray(), 0, 0
    while at < len(data):
        kind, length = (int.from_bytes(data[at + i : at + i + 4], "little") for i in (0, 4))
        block = data[at : at + length]
        captured = int.from_bytes(block[20:24], "little")
        packets += kind == 6
        if kind == 6 and captured > kept and packets > whole:
            body = block[8:20] + kept.to_bytes(4, "little") + block[24:28] + block[28 : 28 + kept]
            size = (12 + len(body)).to_bytes(4, "little")
            block = block[:4] + size + body + size
        out += block
        at += length
    target.write_bytes(out)
    return target
