# SPDX-License-Identifier: Apache-2.0
"""Threads share the work on one file, and nobody can tell by the rows."""

from __future__ import annotations

import gzip
import lzma
import os
import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from decoders import writers

from quiclab import _core

GOLDENS = Path(__file__).parents[3] / "decoders"
CAPTURES = sorted(path for path in GOLDENS.rglob("*.pcapng.*"))
QLOGS = sorted((GOLDENS / "qlog").glob("*.gz"))


def decoded(
    format_name: str, path: Path, threads: int, keys: Path | None = None, *, streamed: bool = False
) -> tuple[object, ...]:
    """Everything that decoding gives, and the order in which chunks of each table came."""
    chunks: dict[str, list[pl.DataFrame]] = {}

    def take(table: _core.Table) -> None:
        chunks.setdefault(table.name, []).append(pl.DataFrame(table))

    found = _core.decode(
        format_name, path, "client", key_logs=[keys] if keys else [], take=take if streamed else None, threads=threads
    )
    for table in found.tables:
        take(table)
    rows = {name: pl.concat(parts) for name, parts in chunks.items()}
    told = (found.stats, found.absent, found.dialect, found.clock, found.resolution_ns)
    return ({name: frame.to_dict(as_series=False) for name, frame in sorted(rows.items())}, *told)


def assert_same(format_name: str, path: Path, keys: Path | None = None) -> None:
    alone = decoded(format_name, path, 1, keys)
    for threads in (2, 3):
        for streamed in (False, True):
            assert decoded(format_name, path, threads, keys, streamed=streamed) == alone


@pytest.mark.parametrize("golden", CAPTURES, ids=lambda path: path.name.partition(".")[0])
def test_captures_are_the_same(golden: Path, tmp_path: Path) -> None:
    """Headers, and what keys open, of every golden capture."""
    path = tmp_path / "capture"
    unpack = lzma.decompress if golden.suffix == ".xz" else gzip.decompress
    path.write_bytes(unpack(golden.read_bytes()))
    assert_same("pcapng", path)
    keys = golden.with_name(golden.name.partition(".")[0].removesuffix("-client") + ".keys")
    if keys.exists():
        assert_same("pcapng", path, keys)


@pytest.mark.parametrize("golden", QLOGS, ids=lambda path: path.name.partition(".")[0])
def test_qlogs_are_the_same(golden: Path, tmp_path: Path) -> None:
    """Logs of every dialect, those that were cut too."""
    path = tmp_path / "log"
    path.write_bytes(gzip.decompress(golden.read_bytes()))
    assert_same("qlog", path)


def large_capture() -> writers.Capture:
    """Connections side by side, losses, packets of every size: several stretches, and a full chunk of rows."""
    draw = random.Random(7)
    capture = writers.Capture("client")
    sent = dict.fromkeys(range(40_000, 40_008), 1)
    for number in range(70_000):
        port = draw.choice(list(sent))
        payload = bytes(draw.choice((0, 20, 1400)) if number % 50 == 0 else 3)
        match draw.randrange(20):
            case 0:
                capture.add("up", number, writers.udp("up", draw.randrange(100)))
            case 1:
                again = max(1, sent[port] - 9)
                capture.add("down", number, writers.tcp("down", again, bytes(9), ack=1, port=port))
            case 2:
                capture.add("up", number, writers.tcp("up", 1, ack=sent[port], port=port), dropped="loss_entry")
            case _:
                capture.add("down", number, writers.tcp("down", sent[port], payload, ack=1, port=port))
                sent[port] += len(payload)
    return capture


def test_a_large_capture_is_the_same(tmp_path: Path) -> None:
    """One of several stretches, whole and cut off in the midst of a packet."""
    path = tmp_path / "capture"
    file = large_capture().bytes()
    path.write_bytes(file)
    assert_same("pcapng", path)
    path.write_bytes(file[:-21])
    assert_same("pcapng", path)


def test_a_large_classic_capture_is_the_same(tmp_path: Path) -> None:
    """The older format comes in stretches as well."""
    path = tmp_path / "capture"
    path.write_bytes(writers.pcap([writers.tcp("down", at * 9, bytes(9), ack=1) for at in range(20_000)]))
    assert_same("pcap", path)


def test_a_large_qlog_is_the_same(tmp_path: Path) -> None:
    """A log of several stretches, with records that are broken, empty, and long enough to be read behind."""
    log = writers.Qlog("server")
    for number in range(5_000):
        long = number % 1_000 == 999
        frames = [writers.stream(at * 9, 9) for at in range(2_000 if long else 1 + number % 3)]
        log.packet("sent", number, number, 1200, [*frames, writers.ack((0, number))])
    path = tmp_path / "log"
    file = log.bytes().replace(b'"packet_number": 777,', b'"packet_number": 777 broken').replace(b"\x1e", b"\x1e\x1e")
    path.write_bytes(file)
    assert_same("qlog", path)
    path.write_bytes(file[:-50])
    assert_same("qlog", path)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_taker_raises_ends_the_reading(threads: int, tmp_path: Path) -> None:
    """An error of whoever takes the rows is raised where the decoding was asked for."""
    path = tmp_path / "capture"
    path.write_bytes(writers.pcap([writers.udp("up", 1)] * 70_000))

    def take(_: object) -> None:
        raise KeyError("full")

    with pytest.raises(KeyError, match="full"):
        _core.decode("pcap", path, take=take, threads=threads)


@pytest.mark.parametrize(("size", "allowed", "threads"), [(1 << 24, "2", "2"), (1 << 24, "1", "1"), (0, "2", "1")])
def test_large_files_have_as_many_threads_as_polars(size: int, allowed: str, threads: str, tmp_path: Path) -> None:
    """The setting that leaves Polars one thread, beside trials that are measured, leaves the decoders one."""
    path = tmp_path / "capture"
    path.write_bytes(writers.pcap([writers.udp("up", 1)]))
    os.truncate(path, max(size, path.stat().st_size))
    code = (
        "import sys\nfrom pathlib import Path\nfrom unittest.mock import patch\n"
        "from quiclab import _core as native\nfrom quiclab.logs.decoders import Context, _core\n"
        "with patch.object(native, 'decode', wraps=native.decode) as decode:\n"
        "    _core.decode('pcap', Path(sys.argv[1]), Context(), None)\nprint(decode.call_args.args[-1])"
    )
    environment = os.environ | {"POLARS_MAX_THREADS": allowed}
    command = [sys.executable, "-c", code, path]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == [threads]
