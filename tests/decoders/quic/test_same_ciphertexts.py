# SPDX-License-Identifier: Apache-2.0
"""Captures of two places without keys and without a word about their ends: joined by equal encrypted datagrams."""

from __future__ import annotations

import lzma
import random
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest

from quiclab.logs.decoders import ParquetParts, decode_files, find

HERE = Path(__file__).parent
_ENHANCED_PACKET = 6
_DELAY_NS = 4_000_000
_AWAY_NS = 7_000_000_000
_CLIENT = bytes([10, 77, 0, 1])


def _packets(capture: bytes) -> list[tuple[int, bytes]]:
    found, at = [], 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == _ENHANCED_PACKET:
            _, high, low, captured, _ = struct.unpack_from("<IIIII", capture, at + 8)
            found.append((high << 32 | low, capture[at + 28 : at + 28 + captured]))
        at += length
    return found


def _pcap(packets: Iterable[tuple[int, bytes]]) -> bytes:
    records = [struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 101)]
    for time_ns, packet in sorted(packets):
        records.append(struct.pack("<IIII", *divmod(time_ns, 10**9), len(packet), len(packet)) + packet)
    return b"".join(records)


@pytest.mark.parametrize("names", [("a.pcap", "b.pcap"), ("b.pcap", "a.pcap")])
def test_two_taps_get_one_clock(names: tuple[str, str], tmp_path: Path) -> None:
    """The second stands 4 ms nearer to the server, its clock is 7 s ahead, and it lacks the handshake and some packets:
    the offset is right within the delay."""
    draw = random.Random(7)
    packets = _packets(lzma.decompress((HERE / "chromium-client.pcapng.xz").read_bytes()))
    first, second = (tmp_path / name for name in names)
    first.write_bytes(_pcap(packets))
    beyond = [
        (time_ns + _AWAY_NS + (_DELAY_NS if packet[12:16] == packets[0][1][12:16] else -_DELAY_NS), packet)
        for time_ns, packet in packets[12:]
        if draw.random() < 0.7
    ]
    second.write_bytes(_pcap(beyond))
    sink = ParquetParts(tmp_path / "tables")
    account = decode_files(find((path, path.name) for path in (first, second)), sink)
    sources = {each.name: each for each in account.sources}
    apart = {name: each.placement.offset_ns for name, each in sources.items() if each.placement is not None}
    assert apart[first.name] - apart[second.name] == pytest.approx(_AWAY_NS, abs=_DELAY_NS)
    joined = [each.placement for each in account.sources if each.placed_by == "joined_packets"]
    assert [each.joined_packets for each in joined if each] == [len(beyond)]
    assert all(each.uncertainty_ns <= _DELAY_NS + 10 for each in joined if each)
