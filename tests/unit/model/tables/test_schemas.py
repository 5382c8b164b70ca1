# SPDX-License-Identifier: Apache-2.0
"""The schemas are what the decoders really give."""

from __future__ import annotations

import struct
from pathlib import Path

import polars as pl
import pytest
from decoders import writers

from quiclab import _core
from quiclab.logs.decoders import DECODERS, Context, decoder_of
from quiclab.model.tables import NEVER, TABLES, Table

FILES = {
    "har": b'{"log":{"version":"1.2","pages":[],"entries":[{"startedDateTime":"2026-01-01T00:00:00Z"}]}}',
    "mahimahi_log": b"# mahimahi mm-link (uplink) [t] > log\n1 + 1504\n",
    "mahimahi_trace": b"1\n2\n",
    "netlog": (Path(__file__).parents[3] / "decoders/netlog/chromium-h3.json.gz").read_bytes(),
    "packet_log": writers.packet_log([writers.record("up", 0, 5, 9)]),
    "pcap": writers.pcap([writers.tcp("up", 1, flags=2)]),
    "pcapng": writers.Capture("client").bytes(),
    "player": b'{"quiclab_player": 1, "player": "element", "player_version": null, "start_ns": 1, "end_ns": 9, '
    b'"clock_uncertainty_ns": 6, "ended": "watched", "samples": [[2, 0, 0.5, 0.5, 720, 3, 0]], "events": []}',
    "process_cost": b'{"at_ns": 1, "role": "a", "processes": 1, "threads": 1, "cpu_ns": 1, "resident_bytes": 1}\n',
    "qlog": writers.Qlog("client").bytes(),
    "run_delay": b'{"run_delay": 1}\n{"at_ns": 9, "role": "a", "since_ns": 1, "waited_ns": 5, "longest_ns": 5, '
    b'"threads": 1}\n',
    "ss": b"1767225600.5\nESTAB 0 0 10.0.0.1:443 10.0.0.2:5000\n\t cubic rtt:1.5/0.5 mss:1448 cwnd:10\n",
    "tcp_info": b"QLTCPINF" + struct.pack("<IIQHBB4xQQq8x", 1, 64, 10_000_000, 443, 4, 1, 0, 0, 0),
    "trace_events": b'[{"name":"navigationStart","cat":"blink.user_timing","ph":"R","ts":5,"pid":1,"tid":1}]',
    "trial": b'{"trial_id": "a", "attempt": 1, "row": {"arm": "x"}}',
    "udp_drops": b'{"udp_drops": 1}\n{"at_ns": 9, "since_ns": 1, "port": 443, "inode": 7, "drops": 3}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_decoders_give_what_the_schema_says(name: str, tmp_path: Path) -> None:
    """Names, order and types of every table of every decoder, rows or none."""
    path = tmp_path / "file"
    path.write_bytes(FILES[name])
    decoder = decoder_of(path)
    assert decoder is not None
    assert decoder.format == name
    tables = decoder.decode(path, Context()).tables
    assert set(tables) <= set(decoder.tables)
    for table, frame in tables.items():
        assert frame.schema == TABLES[table].decoder_schema


def test_both_languages_have_the_same_tables() -> None:
    """What the native decoders fill is what is described here: names, order and types of all columns."""
    native = {table.name: pl.DataFrame(table).schema for table in _core.empty_tables()}
    assert native
    for name, schema in native.items():
        assert schema == TABLES[name].decoder_schema, name


def test_every_decoder_is_tested() -> None:
    """No decoder of the registry is missing above."""
    assert {decoder.format for decoder in DECODERS} == set(FILES)


def test_every_column_is_described() -> None:
    """A sentence and a null rule each, and units exactly where the name's suffix promises one."""
    for table in TABLES.values():
        for column in table.columns:
            assert column.doc
            assert column.null or column.null == NEVER
            for suffix, unit in {
                "_ns": "ns",
                "_us": "us",
                "_ms": "ms",
                "_bytes": "bytes",
                "_bit_per_s": "bit/s",
            }.items():
                assert not column.name.endswith(suffix) or column.unit == unit, f"{table.name}.{column.name}"


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_a_table_without_rows_stays_so(table: Table) -> None:
    """Rows that are added in place are added to one copy."""
    row = pl.DataFrame({name: [None] for name in table.schema().names()}, schema=table.schema())
    table.empty().extend(row)
    assert table.empty().is_empty()
