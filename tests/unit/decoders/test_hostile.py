# SPDX-License-Identifier: Apache-2.0
"""Damaged files: a decoder gives what it can read, or a DecodeError; it never crashes and never hangs."""

from __future__ import annotations

import contextlib
import gzip
import random
from pathlib import Path

import pytest
from decoders import writers

from quiclab.decoders import DECODERS, Context
from quiclab.errors import DecodeError
from quiclab.tables import TABLES

QLOGS = Path(__file__).parents[2] / "decoders/qlog"


def capture() -> bytes:
    """Handshake, data, SACK, and an IPv6 packet that is all extension headers."""
    made = writers.Capture("client")
    made.add("up", 1, writers.tcp("up", 1, flags=2))
    made.add("down", 2, writers.tcp("down", 1, writers.tls(23, 600), ack=2, sack=(7, 8, 9, 10)))
    made.add("up", 3, writers.udp("up", 900), dropped="queue full")
    made.add("up", 4, bytes([0x60, 0, 0, 0, 0, 200, 0, 64]) + bytes(32) + bytes([60, 1] + [0] * 14) * 12)
    return made.bytes()


def packets() -> list[bytes]:
    """A TLS ClientHello that is cut, sent again out of order, and a window that closes."""
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200))
    made = [writers.tcp("up", 1, flags=2), writers.tcp("down", 9, ack=2, flags=2), writers.tcp("up", 2, hello, ack=10)]
    return [*made, writers.tcp("up", 2, hello[:50], ack=10), writers.tcp("down", 10, ack=100, sack=(2, 60, 150, 160))]


SAMPLES = {
    "packet_log": [writers.packet_log([writers.record("up", index, 5, 9) for index in range(20)])],
    "pcap": [writers.pcap(packets())],
    "pcapng": [capture()],
    "qlog": [gzip.decompress(path.read_bytes())[:6000] for path in sorted(QLOGS.glob("*.gz"))],
}


def damage(data: bytes, rng: random.Random) -> bytes:
    """Flip some bytes, then perhaps cut, or repeat a part."""
    damaged = bytearray(data)
    for _ in range(rng.randrange(1, 8)):
        damaged[rng.randrange(len(damaged))] = rng.choice([0, 1, 0x7F, 0xFF, 0x1E, *b'"{[}],:\\9e', rng.randrange(256)])
    if rng.random() < 0.3:
        del damaged[rng.randrange(len(damaged)) :]
    if rng.random() < 0.3:
        at = rng.randrange(len(damaged) + 1)
        damaged[at:at] = damaged[at : at + rng.randrange(400)]
    return bytes(damaged)


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: decoder.format)
def test_damage_is_survived(decoder: object, tmp_path: Path) -> None:
    """Five hundred damaged files per sample: tables that fit the schema, or a DecodeError."""
    rng = random.Random(11)
    path = tmp_path / "damaged"
    decoded = 0
    for sample in SAMPLES[decoder.format]:  # type: ignore[attr-defined]
        for _ in range(500):
            path.write_bytes(damage(sample, rng))
            with contextlib.suppress(DecodeError):
                tables = decoder.decode(path, Context(vantage="client", realtime_minus_monotonic_ns=3)).tables  # type: ignore[attr-defined]
                assert all(frame.schema == TABLES[name].decoder_schema for name, frame in tables.items())
                decoded += 1
    assert decoded > 100
