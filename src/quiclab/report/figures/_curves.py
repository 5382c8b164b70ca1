# SPDX-License-Identifier: Apache-2.0
"""Curves over the time of a transfer: an arm keeps its colour and marker, what is drawn of it has a dash of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._canvas import Spec

COLUMNS = {
    "arm": "a colour each, the baseline first",
    "series": "what the curve shows of the arm",
    "x_ms": "time since the client's first packet, ms",
    "y": "the value",
    "trial": "which of the arm's trials; several lie over each other",
}
_DASHES = ("solid", "dot", "dash", "dashdot", "longdash")
_MOST_MARKS = 60
"""Most points of a curve that are marked one by one; for more, the line is enough."""


def draw(data: pl.DataFrame, y_title: str, unit: str, *, step: bool = False) -> Any:
    """One row of `data` per point. With `step` a value holds until the next one."""
    figure = go.Figure()
    series = data["series"].unique(maintain_order=True).to_list()
    for arm, style in _style.arms(data):
        for number, name in enumerate(series):
            drawn = data.filter((pl.col("arm") == arm) & (pl.col("series") == name))
            if drawn.height and drawn["x_ms"].null_count() == drawn.height:  # says why there is nothing
                figure.add_scatter(x=[None], y=[None], mode="lines", name=f"{_style.text(arm)}: {_style.text(name)}",
                                   line={"color": style.colour, "dash": style.dash})  # fmt: skip
                continue
            label = _style.text(arm) if len(series) == 1 else f"{_style.text(arm)}: {_style.text(name)}"
            dash = style.dash if len(series) == 1 else _DASHES[number % len(_DASHES)]
            for curve, look, told in trial_curves(drawn, label):
                figure.add_scatter(
                    x=curve["x_ms"].to_list(),
                    y=curve["y"].to_list(),
                    mode="lines+markers" if curve.height <= _MOST_MARKS and "opacity" not in look else "lines",
                    marker={"symbol": style.marker, "size": 6, "color": style.colour},
                    line={"color": style.colour, "dash": dash, "shape": "hv" if step else "linear"} | look.pop("line"),
                    hovertemplate="%{x:.5g} ms: %{y:,.5g} " + _style.text(unit) + f"<extra>{told}</extra>",
                    **look,
                )
    figure.update_layout(
        _style.with_legend(380),
        hovermode="closest",
    )
    figure.update_xaxes(title={"text": "time since the client's first packet, ms"}, automargin=True, rangemode="tozero")
    figure.update_yaxes(title={"text": y_title}, automargin=True, rangemode="tozero")
    return figure


def trial_curves(data: pl.DataFrame, label: str) -> Iterator[tuple[pl.DataFrame, Spec, str]]:
    """The points of each trial, how its curve looks, and what it is called: several are thin and share their entry in
    the legend, which hides and shows all of them."""
    if "trial" not in data.columns or data["trial"].n_unique() < 2:
        if data.height:
            yield data, {"name": label, "line": {"width": 2}}, label
        return
    for number, (_, curve) in enumerate(data.group_by("trial", maintain_order=True)):
        group = {"name": label, "legendgroup": label, "showlegend": number == 0}
        yield curve, group | {"opacity": 0.75, "line": {"width": 1.3}}, f"{label}, {_style.text(curve['trial'][0])}"
