# SPDX-License-Identifier: Apache-2.0
"""Tunnels' contents against tshark's; against known values where its version does not know a tunnel."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import polars as pl
import pytest
from by_night import by_night
from decoders import writers

from quiclab.logs.decoders import Context, FileTables
from quiclab.logs.decoders.pcap import Pcap

REQUEST = b"GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
_SYN = 2
INNER = [
    writers.tcp("up", 0, flags=_SYN),
    writers.tcp("down", 0, ack=1, flags=_SYN),
    writers.tcp("up", 1, REQUEST, ack=1),
    writers.tcp("down", 1, ANSWER, ack=1 + len(REQUEST)),
]
ETHERNET = bytes(range(2, 14)) + b"\x08\0"


def _checksum(header: bytes) -> bytes:
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return (0xFFFF - total).to_bytes(2)


def _ip4(protocol: int, payload: bytes) -> bytes:
    ends = bytes([192, 0, 2, 1, 192, 0, 2, 2])
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0)
    return head[:10] + _checksum(head + ends) + ends + payload


def _ip6(protocol: int, payload: bytes) -> bytes:
    return struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64) + bytes([0xFD] * 32) + payload


def _udp(port: int, payload: bytes) -> bytes:
    return _ip4(17, struct.pack(">HHHH", 50_000, port, 8 + len(payload), 0) + payload)


TUNNELS = {
    "4in4": lambda inner: _ip4(4, inner),
    "4in6": lambda inner: _ip6(4, inner),
    "gre": lambda inner: _ip4(47, b"\0\0\x08\0" + inner),
    "gre key, sequence": lambda inner: _ip4(47, b"\x30\0\x08\0" + bytes(8) + inner),
    "gre ethernet": lambda inner: _ip4(47, b"\x20\0\x65\x58" + bytes(4) + ETHERNET + inner),
    "erspan 1": lambda inner: _ip4(47, b"\0\0\x88\xbe" + ETHERNET + inner),
    "erspan 2": lambda inner: _ip4(47, b"\x10\0\x88\xbe" + bytes(4) + b"\x10\7" + bytes(6) + ETHERNET + inner),
    "erspan 3": lambda inner: _ip4(47, b"\x10\0\x22\xeb" + bytes(4) + b"\x20\7" + bytes(10) + ETHERNET + inner),
    "mpls in gre": lambda inner: _ip4(47, b"\0\0\x88\x47\0\1\1\x40" + inner),
    "vxlan": lambda inner: _udp(4789, b"\x08\0\0\0\0\0\7\0" + ETHERNET + inner),
    "geneve": lambda inner: _udp(6081, b"\2\0\x65\x58\0\0\7\0" + b"\1\2\3\1" + bytes(4) + ETHERNET + inner),
    "gtp-u": lambda inner: _udp(2152, b"\x30\xff" + len(inner).to_bytes(2) + bytes(4) + inner),
    "gtp-u extension": lambda inner: _udp(
        2152, b"\x34\xff" + (len(inner) + 8).to_bytes(2) + bytes(4) + b"\0\0\0\x85\1\0\1\0" + inner
    ),
    "vxlan in gre": lambda inner: _ip4(47, b"\0\0\x08\0" + _udp(4789, b"\x08\0\0\0\0\0\7\0" + ETHERNET + inner)),
}


_NAMES = tuple(TUNNELS)


def _written(name: str, folder: Path) -> Path:
    path = folder / "capture.pcap"
    path.write_bytes(writers.pcap([TUNNELS[name](inner) for inner in INNER]))
    return path


def _decoded(path: Path) -> FileTables:
    return Pcap().decode(path, Context())


@pytest.mark.parametrize("name", TUNNELS)
def test_the_connection_inside_is_decoded(name: str, tmp_path: Path) -> None:
    """One row for each inner packet, and its request, as without the tunnel; what was opened is counted."""
    file = _decoded(_written(name, tmp_path))
    (request,) = file.tables["http_requests"].to_dicts()
    assert (request["method"], request["status"], request["response_body_bytes"]) == ("GET", 200, 3)
    ours = file.tables["ip_packets"]
    assert ours["size_bytes"].to_list() == [len(inner) for inner in INNER]
    assert ours["src"].to_list() == [writers.CLIENT, writers.SERVER] * 2
    assert any(each.name.startswith("tunnel:") and each.count == len(INNER) for each in file.findings)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("name", [*_NAMES[::3], *by_night(*_NAMES[1::3], *_NAMES[2::3])])
def test_tshark_sees_the_same_inside(name: str, tmp_path: Path) -> None:
    """The innermost addresses and lengths of every packet."""
    path = _written(name, tmp_path)
    fields = [option for field in ("ip.src", "ip.len", "tcp.len") for option in ("-e", field)]
    command = ["tshark", "-r", path, "-T", "fields", "-E", "occurrence=l", *fields]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    expected = [(src, int(size), int(payload)) for src, size, payload in (row.split("\t") for row in told)]
    ours = _decoded(path).tables["ip_packets"]
    assert ours.select("src", "size_bytes", "payload_bytes").rows() == expected


def test_a_closed_tunnel_is_named(tmp_path: Path) -> None:
    """ESP: the outer packets have their rows, and how many stayed closed is a loss of data."""
    path = tmp_path / "capture.pcap"
    path.write_bytes(writers.pcap([_ip4(50, bytes(range(40)))] * 3))
    file = _decoded(path)
    assert file.tables["ip_packets"].height == 3
    (finding,) = [each for each in file.findings if each.name == "unread_tunnel:esp"]
    assert (finding.severity, finding.count) == ("data_loss", 3)


def test_tunnels_within_tunnels_end_somewhere(tmp_path: Path) -> None:
    """Beyond four the rest stays closed, and that is told."""
    packet = INNER[2]
    for _ in range(60):
        packet = _ip4(4, packet)
    path = tmp_path / "capture.pcap"
    path.write_bytes(writers.pcap([packet]))
    file = _decoded(path)
    assert file.tables["ip_packets"].height == 1
    assert "unread_tunnel:ip_in_ip" in {each.name for each in file.findings}


def test_a_packet_on_several_interfaces_counts_once(tmp_path: Path) -> None:
    """Cooked captures of all interfaces: the same packet within a moment elsewhere is a copy, on the same it is sent
    again."""
    frames = [
        struct.pack(">HHIHBB8x", 0x0800, 0, interface, 1, kind, 6) + packet
        for packet in INNER
        for interface, kind in ((2, 4), (3, 4))
    ]
    frames.append(frames[-2])
    path = tmp_path / "capture.pcap"
    path.write_bytes(writers.pcap(frames, link_type=276))
    file = _decoded(path)
    assert file.tables["ip_packets"].height == len(INNER) + 1
    again = file.tables["packets"].filter(pl.col("retransmission"))
    assert again.height == 1
    (finding,) = [each for each in file.findings if each.name == "seen_twice"]
    assert finding.count == len(INNER)


@pytest.mark.parametrize("link_type", [113, 276])
@pytest.mark.parametrize(("end", "up"), [("client", 4), ("server", 0), (None, 1)])
def test_cooked_captures_tell_their_end(link_type: int, end: str | None, up: int, tmp_path: Path) -> None:
    """Direction of each packet, from whether the opener's went out or came in."""
    frames = []
    for number, packet in enumerate(INNER):
        kind = up if number % 2 == 0 else {4: 0, 0: 4, 1: 1}[up]
        head = {
            113: struct.pack(">HHHQH", kind, 1, 6, 0, 0x0800),
            276: struct.pack(">HHIHBB8x", 0x0800, 0, 2, 1, kind, 6),
        }
        frames.append(head[link_type] + packet)
    path = tmp_path / "capture.pcap"
    path.write_bytes(writers.pcap(frames, link_type=link_type))
    rows = _decoded(path).tables["ip_packets"]
    assert set(rows["vantage"]) == {end}
    assert rows["direction"].to_list() == ([None] * 4 if end is None else ["up", "down"] * 2)
