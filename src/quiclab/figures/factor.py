# SPDX-License-Identifier: Apache-2.0
"""Any metric against one numeric factor of the study: a line per arm, with intervals."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _canvas as go
from quiclab.figures import _style


class Factor:
    """Medians with their intervals; both axes are logarithmic where the factor spans more than a decade."""

    name = "factor"
    question = (
        "How does the metric grow with one factor, such as size, rate, delay or loss, and where do the arms part?"
    )
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet")
    columns = {  # noqa: RUF012 - a constant of the class
        "arm": "a line each, the baseline first",
        "x": "the factor",
        "x_title": "what the factor is, with its unit",
        "median": "median of the metric",
        "low": "lower end of the median's interval; null where there is none",
        "high": "upper end; null where there is none, or where failed trials leave it open",
        "metric_title": "what the metric is called",
        "unit": "its unit",
    }

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per arm and value of the factor."""
        figure = go.Figure()
        unit = _style.text(data["unit"][0])
        for place, arm in enumerate(data["arm"].unique(maintain_order=True).to_list()):
            points = data.filter(pl.col("arm") == arm).sort("x")
            style, label = _style.arm_style(place), _style.text(arm)
            spread = [(row["high"], row["low"], row["median"]) for row in points.iter_rows(named=True)]
            figure.add_scatter(
                x=points["x"].to_list(),
                y=points["median"].to_list(),
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [high - middle if high is not None else 0 for high, _, middle in spread],
                    "arrayminus": [middle - low if low is not None else 0 for _, low, middle in spread],
                    "thickness": 1.5,
                    "width": 4,
                },
                name=label,
                mode="lines+markers",
                line={"color": style.colour, "dash": style.dash, "width": 2},
                marker={"symbol": style.marker, "size": 8, "color": style.colour},
                hovertemplate=f"%{{x:.5g}}: %{{y:.5g}} {unit}<extra>{label}</extra>",
            )
        figure.update_layout(_style.with_legend(400))
        kind = "log" if _spans_a_decade(data["x"]) else "linear"
        figure.update_xaxes(title={"text": _style.text(data["x_title"][0])}, type=kind, automargin=True)
        title = f"{_style.text(data['metric_title'][0])}, {unit}"
        figure.update_yaxes(title={"text": title}, type=kind, automargin=True)
        return figure


def _spans_a_decade(values: pl.Series) -> bool:
    low, high = values.min(), values.max()
    return isinstance(low, float) and isinstance(high, float) and low > 0 and high / low > 10
