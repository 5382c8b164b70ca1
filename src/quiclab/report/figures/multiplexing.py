# SPDX-License-Identifier: Apache-2.0
"""Figure of the stream that each chunk of bytes belongs to, as they came (Yu and Benson 2021, Figures 16 and 17)."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._chunks import chunks, has_several_streams


class Multiplexing(Figure):
    """A band per arm and stream: a mark where a chunk of it came."""

    name = "multiplexing"
    question = "Do the responses come one after the other, or in turns?"
    where = Where.PAIR
    tables = ("tables/http_frames/*.parquet", "tables/frames/*.parquet", "tables/link_packets/*.parquet")
    columns: ClassVar = {
        "arm": "a colour each, the baseline first",
        "connection": "which of the trial's connections, by their first chunks",
        "stream_id": "stream of the response",
        "x_ms": "when the chunk came, since the client's first packet, ms",
        "length_bytes": "its length",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the chunks of the bodies as they came."""
        return chunks(asked.study, asked.chosen().trials)

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether an arm has several streams: one alone takes no turns."""
        return has_several_streams(data)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per chunk."""
        figure = go.Figure()
        several = int(data["connection"].max() or 0) > 1  # type: ignore[arg-type]
        bands = data.select("arm", "connection", "stream_id").unique(maintain_order=True).rows()
        for arm, style in _style.arms(data):
            chunks = data.filter(pl.col("arm") == arm)
            label = _style.text(arm)
            figure.add_scatter(
                x=chunks["x_ms"].to_list(),
                y=[
                    f"{label}, " + (f"connection {number}, " if several else "") + f"stream {stream}"
                    for number, stream in chunks.select("connection", "stream_id").iter_rows()
                ],
                mode="markers",
                name=label,
                marker={"symbol": "line-ns-open", "size": 12, "color": style.colour, "line": {"width": 2}},
                customdata=chunks["length_bytes"].to_list(),
                hovertemplate="%{x:.5g} ms: %{customdata:,} bytes<extra>%{y}</extra>",
            )
        figure.update_layout(_style.base_layout(90 + 22 * len(bands)))
        figure.update_xaxes(
            title={"text": "time since the client's first packet, ms"}, automargin=True, rangemode="tozero"
        )
        figure.update_yaxes(automargin=True, autorange="reversed", type="category")
        return figure
