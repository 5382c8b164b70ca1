# SPDX-License-Identifier: Apache-2.0
"""The seam to the native module."""

from __future__ import annotations

import gc
from pathlib import Path

import polars as pl
import pytest
from decoders import writers

from quiclab.logs.decoders import DECODERS, Context, _core
from quiclab.model.errors import DecodeError
from quiclab.model.tables import TABLES


@pytest.mark.parametrize("rows", [0, 1, 65_535, 65_536, 65_537, 200_000])
def test_chunks_are_joined(rows: int, tmp_path: Path) -> None:
    """A table of any number of chunks arrives whole, nulls in the right rows, and outlives the native object."""
    path = tmp_path / "log"
    dropped, kept = (writers.record("down", 1, 5, action=1, reason=2), writers.record("up", 2, 7, 11, size_bytes=40))
    path.write_bytes(writers.packet_log([kept if row % 3 else dropped for row in range(rows)]))
    tables = _core.decode("packet_log", path, Context(), None).tables
    frame = tables.pop("link_packets", TABLES["link_packets"].empty())
    gc.collect()
    assert frame.height == rows
    expected = [None if row % 3 == 0 else 11 for row in range(rows)]
    assert frame["due_ns"].to_list() == expected
    assert frame["reason"].to_list() == ["queue_full" if due is None else None for due in expected]


def test_texts_and_lists_cross_the_border(tmp_path: Path) -> None:
    """Addresses, reasons and SACK blocks arrive as they were written."""
    capture = writers.Capture("client")
    capture.add("up", 1, writers.tcp("up", 5, ack=9, sack=(20, 30, 40, 50)), dropped="loss_entry")
    capture.add("down", 2, writers.tcp("down", 9, b"\x16", ack=5))
    path = tmp_path / "client.pcapng"
    path.write_bytes(capture.bytes())
    frame = _core.decode("pcapng", path, Context(vantage="client"), None).tables["ip_packets"]
    assert frame["tcp_sack"].to_list() == [[20, 30, 40, 50], None]
    assert frame["dropped"].to_list() == ["loss_entry", None]
    assert frame["src"].to_list() == [writers.CLIENT, writers.SERVER]
    assert frame.schema["tcp_sack"] == pl.List(pl.UInt32)


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: decoder.format)
def test_what_cannot_be_read_is_a_decode_error(decoder: object, tmp_path: Path) -> None:
    """A missing file and a file of another format are told in one sentence."""
    path = tmp_path / "odd"
    for _ in range(2):
        with pytest.raises(DecodeError, match=r"cannot decode .*odd"):
            decoder.decode(path, Context())  # type: ignore[attr-defined]
        path.write_bytes(b"GIF89a")
