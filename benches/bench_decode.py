# SPDX-License-Identifier: Apache-2.0
"""How fast logs become tables, as ratios within one run: `python benches/bench_decode.py`.

qlog: MB/s, and how much longer orjson takes merely to parse the same records into Python objects.
Packet log and pcapng: packets per second, and memory of the columns per packet.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson

from quiclab import _core

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from decoders import writers  # noqa: E402 - the tests' writers make the large inputs

QLOGS = ROOT / "tests/decoders/qlog"
ROUNDS = 7
QLOG_BYTES = 40_000_000
PACKETS = 300_000


def seconds(*works: Callable[[], object]) -> list[float]:
    """Median CPU time of each, taken in turns so that a noisy machine slows all alike."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, taken in zip(works, times, strict=True):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
    return [statistics.median(taken) for taken in times]


def large_qlog(golden: Path) -> bytes:
    """The records of a golden, again and again behind one header."""
    data = gzip.decompress(golden.read_bytes())
    if not data.startswith(b"\x1e"):
        # One document: its events again and again.
        document = json.loads(data)
        events = document["traces"][0]["events"]
        document["traces"][0]["events"] = events * (QLOG_BYTES // len(data))
        return json.dumps(document).encode()
    header, *records = data.split(b"\x1e")[1:]
    body = b"".join(b"\x1e" + record for record in records)
    return b"\x1e" + header + body * (QLOG_BYTES // len(body))


def bench_qlog(golden: Path, folder: Path) -> dict[str, object]:
    """One dialect."""
    data = large_qlog(golden)
    path = folder / "log"
    path.write_bytes(data)
    records = [record for record in data.split(b"\x1e") if record]

    def parse() -> None:
        for record in records:
            orjson.loads(record)

    decode_s, parse_s = seconds(lambda: _core.decode_qlog(path, 0), parse)
    packets = len(_core.decode_qlog(path, 0).tables[0])
    columns = sum(table.size_bytes for table in _core.decode_qlog(path, 0).tables)
    return {
        "what": golden.name,
        "megabytes": round(len(data) / 1e6, 1),
        "mb_per_s": round(len(data) / 1e6 / decode_s),
        "orjson_mb_per_s": round(len(data) / 1e6 / parse_s),
        "times_orjson": round(parse_s / decode_s, 2),
        "column_bytes_per_packet": round(columns / packets),
    }


def bench_packets(what: str, path: Path, decode: Callable[[Path], _core.Decoded]) -> dict[str, object]:
    """A packet log or a capture."""
    (decode_s,) = seconds(lambda: decode(path))
    table = decode(path).tables[0]
    return {
        "what": what,
        "megabytes": round(path.stat().st_size / 1e6, 1),
        "mb_per_s": round(path.stat().st_size / 1e6 / decode_s),
        "packets_per_s": round(len(table) / decode_s),
        "ns_per_packet": round(1e9 * decode_s / len(table)),
        "column_bytes_per_packet": round(table.size_bytes / len(table)),
    }


def main() -> None:
    """Print one line per format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    as_json = parser.parse_args().json
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = [bench_qlog(golden, folder) for golden in sorted(QLOGS.glob("*.gz"))]
        log = folder / "link.qplog"
        log.write_bytes(writers.packet_log([writers.record("down", 1, 10**12, 10**12 + 10**7)] * PACKETS))
        results.append(bench_packets("packet log", log, _core.decode_packet_log))
        capture = writers.Capture("client")
        capture.add("down", 5, writers.tcp("down", 9, bytes(1400), ack=7))
        capture.add("up", 6, writers.tcp("up", 7, ack=1409, sack=(2000, 3000)))
        capture.blocks *= PACKETS // 2
        pcapng = folder / "client.pcapng"
        pcapng.write_bytes(capture.bytes())
        results.append(bench_packets("pcapng, TCP", pcapng, lambda path: _core.decode_pcapng(path, "client")))
    for result in results:
        print(json.dumps(result) if as_json else "  ".join(f"{key}={value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
