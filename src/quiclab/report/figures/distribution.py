# SPDX-License-Identifier: Apache-2.0
"""The distribution of one cell: every trial of every arm."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._trial_columns import TRIAL_COLUMNS

SHAPES: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "box": {"type": "box", "boxpoints": "all", "width": 0.6},
        "violin": {"type": "violin", "points": "all", "width": 0.8, "meanline": {"visible": True}, "spanmode": "hard"},
    }
)
"""Properties that make a trace the one or the other."""


class Distribution(Figure):
    """A box, or a violin, and all points per arm; failed trials stand apart at the right."""

    name = "distributions"
    question = "How do the trials of one cell spread, and is the median a fair summary of them?"
    where = Where.PAGE
    tables = ("tables/trials.parquet", "metrics.parquet")
    columns = TRIAL_COLUMNS
    """`shape` may stand beside these: 'box', the default, or 'violin'."""

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return every trial of the cell, with the shape that is asked for."""
        return asked.trials_of_cell().with_columns(shape=pl.lit(asked.shape))

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per trial of one cell."""
        figure: Any = go.Figure()
        arms = data["arm"].unique(maintain_order=True).to_list()
        highest = data["value"].max()
        for arm, style in _style.arms(data):
            label = _style.text(arm)
            trials = data.filter((pl.col("arm") == arm) & pl.col("value").is_not_null())
            shape = SHAPES[data["shape"][0] if "shape" in data.columns else "box"]
            figure.add_trace(
                {
                    **shape,
                    "x": trials["value"].to_list(),
                    "y": [label] * trials.height,
                    "name": label,
                    "orientation": "h",
                    "pointpos": 0,
                    "jitter": 0.7,
                    "line": {"color": style.colour, "width": 1.5},
                    "fillcolor": _style.BLANK,
                    "marker": {"color": style.colour, "symbol": style.marker, "size": 7, "opacity": 0.75},
                    "customdata": trials.select("block", "trial_id").rows(),
                    "hovertemplate": "%{x:.5g} " + _style.text(data["unit"][0]) + ", block %{customdata[0]}"
                    "<br>trial %{customdata[1]}<extra>%{y}</extra>",
                    "hoveron": "points",
                }
            )
            failed = data.filter((pl.col("arm") == arm) & (pl.col("status") == "failed"))
            if failed.height:
                edge = 1.0 if not isinstance(highest, float) else highest * 1.04
                figure.add_scatter(
                    x=[edge] * failed.height,
                    y=[label] * failed.height,
                    mode="markers+text",
                    text=[f"{failed.height} failed"] + [""] * (failed.height - 1),
                    textposition="top center",
                    cliponaxis=False,
                    marker={"color": style.colour, "symbol": _style.FAILED_MARKER, "size": 11, "line": {"width": 2.5}},
                    customdata=[(row["block"], _style.text(row["reason"])) for row in failed.iter_rows(named=True)],
                    hovertemplate="failed, block %{customdata[0]}<br>%{customdata[1]}<extra>%{y}</extra>",
                )
        figure.update_layout(_style.titled(100 + 52 * len(arms), [f"<b>{_style.text(data['cell_title'][0])}</b>"]))
        unit = data["unit"][0]
        axis = data["metric_title"][0] + (f", {unit}" if unit else "")
        figure.update_xaxes(
            title={"text": _style.text(axis), "font": {"size": 11}, "standoff": 8},
            automargin=True,
            nticks=6,
            zeroline=False,
        )
        figure.update_yaxes(
            type="category",
            categoryarray=[_style.text(arm) for arm in reversed(arms)],
            automargin=True,
            fixedrange=True,
        )
        return figure
