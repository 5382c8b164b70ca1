# SPDX-License-Identifier: Apache-2.0
"""Real captures of QUIC as a network card with segmentation or receive offload shows them: several datagrams of one
size in one record."""

from __future__ import annotations

import lzma
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from quiclab.logs.decoders import Context, FileTables, decoder_of

HERE = Path(__file__).parent
GOLDENS = sorted(path.name.removesuffix("-client.pcapng.xz") for path in HERE.glob("*.pcapng.xz"))
_ENHANCED_PACKET = 6
_MOST_SEGMENTS = 10
_UDP = 17
_SAME = ("connection", "event", "direction", "packet_type", "packet_number", "length_bytes")


def _datagrams(capture: bytes) -> Iterator[tuple[int, bytes]]:
    """Time in ns and IPv4 packet of each record."""
    at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == _ENHANCED_PACKET:
            _, high, low, captured, _ = struct.unpack_from("<IIIII", capture, at + 8)
            yield high << 32 | low, capture[at + 28 : at + 28 + captured]
        at += length


def _offloaded(capture: bytes) -> tuple[bytes, int]:
    """A classic capture in which neighbours of one flow and one size are one record; also how many are gone."""
    merged: list[tuple[int, bytes, int, int]] = []
    gone = 0
    for time_ns, packet in _datagrams(capture):
        length = len(packet) - 28
        if merged and packet[9] == _UDP and packet[12:28][:12] == merged[-1][1][12:24]:
            before_ns, before, size, count = merged[-1]
            is_full = len(before) - 28 == size * count
            if is_full and length <= size and count < _MOST_SEGMENTS:
                merged[-1] = (before_ns, before + packet[28:], size, count + 1)
                gone += 1
                continue
        merged.append((time_ns, packet, length, 1))
    records = [struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 101)]
    for time_ns, packet, _, _ in merged:
        # A super-packet has the lengths of all that it holds.
        whole = packet[:2] + len(packet).to_bytes(2) + packet[4:24] + (len(packet) - 20).to_bytes(2) + packet[26:]
        records.append(struct.pack("<IIII", *divmod(time_ns, 10**9), len(whole), len(whole)) + whole)
    return b"".join(records), gone


def _decoded(path: Path, *key_logs: Path) -> FileTables:
    decoder = decoder_of(path)
    assert decoder is not None
    return decoder.decode(path, Context(vantage="client", key_logs=key_logs))


@pytest.mark.parametrize("name", [name for name in GOLDENS if name != "migration"])
@pytest.mark.parametrize("has_keys", [True, False])
def test_packets_are_those_of_the_capture_before_offloading(name: str, has_keys: bool, tmp_path: Path) -> None:
    """Each packet counts once, with its own length, number and frames; without keys by the connection id alone."""
    keys = (HERE / f"{name}.keys",) if has_keys else ()
    content = lzma.decompress((HERE / f"{name}-client.pcapng.xz").read_bytes())
    plain, offloaded = tmp_path / "plain.pcapng", tmp_path / "offloaded.pcap"
    plain.write_bytes(content)
    merged, gone = _offloaded(content)
    offloaded.write_bytes(merged)
    assert gone
    before, after = _decoded(plain, *keys), _decoded(offloaded, *keys)
    if not has_keys and any(finding.name == "unsplit_datagram" for finding in after.findings):
        return  # The client has no connection id: nothing shows the borders, and that is told.
    rows, expected = (file.tables["packets"].select(_SAME) for file in (after, before))
    assert_frame_equal(rows, expected)
    if has_keys:
        frames = [file.tables["frames"].drop("time_ns") for file in (after, before)]
        assert_frame_equal(*frames)
    assert not [finding for finding in after.findings if finding.name in ("undecryptable_packet", "wrong_keys")]
