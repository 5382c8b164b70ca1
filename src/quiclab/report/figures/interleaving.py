# SPDX-License-Identifier: Apache-2.0
"""Streams in the order of their bytes, over the bytes that had come (Yu and Benson 2021, Figures 16 and 17)."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._chunks import chunks, has_several_streams

_LINE_PX = 36
_NUMBERED_FROM, _NAMED_FROM = 0.05, 0.2
"""Share of all bytes from which a run has room for its stream's number, and for the word before it."""


class Interleaving(Figure):
    """A row per arm: from left to right the bytes in the order in which they came, a colour for each stream."""

    name = "interleaving"
    question = "Which stream's bytes come first, and in how many turns do they come?"
    where = Where.PAIR
    tables = ("tables/http_frames/*.parquet", "tables/frames/*.parquet", "tables/link_packets/*.parquet")
    columns: ClassVar = {
        "arm": "a row each, the baseline first",
        "connection": "which of the trial's connections, by their first chunks",
        "stream_id": "stream of the response",
        "place": "which stream of the arm it is, by their first chunks",
        "from_bytes": "how many bytes had come before",
        "length_bytes": "bytes of this stream without any other's between; what QUIC sent again counts again",
        "x_ms": "when the first of them came, since the client's first packet, ms",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the bytes of the bodies as runs of one stream each, placed by the bytes that had come before."""
        stream = pl.struct("connection", "stream_id")
        return (
            chunks(asked.study, asked.chosen().trials)
            .with_row_index()
            .with_columns(
                (pl.col("length_bytes").cum_sum() - pl.col("length_bytes")).over("arm").alias("from_bytes"),
                pl.col("index").min().over("arm", "connection", "stream_id").alias("begun"),
                stream.rle_id().over("arm").alias("run"),
            )
            .with_columns(pl.col("begun").rank("dense").over("arm").alias("place"))
            .group_by("arm", "run", maintain_order=True)
            .agg(
                pl.col("connection", "stream_id").first(),
                (pl.col("place").first() - 1).cast(pl.Int64),
                pl.col("from_bytes").first(),
                pl.col("length_bytes").sum(),
                pl.col("x_ms").first(),
            )
            .drop("run")
        )

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether an arm has several streams: one alone takes no turns."""
        return has_several_streams(data)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per run of one stream's bytes. Runs are thick lines, so that a page bears a million."""
        figure = go.Figure()
        arms = data["arm"].unique(maintain_order=True).to_list()
        several = int(data["connection"].max() or 0) > 1  # type: ignore[arg-type]
        coloured = data.with_columns(colour=pl.col("place") % _style.STREAM_COLOURS)
        styles = dict(_style.arms(data))
        one = data["place"].max() == 0
        for (arm, connection, colour), runs in coloured.group_by("arm", "connection", "colour", maintain_order=True):
            label = _style.text(arm) + (f", connection {connection}" if several else "")
            ends = pl.concat_list(pl.col("from_bytes"), *[pl.col("from_bytes") + pl.col("length_bytes")] * 2)
            shade = _style.stream_colour(int(str(colour)), styles[str(arm)], alone=one)
            figure.add_scatter(
                x=runs.select(ends).to_series().explode().to_list(),
                y=[arms.index(arm), arms.index(arm), None] * runs.height,
                mode="lines",
                line={"color": shade, "width": _LINE_PX, "simplify": False},
                customdata=runs.select(pl.concat_list(*[pl.col("stream_id")] * 3)).to_series().explode().to_list(),
                hovertemplate=f"{label}, stream %{{customdata}}: %{{x:,}} bytes had come<extra></extra>",
            )
        wide = data.filter(pl.col("length_bytes") > _NUMBERED_FROM * _end(data))
        named = wide["length_bytes"] > _NAMED_FROM * _end(data)
        figure.add_scatter(
            x=(wide["from_bytes"] + wide["length_bytes"] / 2).to_list(),
            y=[arms.index(arm) for arm in wide["arm"]],
            text=[
                f"stream {stream}" if room else str(stream)
                for stream, room in zip(wide["stream_id"], named, strict=True)
            ],
            mode="text",
            textfont={"color": "white"},
            hoverinfo="skip",
        )
        figure.update_layout(_style.base_layout(80 + (_LINE_PX + 22) * len(arms)))
        figure.update_xaxes(
            title={"text": "received by the client, bytes"}, automargin=True, range=[0, 1.01 * _end(data)]
        )
        figure.update_yaxes(
            tickvals=list(range(len(arms))), ticktext=[_style.arm_name(arm, styles[arm]) for arm in arms],
            automargin=True, range=[len(arms) - 0.4, -0.6], showgrid=False, zeroline=False,
        )  # fmt: skip
        return figure


def _end(data: pl.DataFrame) -> float:
    return float((data["from_bytes"] + data["length_bytes"]).max() or 1)  # type: ignore[arg-type]
