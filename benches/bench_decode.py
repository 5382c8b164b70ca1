# SPDX-License-Identifier: Apache-2.0
"""Speed at which qlogs and NetLogs become tables, in CPU time of one core, and the memory that this takes.

The alternative is orjson, which merely parses the same records into Python objects, in turns.

    python benches/bench_decode.py [--quick]
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import orjson
from _bench import ROOT, Row, cpu_seconds, is_quick, paired_ratio, print_table
from _real_logs import run_trials
from _threads import bench_threads

from quiclab import _core

QLOGS = ROOT / "tests/decoders/qlog"
_MOST_MEMORY_MB = 300


def large_qlog(golden: Path, size_bytes: int) -> bytes:
    """The events of a golden, again and again behind one header."""
    data = gzip.decompress(golden.read_bytes())
    times = max(size_bytes // len(data), 1)
    if data.startswith(b"\x1e"):
        header, *records = data.split(b"\x1e")[1:]
        return b"\x1e" + header + b"".join(b"\x1e" + record for record in records) * times
    document = json.loads(data)
    document["traces"][0]["events"] *= times
    return json.dumps(document).encode()


def is_json(record: bytes) -> bool:
    """Goldens hold logs that were cut, and a NetLog lines that are no records: the alternative need not read those."""
    try:
        orjson.loads(record)
    except orjson.JSONDecodeError:
        return False
    return True


def bench_json(what: str, format_name: str, path: Path, records: Sequence[bytes], rounds: int) -> list[Row]:
    """A log of JSON records against orjson."""
    records = [record for record in records if is_json(record)]

    def parse() -> None:
        for record in records:
            orjson.loads(record)

    decoded_s, parsed_s = [], []
    for _ in range(rounds):
        decoded_s.append(cpu_seconds(lambda: _core.decode(format_name, path)))
        parsed_s.append(cpu_seconds(parse))
    size_mb = path.stat().st_size / 1e6
    speeds, alternative = ([size_mb / each for each in taken] for taken in (decoded_s, parsed_s))
    ratio = paired_ratio(speeds, alternative)
    what = f"{what}, {size_mb:.0f} MB"
    return [Row(what, speeds, "MB/s", "orjson, parse only", ratio, target="1.5 × orjson", reached=ratio >= 1.5)]


def bench_memory(path: Path) -> Row:
    """Peak memory of `quiclab decode` from log to Parquet files."""
    code = (
        "import resource, sys\nfrom quiclab.cli.main import main\n"
        "main(['decode', sys.argv[1], '-o', sys.argv[1] + '-tables', '--force'])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    peak_mb = int(done.stdout.split()[-1]) / 1024
    name = f"peak memory of quiclab decode, qlog of {path.stat().st_size / 1e6:.0f} MB"
    return Row(name, [peak_mb], "MB", target=f"{_MOST_MEMORY_MB} MB", reached=peak_mb < _MOST_MEMORY_MB)


def main() -> None:
    """The tests' goldens, made large, and NetLogs of real trials."""
    quick = is_quick(__doc__)
    rounds, size_bytes = (3, 4_000_000) if quick else (9, 40_000_000)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "log"
        for golden in sorted(QLOGS.glob("*.gz")):
            try:
                data = large_qlog(golden, size_bytes)
            except json.JSONDecodeError:
                continue  # a document that was cut cannot be made longer
            log.write_bytes(data)
            records = [record for record in data.split(b"\x1e") if record]
            what = f"qlog, {golden.name.partition('.')[0]}"
            rows += bench_json(what, "qlog", log, records, rounds)
            if golden.suffixes == [".sqlog", ".gz"]:  # a document is read by one thread
                rows += bench_threads(what, lambda threads: _core.decode("qlog", log, threads=threads), rounds)
        log.write_bytes(
            large_qlog(next(iter(sorted(QLOGS.glob("ngtcp2*.gz")))), 100_000_000 if quick else 1_000_000_000)
        )
        rows.append(bench_memory(log))
        if shutil.which("chromium"):
            trials = run_trials(folder, "5 MB" if quick else "20 MB", client="chromium")
            for protocol, trial in trials.items():
                netlog = next(trial.raw.rglob("*netlog*"))
                events = [line.strip().rstrip(b",") for line in netlog.read_bytes().splitlines()]
                records = [event for event in events if event.startswith(b'{"') and event.endswith(b"}")]
                rows += bench_json(f"NetLog, {protocol}", "netlog", netlog, records, rounds)
    print_table("Decoding qlog and NetLog (CPU time; with two threads wall time)", rows)


if __name__ == "__main__":
    main()
