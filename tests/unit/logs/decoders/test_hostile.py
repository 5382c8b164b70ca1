# SPDX-License-Identifier: Apache-2.0
"""Damaged files: a decoder gives what it can read, or a DecodeError; it never crashes and never hangs."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import struct
from pathlib import Path

import pytest
from by_night import by_night
from decoders import writers

from quiclab.logs.decoders import DECODERS, Context
from quiclab.model.errors import DecodeError
from quiclab.model.tables import TABLES

GOLDENS = Path(__file__).parents[3] / "decoders"
QLOGS = GOLDENS / "qlog"


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


def netlog() -> bytes:
    """The beginning of a real log, and only the constants that it needs."""
    log = json.loads(gzip.decompress((GOLDENS / "netlog/chromium-h3.json.gz").read_bytes()))
    types = {
        name: number
        for name, number in log["constants"]["logEventTypes"].items()
        if name.startswith(("QUIC_S", "HTTP"))
    }
    events = [event for event in log["events"] if event["type"] in types.values() and len(str(event)) < 400][:120]
    constants = {"logEventTypes": types, "logEventPhase": log["constants"]["logEventPhase"], "netError": {}}
    return json.dumps({"constants": constants, "events": events}).encode()


def archive() -> bytes:
    """HAR with two entries."""
    entry = {
        "startedDateTime": "2026-01-01T00:00:00.5+01:00",
        "request": {"method": "GET", "url": "https://a/b"},
        "response": {"status": 200, "bodySize": 5},
        "timings": {"blocked": 1, "dns": -1, "connect": 3, "ssl": 2, "send": 0, "wait": 5, "receive": 6.5},
    }
    pages = [{"startedDateTime": "2026-01-01T00:00:00Z", "id": "p", "pageTimings": {"onLoad": 5}}]
    return json.dumps({"log": {"version": "1.2", "pages": pages, "entries": [entry, entry]}}).encode()


def tcp_info() -> bytes:
    """Two samples of one connection."""
    head = struct.pack("<8sIIQHBB4xQQq8x", b"QLTCPINF", 1, 64, 10_000_000, 443, 4, 1, 2, 0, -5)
    address = struct.pack("!HH", 443, 5000) + bytes([10, 0, 0, 1]) + bytes(12) + bytes([10, 0, 0, 2]) + bytes(12)
    body = bytes([2, 1, 0, 0]) + address + bytes(32) + struct.pack("<HH", 236, 2) + bytes([1, 3]) + bytes(230)
    message = struct.pack("<IHHII", len(body) + 16, 20, 0, 0, 0) + body
    return head + b"".join(struct.pack("<QQII", at, at + 9, len(message), 0) + message for at in (5, 50))


COST = b'{"at_ns": 1, "role": "a", "processes": 1, "threads": 1, "cpu_ns": 1, "resident_bytes": 1}\n'
WAITED = {"at_ns": 9, "role": "a", "since_ns": 1, "waited_ns": 5, "longest_ns": 5, "threads": 1}
DROPPED = {"at_ns": 9, "since_ns": 1, "port": 443, "inode": 7, "drops": 3}
_LIFE = {"life": {"cpu_ns": 5}}
TRIAL = {"trial_id": "a", "attempt": 1, "row": {"seed": 5}, "host": {"cost": {"client": _LIFE}}, "reason": "x" * 9000}


def looks(head: dict[str, int], line: dict[str, int | str]) -> bytes:
    """A log of nine looks."""
    return "".join(json.dumps(each) + "\n" for each in (head, *[line] * 9)).encode()


PLAYER = {
    "quiclab_player": 1, "player": "element", "player_version": "v" * 9000, "start_ns": 1000, "end_ns": 90_000,
    "clock_uncertainty_ns": 6, "ended": "watched",
    "samples": [[1000 * place, place / 2, 0.5, 0.5, 720, 3, 0] for place in range(2, 9)],
    "events": [[2500, "playing", 0, 0.5, None], [7000, "waiting", 1.5, 0.3, None], [8000, "playing", 1.5, 1.3, None]],
}  # fmt: skip
SAMPLES = {
    "har": [archive()],
    "mahimahi_log": [b"# mahimahi mm-link (uplink) [t] > log\n" + b"1 + 1504\n2 # 1504\n2 - 1504 1\n3 d 1 9\n" * 9],
    "mahimahi_trace": [b"".join(b"%d\n" % time for time in range(200))],
    "netlog": [netlog()],
    "packet_log": [writers.packet_log([writers.record("up", index, 5, 9) for index in range(20)])],
    "pcap": [writers.pcap(packets())],
    "pcapng": [capture()],
    "player": [json.dumps(PLAYER).encode()],
    "process_cost": [COST * 9],
    "qlog": [gzip.decompress(path.read_bytes())[:6000] for path in sorted(QLOGS.glob("*.gz"))],
    "run_delay": [looks({"run_delay": 1, "interval_ns": 20_000_000}, WAITED)],
    "ss": [(GOLDENS / "text/ss-tinm-loopback.txt").read_bytes()],
    "tcp_info": [tcp_info()],
    "trace_events": [gzip.decompress((GOLDENS / "page/chromium-trace.json.gz").read_bytes())[:20_000]],
    "trial": [json.dumps(TRIAL).encode()],
    "udp_drops": [looks({"udp_drops": 1, "interval_ns": 20_000_000}, DROPPED)],
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


@pytest.mark.parametrize("files", [200, *by_night(500)])
@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: decoder.format)
def test_damage_is_survived(decoder: object, tmp_path: Path, files: int) -> None:
    """So many damaged files of each sample: tables that fit the schema, or a DecodeError."""
    rng = random.Random(11)
    path = tmp_path / "damaged"
    decoded = 0
    samples = SAMPLES[decoder.format]  # type: ignore[attr-defined]
    for sample in samples:
        for _ in range(files):
            path.write_bytes(damage(sample, rng))
            with contextlib.suppress(DecodeError):
                tables = decoder.decode(path, Context(vantage="client", realtime_minus_monotonic_ns=3)).tables  # type: ignore[attr-defined]
                assert all(frame.schema == TABLES[name].decoder_schema for name, frame in tables.items())
                decoded += 1
    assert decoded > files / 5
