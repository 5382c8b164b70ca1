# SPDX-License-Identifier: Apache-2.0
"""Speed at which captures of real trials and packet logs become tables, in CPU time of one core.

What a second thread is worth is told by wall times, against one thread (`_threads.py`).

The alternative is tshark, which prints fields of the same file with the same key log, in turns: those that our tables
have, and as few as a user would ask for. tshark's start is in its time.

    python benches/bench_captures.py [--quick]
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from _bench import Row, child_cpu_seconds, cpu_seconds, is_quick, paired_ratio, print_table
from _real_logs import Trial, run_trials
from _threads import bench_threads
from decoders import writers

from quiclab import _core

_HEADERS = (
    *("frame.time_epoch", "ip.src", "ip.dst", "ip.len", "ip.dsfield.ecn", "udp.srcport", "udp.dstport", "udp.length"),
    *("tcp.srcport", "tcp.dstport", "tcp.len", "tcp.flags", "tcp.seq_raw", "tcp.ack_raw", "tcp.options.sack_le"),
)
_FEW_HEADERS = ("frame.time_epoch", "ip.len", "udp.srcport", "tcp.srcport")
_FEW_FRAMES = {"h2": ("tcp.stream", "http2.type"), "h3": ("quic.packet_number", "http3.frame_type")}
_FRAMES = {
    "h2": ("tcp.stream", "http2.type", "http2.streamid", "http2.length", "http2.headers.path"),
    "h3": ("quic.packet_number", "quic.frame_type", "quic.stream.stream_id", "quic.stream.offset", "http3.frame_type"),
}


def bench_packets(what: str, path: Path, rounds: int, format_name: str) -> list[Row]:
    """A packet log or a capture by itself."""
    taken = [cpu_seconds(lambda: _core.decode(format_name, path, "client")) for _ in range(rounds)]
    tables = _core.decode(format_name, path, "client").tables
    packets = len(tables[0])
    return [
        Row(what, [packets / 1e6 / each for each in taken], "million packets/s"),
        Row("  its size", [path.stat().st_size / 1e6 / each for each in taken], "MB/s"),
        Row("  its columns", [sum(table.size_bytes for table in tables) / packets], "bytes/packet"),
    ]


def bench_tshark(protocol: str, trial: Trial, rounds: int) -> list[Row]:
    """Headers, and decrypted frames, against tshark."""
    packets = len(_core.decode("pcapng", trial.capture, "client").tables[0])
    rows = []
    keys = ("-o", f"tls.keylog_file:{trial.keys}")

    def headers() -> None:
        _core.decode("pcapng", trial.capture, "client")

    def frames() -> None:
        _core.decode("pcapng", trial.capture, "client", key_logs=[trial.keys])

    for what, target, ours, fields, options in (
        ("headers", 50, headers, _HEADERS, ()),
        ("headers, few fields", 10, headers, _FEW_HEADERS, ()),
        ("decrypted frames", 20, frames, _FRAMES[protocol], keys),
        ("decrypted frames, few fields", 10, frames, _FEW_FRAMES[protocol], keys),
    ):
        asked = [part for field in fields for part in ("-e", field)]
        command = ["tshark", "-n", "-r", trial.capture, *options, "-T", "fields", *asked]
        speeds, alternative = [], []
        for _ in range(rounds):
            speeds.append(packets / 1e3 / cpu_seconds(ours))
            alternative.append(packets / 1e3 / child_cpu_seconds(command))
        ratio = paired_ratio(speeds, alternative)
        name = f"{protocol} capture, {what}, {trial.capture.stat().st_size / 1e6:.0f} MB"
        rows.append(
            Row(
                name,
                speeds,
                "thousand packets/s",
                "tshark",
                ratio,
                target=f"{target} × tshark",
                reached=ratio >= target,
            )
        )
    return rows


def bench_two_threads(protocol: str, trial: Trial, rounds: int) -> list[Row]:
    """Headers, and decrypted frames, with two threads."""

    def headers(threads: int) -> None:
        _core.decode("pcapng", trial.capture, "client", threads=threads)

    def frames(threads: int) -> None:
        _core.decode("pcapng", trial.capture, "client", key_logs=[trial.keys], threads=threads)

    return [
        *bench_threads(f"{protocol} capture, headers", headers, rounds),
        *bench_threads(f"{protocol} capture, decrypted frames", frames, rounds),
    ]


def main() -> None:
    """Trials of one large object each, and a packet log."""
    quick = is_quick(__doc__)
    rounds, size, packets = (1, "5 MB", 30_000) if quick else (3, "150 MB", 300_000)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "link.qplog"
        log.write_bytes(writers.packet_log([writers.record("down", 1, 10**12, 10**12 + 10**7)] * packets))
        rows += bench_packets("packet log", log, rounds, "packet_log")
        for protocol, trial in run_trials(folder, size).items():
            rows += bench_packets(f"{protocol} capture, no keys", trial.capture, rounds, "pcapng")
            rows += bench_two_threads(protocol, trial, 3 if quick else 15)
            if shutil.which("tshark"):
                rows += bench_tshark(protocol, trial, rounds)
    print_table("Decoding captures and packet logs (CPU time; with two threads wall time)", rows)


if __name__ == "__main__":
    main()
