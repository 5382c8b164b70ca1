# SPDX-License-Identifier: Apache-2.0
"""The metric against the offset of the first retransmission (Yu and Benson 2021, Figure 6)."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_METRICS = (("offset_bytes", "first_retransmission_offset_bytes"), ("again_bytes", "retransmitted_bytes"))


class FirstLoss(Figure):
    """One mark per trial; trials in which nothing was sent again stand apart at the left."""

    name = "first_loss"
    question = "Does an early loss cost more than a late one, and which arm pays most for it?"
    where = Where.CELL
    tables = ("metrics.parquet",)
    columns: ClassVar = {
        "arm": "a colour each, the baseline first",
        "trial_id": "the trial",
        "offset_bytes": "where the first data that was sent again stands in its stream; null where none was",
        "value": "the metric",
        "metric_title": "what the metric is called",
        "unit": "its unit",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the trials of the cell that have a value, with `offset_bytes`: null where nothing was sent again."""
        trials = asked.trials_of_cell()
        if "metrics" not in asked.study.tables:
            return trials.clear().with_columns(offset_bytes=pl.lit(None, pl.Float64))
        found = trials.filter(pl.col("value").is_not_null())
        metrics = asked.study.metrics
        for column, name in _METRICS:
            known = metrics.filter(pl.col("name") == name).select(
                "trial_id", pl.col("value").fill_nan(None).alias(column)
            )
            found = found.join(known, "trial_id", "left", maintain_order="left")
        # A trial whose logs do not say what was sent again is not one in which nothing was sent again.
        return found.filter(pl.col("offset_bytes").is_not_null() | (pl.col("again_bytes") == 0)).drop("again_bytes")

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether some trial sent data again."""
        return data["offset_bytes"].null_count() < data.height

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per trial of one cell."""
        figure = go.Figure()
        reach = float(data["offset_bytes"].max() or 1.0)  # type: ignore[arg-type]
        for arm, style in _style.arms(data):
            label = _style.text(arm)
            for lost in (True, False):
                known = pl.col("offset_bytes").is_not_null() if lost else pl.col("offset_bytes").is_null()
                trials = data.filter((pl.col("arm") == arm) & known)
                x = trials["offset_bytes"].to_list() if lost else [-0.06 * reach] * trials.height
                figure.add_scatter(
                    x=x,
                    y=trials["value"].to_list(),
                    name=label,
                    legendgroup=label,
                    showlegend=lost,
                    mode="markers",
                    marker={"color": style.colour, "symbol": style.marker + ("" if lost else "-open"), "size": 8},
                    customdata=trials["trial_id"].to_list(),
                    hovertemplate=("first sent again: byte %{x:,}" if lost else "nothing sent again")
                    + ": %{y:.5g}<br>trial %{customdata}<extra>"
                    + label
                    + "</extra>",
                )
        figure.update_layout(_style.with_legend(334))
        title = "place of the first data sent again, bytes<br>(open marks: nothing was)"
        small = {"font": {"size": 11}, "standoff": 8}
        figure.update_xaxes(title={"text": title} | small, automargin=True, rangemode="tozero", nticks=6)
        figure.update_yaxes(
            title={"text": f"{_style.text(data['metric_title'][0])}, {_style.text(data['unit'][0])}"} | small,
            automargin=True,
            rangemode="tozero",
        )
        return figure
