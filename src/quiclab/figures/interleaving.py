# SPDX-License-Identifier: Apache-2.0
"""Whose bytes came first and whose last, over the bytes that had come (Yu and Benson 2021, Figures 16 and 17)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _canvas as go
from quiclab.figures import _style

_NAMED_FROM = 0.05
"""Share of all bytes from which a run has room for its stream's number."""


class Interleaving:
    """A row per arm: from left to right the bytes in the order in which they came, a colour for each stream."""

    name = "interleaving"
    question = "Whose bytes come first, and in how many turns?"
    tables = ("tables/http_frames/*.parquet", "tables/frames/*.parquet", "tables/link_packets/*.parquet")
    columns = {  # noqa: RUF012 - a constant of the class
        "arm": "a row each, the baseline first",
        "connection": "which of the trial's connections, by their first chunks",
        "stream_id": "stream of the response",
        "place": "which stream of the arm it is, by their first chunks",
        "from_bytes": "how many bytes had come before",
        "length_bytes": "bytes of this stream without any other's between; what QUIC sent again counts again",
        "x_ms": "when the first of them came, since the client's first packet, ms",
    }

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per run of one stream's bytes."""
        figure = go.Figure()
        several = int(data["connection"].max() or 0) > 1  # type: ignore[arg-type]
        arms = data["arm"].unique(maintain_order=True).to_list()
        reach = float((data["from_bytes"] + data["length_bytes"]).max() or 1)  # type: ignore[arg-type]
        streams = [
            f"stream {stream}" + (f" of connection {connection}" if several else "")
            for connection, stream in data.select("connection", "stream_id").iter_rows()
        ]
        figure.add_bar(
            y=[_style.text(arm) for arm in data["arm"]],
            base=data["from_bytes"].to_list(),
            x=data["length_bytes"].to_list(),
            orientation="h",
            marker={"color": [_style.stream_colour(place) for place in data["place"]], "line": {"width": 0}},
            text=[
                str(stream) if length > _NAMED_FROM * reach else ""
                for stream, length in data.select("stream_id", "length_bytes").iter_rows()
            ],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            customdata=[f"{stream}, from {x:.5g} ms" for stream, x in zip(streams, data["x_ms"], strict=True)],
            hovertemplate="%{x:,} bytes after %{base:,}<br>%{customdata}<extra>%{y}</extra>",
        )
        figure.update_layout(_style.base_layout(80 + 58 * len(arms)), barmode="overlay", bargap=0.3)
        figure.update_xaxes(title={"text": "bytes that had come to the client"}, automargin=True, rangemode="tozero")
        figure.update_yaxes(automargin=True, autorange="reversed", type="category")
        return figure
