# SPDX-License-Identifier: Apache-2.0
"""The share of trials that are done by a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._trial_columns import TRIAL_COLUMNS


class Cumulative(Figure):
    """One step per trial and arm. Failed trials never arrive: their arm's curve ends below 100 %."""

    name = "cumulative"
    question = "What share of the trials of one cell is done by when, in the middle and in the tail?"
    where = Where.PAGE
    tables = ("tables/trials.parquet", "metrics.parquet")
    columns = TRIAL_COLUMNS

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return every trial of the cell."""
        return asked.trials_of_cell()

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per trial of one cell."""
        figure = go.Figure()
        unit = _style.text(data["unit"][0])
        for arm, style in _style.arms(data):
            trials = data.filter(pl.col("arm") == arm)
            counted = trials.filter(pl.col("value").is_not_null() | (pl.col("status") == "failed")).height
            done = trials.filter(pl.col("value").is_not_null()).sort("value")
            values = done["value"].to_numpy()
            label = _style.text(arm)
            figure.add_scatter(
                x=values.tolist(),
                y=(100 * np.arange(1, values.size + 1) / max(counted, 1)).tolist(),
                name=label,
                mode="lines+markers",
                line={"color": style.colour, "dash": style.dash, "width": 2, "shape": "hv"},
                marker={"symbol": style.marker, "size": 6, "color": style.colour},
                customdata=done.select("block", "trial_id").rows(),
                hovertemplate=f"%{{y:.0f}} % by %{{x:.5g}} {unit}<br>trial %{{customdata[1]}}, block %{{customdata[0]}}"
                f"<extra>{label}</extra>",
            )
        figure.update_layout(_style.titled(340, [f"<b>{_style.text(data['cell_title'][0])}</b>"]))
        # Below the plot: the title is above it.
        figure.update_layout(showlegend=True, legend={"orientation": "h", "x": 0, "y": -0.22, "yanchor": "top"})
        figure.update_xaxes(title={"text": f"{_style.text(data['metric_title'][0])}, {unit}"}, automargin=True)
        figure.update_yaxes(title={"text": "share of trials, %"}, range=[0, 102], automargin=True)
        return figure
