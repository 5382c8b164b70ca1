# SPDX-License-Identifier: Apache-2.0
"""Start and end of the main image of a page, pair by pair (Yu and Benson 2021, Figure 15)."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_SCHEMA = {
    **dict.fromkeys(("cell_id", "cell_title", "arm"), pl.String),
    "block": pl.Int64,
    **dict.fromkeys(("start_ms", "end_ms"), pl.Float64),
}


class MainImage(Figure):
    """A line per trial from the request to the last byte; the medians of the arms above all."""

    name = "main_image"
    question = "When is the main image requested, when has it arrived, and does that hold in every pair?"
    where = Where.CELL
    tables = ("tables/trials.parquet", "metrics.parquet")
    columns: ClassVar = {
        "arm": "a colour each, the baseline first",
        "block": "block number: trials of one block met the same conditions",
        "start_ms": "when the request for the main image was sent, since navigation start, ms",
        "end_ms": "when its last byte had arrived, since navigation start, ms",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the request and the last byte of the main image in every trial of the cell."""
        if "metrics" not in asked.study.tables:
            return pl.DataFrame(schema=_SCHEMA)
        names = {"main_image_start_ms": "start_ms", "main_image_end_ms": "end_ms"}
        found = asked.trials_of_cell().select("cell_id", "cell_title", "arm", "block", "trial_id")
        for metric, column in names.items():
            values = asked.study.metrics.filter((pl.col("name") == metric) & pl.col("value").is_finite())
            found = found.join(
                values.select("trial_id", pl.col("value").alias(column)), on="trial_id", maintain_order="left"
            )
        return found.select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items())

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether some trial tells when its main image was asked for."""
        return data["start_ms"].null_count() < data.height

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per trial of one cell."""
        figure = go.Figure()
        arms = data["arm"].unique(maintain_order=True).to_list()
        blocks = data["block"].unique().sort().to_list()
        row = len(arms) + 1
        """Lines of a block, and the space after it."""
        for place, (arm, style) in enumerate(_style.arms(data)):
            label = _style.text(arm)
            of_arm = data.filter(pl.col("arm") == arm).sort("block")
            middle = of_arm.select(pl.col("start_ms", "end_ms").median()).row(0)
            lines = [(place, *middle, "median")]
            lines += [
                (row * (1 + blocks.index(block)) + place, start, end, f"block {block}")
                for block, start, end in of_arm.select("block", "start_ms", "end_ms").iter_rows()
            ]
            marker = {"color": style.colour, "size": 7, "line": {"width": 1.5, "color": style.colour}}
            for first, own in ((True, lines[:1]), (False, lines[1:])):
                figure.add_scatter(
                    x=[x for _, start, end, _ in own for x in (start, end, None)],
                    y=[y for position, *_ in own for y in (position, position, None)],
                    text=[told for *_, which in own for told in (which, which, "")],
                    name=label,
                    legendgroup=label,
                    showlegend=first,
                    mode="lines+markers",
                    line={"color": style.colour, "width": 5 if first else 2},
                    marker=marker | {"symbol": [f"{style.marker}-open", style.marker, style.marker] * len(own)},
                    hovertemplate=f"%{{text}}: %{{x:.5g}} ms<extra>{label}</extra>",
                )
        names = ["<b>median</b>", *(f"block {block}" for block in blocks)]
        figure.update_layout(_style.with_legend(110 + (9 + 9 * len(arms)) * len(names)), hovermode="closest")
        figure.update_xaxes(
            title={"text": "time since navigation start, ms (open: request sent, full: last byte)"},
            automargin=True,
            rangemode="tozero",
        )
        figure.update_yaxes(
            tickvals=[row * place + (len(arms) - 1) / 2 for place in range(len(names))],
            ticktext=names,
            range=[row * len(names) - 1, -1],
            showgrid=False,
            zeroline=False,
            automargin=True,
        )
        return figure
