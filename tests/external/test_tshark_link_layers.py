# SPDX-License-Identifier: Apache-2.0
"""IP behind every link layer and header that is read, as tshark sees it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from decoders import writers

from quiclab.logs.decoders import Context
from quiclab.logs.decoders.pcap import Pcap

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

MACS = bytes(range(2, 14))
VLAN = b"\x81\0\0\7"
LABEL, LAST_LABEL = b"\0\1\0\x40", b"\0\1\1\x40"
PPPOE_LENGTH = 60
HEADERS = {
    "ppp": (9, b"\xff\3\0\x21"),
    "ppp without address": (9, b"\0\x21"),
    "ppp in hdlc": (50, b"\xff\3\0\x21"),
    "cisco hdlc": (104, b"\x0f\0\x08\0"),
    "vlan": (1, MACS + VLAN + b"\x08\0"),
    "q-in-q": (1, MACS + b"\x88\xa8\0\1" + VLAN + b"\x08\0"),
    "mpls": (1, MACS + b"\x88\x47" + LABEL + LAST_LABEL),
    "pppoe": (1, MACS + b"\x88\x64\x11\0\0\1" + PPPOE_LENGTH.to_bytes(2) + b"\0\x21"),
    "cooked": (113, bytes(14) + b"\x08\0"),
    "raw": (101, b""),
}


@pytest.mark.parametrize("name", HEADERS)
def test_the_same_packets_are_behind_a_header(name: str, tmp_path: Path) -> None:
    """Addresses, sizes and payloads, of UDP that says less than IP too."""
    link_type, header = HEADERS[name]
    short = bytearray(writers.udp("down", 30))
    short[24:26] = (8 + 20).to_bytes(2)
    path = tmp_path / "capture.pcap"
    packets = [writers.udp("up", 30), bytes(short), writers.tcp("up", 7, b"abc", ack=9)]
    path.write_bytes(writers.pcap([header + packet for packet in packets], link_type=link_type))
    fields = [option for field in ("ip.src", "ip.len", "udp.length", "tcp.len") for option in ("-e", field)]
    command = ["tshark", "-r", path, "-T", "fields", *fields]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    expected = [
        (src, int(size), int(udp) - 8 if udp else int(tcp)) for src, size, udp, tcp in (row.split("\t") for row in told)
    ]
    ours = Pcap().decode(path, Context()).tables["ip_packets"]
    assert ours.select("src", "size_bytes", "payload_bytes").rows() == expected
    assert expected[1][2] == 20
