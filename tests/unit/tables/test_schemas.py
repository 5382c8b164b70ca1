# SPDX-License-Identifier: Apache-2.0
"""The schemas are what the decoders really give."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoders import writers

from quiclab.decoders import DECODERS, Context, decoder_of
from quiclab.tables import NEVER, TABLES

FILES = {
    "packet_log": writers.packet_log([writers.record("up", 0, 5, 9)]),
    "pcap": writers.pcap([writers.tcp("up", 1, flags=2)]),
    "pcapng": writers.Capture("client").bytes(),
    "qlog": writers.Qlog("client").bytes(),
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
