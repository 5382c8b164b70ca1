# SPDX-License-Identifier: Apache-2.0
"""Places where rows wait: what they give back, whenever it is asked for."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from quiclab.logs.decoders.sinks import InMemory, ParquetParts, Sink
from quiclab.model.tables import TABLES


def _rows(source: str, *instants: int) -> pl.DataFrame:
    given = pl.DataFrame({"source": source, "time_ns": instants})
    return pl.concat([TABLES["losses"].empty(), given], how="diagonal").select(TABLES["losses"].schema().names())


@pytest.fixture(params=[InMemory, ParquetParts])
def sink(request: pytest.FixtureRequest, tmp_path: Path) -> Sink:
    """One of each kind."""
    return InMemory() if request.param is InMemory else ParquetParts(tmp_path)


def test_rows_that_come_after_a_table_was_asked_for_follow_those_before(sink: Sink) -> None:
    """The order is that in which they came."""
    sink.take("losses", _rows("a", 1, 2))
    sink.take("losses", _rows("b", 3))
    assert sink.table("losses").collect()["time_ns"].to_list() == [1, 2, 3]
    sink.take("losses", _rows("a", 4))
    assert sink.table("losses").collect()["time_ns"].to_list() == [1, 2, 3, 4]
    assert sink.rows("losses") == 4


def test_a_table_tells_whose_rows_it_has(sink: Sink) -> None:
    """None has those of a table that nothing came for."""
    assert sink.sources("losses") == frozenset()
    assert sink.table("losses").collect().schema == TABLES["losses"].schema()
    sink.take("losses", _rows("a", 1))
    sink.take("losses", _rows("b", 1))
    assert sink.sources("losses") == {"a", "b"}
    assert sink.sources("acks") == frozenset()
