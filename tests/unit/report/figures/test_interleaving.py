# SPDX-License-Identifier: Apache-2.0
"""Runs of streams' bytes as thick lines."""

from __future__ import annotations

import polars as pl

from quiclab.report.figures.interleaving import Interleaving

_RUNS = pl.DataFrame(
    {
        "arm": ["h2", "h2", "h2", "h3"],
        "connection": [1, 1, 1, 1],
        "stream_id": [1, 3, 1, 0],
        "place": [0, 1, 0, 0],
        "from_bytes": [0, 500, 900, 0],
        "length_bytes": [500, 400, 20, 900],
        "x_ms": [1.0, 2.0, 3.0, 1.0],
    }
)


def test_each_run_is_a_line_from_its_first_to_its_last_byte() -> None:
    """Those of one colour are one trace with gaps, none of which may be drawn over or left out."""
    first, second, other, names = Interleaving().draw(_RUNS).to_plotly_json()["data"]
    assert first["x"] == [0, 500, 500, 900, 920, 920]
    assert first["y"] == [0, 0, None, 0, 0, None]
    assert first["customdata"] == [1] * 6
    assert (second["x"], second["customdata"]) == ([500, 900, 900], [3] * 3)
    assert other["y"] == [1, 1, None]
    assert {trace["line"]["simplify"] for trace in (first, second, other)} == {False}
    assert first["line"]["color"] == other["line"]["color"] != second["line"]["color"]
    assert names["text"] == ["stream 1", "stream 3", "stream 0"]
    assert names["x"] == [250.0, 700.0, 450.0]


def test_connections_are_named_where_there_are_several() -> None:
    """Their streams have the same numbers."""
    several = _RUNS.with_columns(connection=pl.Series([1, 1, 2, 1]))
    traces = Interleaving().draw(several).to_plotly_json()["data"][:-1]
    assert ["connection 2" in trace["hovertemplate"] for trace in traces] == [False, False, True, False]
