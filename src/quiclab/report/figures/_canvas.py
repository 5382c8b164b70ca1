# SPDX-License-Identifier: Apache-2.0
"""Plotly figures as plain data, with the few calls of `plotly.graph_objects` that figures use.

Plotly's own objects check every property when it is set, 20 ms a figure, and a report has thousands. Here nothing is
checked; a test gives every figure to plotly's objects once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Spec = dict[str, Any]
"""A figure of plotly, or a part of one, as plain data: plotly has its types."""


class Node(Spec):
    """A part of a figure: `layout.margin.t` reads like `layout["margin"]["t"]`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def merge(self, changes: Mapping[str, object]) -> None:
        """Set what `changes` has, part by part."""
        for name, value in changes.items():
            if isinstance(value, Mapping):
                self.setdefault(name, Node()).merge(value)
            else:
                self[name] = value


def _node(properties: Mapping[str, object]) -> Node:
    node = Node()
    node.merge(properties)
    return node


def Heatmap(**properties: Any) -> Node:  # noqa: N802 - as plotly calls it
    """A trace."""
    return _node({"type": "heatmap"} | properties)


def panels(titles: Sequence[str], *, across: int, gap_across: float, gap_down: float) -> Figure:
    """Plots beside and below each other, each with a title above it; gaps are shares of the figure's size."""
    down = -(-len(titles) // across)
    width, height = (1 - gap_across * (across - 1)) / across, (1 - gap_down * (down - 1)) / down
    figure = Figure()
    for place, title in enumerate(titles):
        left = place % across * (width + gap_across)
        top = 1 - place // across * (height + gap_down)
        number = axis_number(place)
        figure.update_layout(
            {
                f"xaxis{number}": {"anchor": f"y{number}", "domain": [left, left + width]},
                f"yaxis{number}": {"anchor": f"x{number}", "domain": [max(0.0, top - height), top]},
            }
        )
        figure.add_annotation(
            text=title, x=left + width / 2, y=top, xref="paper", yref="paper", xanchor="center", yanchor="bottom",
            showarrow=False, font={"size": 16},
        )  # fmt: skip
    return figure


def axis_number(place: int) -> str:
    """Number with which the names of a panel's axes end."""
    return "" if place == 0 else str(place + 1)


def in_panel(place: int) -> dict[str, str]:
    """Axes of a trace in a panel."""
    return {"xaxis": f"x{axis_number(place)}", "yaxis": f"y{axis_number(place)}"}


class Figure:
    """Traces and a layout."""

    def __init__(self, data: Iterable[Node] = ()) -> None:
        self.data: list[Node] = list(data)
        self.layout = Node()

    def add_trace(self, properties: Mapping[str, object]) -> None:
        """Add a trace of the kind that `properties["type"]` says."""
        self.data.append(_node(properties))

    def add_scatter(self, **properties: Any) -> None:
        """Add marks, lines or both."""
        self._add("scatter", properties)

    def add_bar(self, **properties: Any) -> None:
        """Add bars."""
        self._add("bar", properties)

    def add_annotation(self, **properties: Any) -> None:
        """Add a text or an arrow."""
        self.layout.setdefault("annotations", []).append(_node(properties))

    def update_layout(self, layout: Mapping[str, object] | None = None, **properties: Any) -> None:
        """Set parts of the layout."""
        self.layout.merge(layout or {})
        self.layout.merge(properties)

    def update_xaxes(self, **properties: Any) -> None:
        """Set parts of every horizontal axis."""
        self._axes("xaxis", properties)

    def update_yaxes(self, **properties: Any) -> None:
        """Set parts of every vertical axis."""
        self._axes("yaxis", properties)

    def to_plotly_json(self) -> dict[str, object]:
        """Return the figure as JSON in the form of plotly's own figures."""
        return {"data": self.data, "layout": self.layout}

    def _add(self, kind: str, properties: Mapping[str, object]) -> None:
        self.data.append(_node({"type": kind} | dict(properties)))

    def _axes(self, kind: str, properties: Mapping[str, object]) -> None:
        for name in [kind, *(key for key in self.layout if key.startswith(kind) and key != kind)]:
            self.layout.merge({name: properties})


def spec(figure: Any) -> dict[str, object]:
    """A figure, of this kind or of plotly's, as what plotly's script draws."""
    if isinstance(figure, Figure):
        return figure.to_plotly_json()
    plain: dict[str, object] = json.loads(figure.to_json())
    return plain
