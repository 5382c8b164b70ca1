# SPDX-License-Identifier: Apache-2.0
"""Bars of means with their standard deviations: a panel per network, a group per workload, a bar per arm."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from quiclab.report.figures import _style

COLUMNS = {
    "panel": "network: a panel each, from top to bottom",
    "group": "workload: a group of bars each",
    "arm": "what the bars of one colour are",
    "way": "'direct' or 'through a proxy', which is hatched",
    "mean": "arithmetic mean over the verified trials",
    "sd": "their standard deviation; null of a single trial",
    "trials": "how many they are",
    "failed": "trials that failed, which no mean can count",
    "metric_title": "what the metric is called",
    "unit": "its unit",
}
_HATCHED = "through a proxy"
_PANEL_PX, _GAP_PX = 200, 62


def draw(data: pl.DataFrame) -> Any:
    """One row of `data` per bar."""
    panels = data["panel"].unique(maintain_order=True).to_list()
    figure = make_subplots(
        rows=len(panels), cols=1, subplot_titles=[f"<b>{_style.text(panel)}</b>" for panel in panels],
        vertical_spacing=_GAP_PX / (_PANEL_PX * len(panels)),
    )  # fmt: skip
    arms = data["arm"].unique(maintain_order=True).to_list()
    for row, panel in enumerate(panels, 1):
        here = data.filter(pl.col("panel") == panel)
        for (arm, way), bars in here.group_by("arm", "way", maintain_order=True):
            _add(figure, row, arms.index(arm), str(arm), str(way), bars)
    figure.update_layout(
        _style.with_legend(60 + _PANEL_PX * len(panels)), barmode="group", bargap=0.25, bargroupgap=0.08
    )
    figure.update_layout(legend={"y": 1 + 26 / (_PANEL_PX * len(panels))})
    title = f"{data['metric_title'][0]}, {data['unit'][0]}" if data["unit"][0] else data["metric_title"][0]
    figure.update_xaxes(type="category", automargin=True)
    figure.update_yaxes(title={"text": _style.text(title), "font": {"size": 12}}, rangemode="tozero", automargin=True)
    figure.update_annotations(font={"size": 13}, x=0, xanchor="left")
    return figure


def _add(figure: go.Figure, row: int, place: int, arm: str, way: str, bars: pl.DataFrame) -> None:
    style, label = _style.arm_style(place), _style.text(f"{arm}, {way}" if way == _HATCHED else arm)
    figure.add_bar(
        row=row,
        col=1,
        x=[_style.text(group) for group in bars["group"]],
        y=bars["mean"].to_list(),
        error_y={"type": "data", "array": bars["sd"].fill_null(0).to_list(), "thickness": 1.2, "width": 3},
        name=label,
        legendgroup=label,
        showlegend=row == 1,
        marker=_style.bar(style, hatched=way == _HATCHED),
        text=[f"{failed} failed" if failed else "" for failed in bars["failed"]],
        textposition="outside",
        cliponaxis=False,
        customdata=bars.select(pl.col("sd").fill_null(float("nan")), "trials", "failed").rows(),
        hovertemplate="%{y:.5g} ± %{customdata[0]:.3g} "
        + _style.text(bars["unit"][0])
        + f" over %{{customdata[1]}} trials, %{{customdata[2]}} failed<extra>{label}, %{{x}}</extra>",
    )
