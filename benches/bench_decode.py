# SPDX-License-Identifier: Apache-2.0
"""How fast logs become tables, in CPU time, and what the tables hold in memory per packet.

qlog is compared with orjson, which merely parses the same records into Python objects, in turns.

    python benches/bench_decode.py [--quick]
"""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson
from _bench import ROOT, Row, is_quick, paired_ratio, print_table
from decoders import writers

from quiclab import _core

QLOGS = ROOT / "tests/decoders/qlog"


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of this process: other processes' load does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def large_qlog(golden: Path, size_bytes: int) -> bytes:
    """The events of a golden, again and again behind one header."""
    data = gzip.decompress(golden.read_bytes())
    times = size_bytes // len(data)
    if data.startswith(b"\x1e"):
        header, *records = data.split(b"\x1e")[1:]
        return b"\x1e" + header + b"".join(b"\x1e" + record for record in records) * times
    document = json.loads(data)
    document["traces"][0]["events"] *= times
    return json.dumps(document).encode()


def bench_qlog(golden: Path, folder: Path, rounds: int, size_bytes: int) -> list[Row]:
    """One dialect against orjson."""
    data = large_qlog(golden, size_bytes)
    path = folder / "log"
    path.write_bytes(data)
    records = [record for record in data.split(b"\x1e") if record]

    def parse() -> None:
        for record in records:
            orjson.loads(record)

    decoded_s, parsed_s = [], []
    for _ in range(rounds):
        decoded_s.append(cpu_seconds(lambda: _core.decode("qlog", path, None, 0)))
        parsed_s.append(cpu_seconds(parse))
    speeds, alternative = ([len(data) / 1e6 / each for each in taken] for taken in (decoded_s, parsed_s))
    tables = _core.decode("qlog", path, None, 0).tables
    columns = sum(table.size_bytes for table in tables) / len(tables[0])
    name = golden.name.partition("-100kb")[0]
    return [
        Row(f"qlog, {name}", speeds, "MB/s", "orjson, parse only", paired_ratio(speeds, alternative)),
        Row("  its columns", [columns], "bytes/packet"),
    ]


def bench_packets(what: str, path: Path, rounds: int, decode: Callable[[Path], _core.Decoded]) -> list[Row]:
    """A packet log or a capture."""
    taken = [cpu_seconds(lambda: decode(path)) for _ in range(rounds)]
    table = decode(path).tables[0]
    return [
        Row(what, [len(table) / 1e6 / each for each in taken], "million packets/s"),
        Row("  its size", [path.stat().st_size / 1e6 / each for each in taken], "MB/s"),
        Row("  its columns", [table.size_bytes / len(table)], "bytes/packet"),
    ]


def main() -> None:
    """Write large logs with the tests' writers, then decode them."""
    quick = is_quick(__doc__)
    rounds, size_bytes, packets = (3, 4_000_000, 30_000) if quick else (9, 40_000_000, 300_000)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for golden in sorted(QLOGS.glob("*.gz")):
            rows += bench_qlog(golden, folder, rounds, size_bytes)
        log = folder / "link.qplog"
        log.write_bytes(writers.packet_log([writers.record("down", 1, 10**12, 10**12 + 10**7)] * packets))
        rows += bench_packets("packet log", log, rounds, lambda path: _core.decode("packet_log", path))
        capture = writers.Capture("client")
        capture.add("down", 5, writers.tcp("down", 9, bytes(1400), ack=7))
        capture.add("up", 6, writers.tcp("up", 7, ack=1409, sack=(2000, 3000)))
        capture.blocks *= packets // 2
        pcapng = folder / "client.pcapng"
        pcapng.write_bytes(capture.bytes())
        rows += bench_packets(
            "pcapng, data and ACKs", pcapng, rounds, lambda path: _core.decode("pcapng", path, "client")
        )
    print_table("Decoding (CPU time)", rows)


if __name__ == "__main__":
    main()
