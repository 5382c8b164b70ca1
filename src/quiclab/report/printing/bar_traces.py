# SPDX-License-Identifier: Apache-2.0
"""Bars: beside, over or on each other."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from quiclab.report.figures._canvas import Spec
from quiclab.report.printing.axes import Axis, Extent, keys_of
from quiclab.report.printing.labels import Label, label
from quiclab.report.printing.panel import INK, SMALLER_PX, Panel, ink, nth, part
from quiclab.report.printing.paper import Box, Canvas
from quiclab.report.printing.point_traces import error_bars
from quiclab.report.printing.symbols import HATCHES

_GAP_PX = 3.0
_BAR_GAP = 0.2
"""Share of a place that stays free between bars, where a figure does not say."""


@dataclass(frozen=True)
class Bar:
    """One bar: where it stands, in the units of its axes."""

    number: int
    """Place in the trace."""
    middle: float
    width: float
    base: float
    end: float


@dataclass(frozen=True)
class Bars:
    """Traces of bars that share their axes, with their rules for gaps."""

    traces: Sequence[Spec]
    layout: Spec

    def placed(self, asked: int, along: Axis) -> Iterator[Bar]:
        """Bars of one of the traces; `along` is the axis on which they stand."""
        mode = self.layout.get("barmode") or "group"
        slot = self._slot(along) * (1 - float(self._gap()))
        sums: dict[tuple[float, bool], float] = defaultdict(float)
        for turn, trace in enumerate(self.traces):
            places, lengths = sides(trace)
            for number, (place, length) in enumerate(zip(places, lengths, strict=False)):
                where = along.value(place)
                if length is None or math.isnan(where):
                    continue
                base = float(nth(trace.get("base"), number, 0.0))
                if mode == "stack":
                    base += sums[where, length < 0]
                    sums[where, length < 0] += length
                width, middle = float(nth(trace.get("width"), number, slot)), where
                if mode == "group" and trace.get("width") is None:
                    width = slot / len(self.traces)
                    middle = where + (turn - (len(self.traces) - 1) / 2) * width
                    width *= 1 - float(self.layout.get("bargroupgap") or 0)
                if turn == asked:
                    yield Bar(number, middle, width, base, base + length)
            if turn == asked:
                return

    def _gap(self) -> float:
        given = self.layout.get("bargap")
        return _BAR_GAP if given is None else float(given)

    def _slot(self, along: Axis) -> float:
        """Distance of the nearest two places at which bars stand."""
        places = sorted({along.value(place) for trace in self.traces for place in sides(trace)[0] if place is not None})
        return min((second - first for first, second in pairwise(places)), default=1.0) or 1.0


def sides(trace: Spec) -> tuple[Sequence[Any], Sequence[Any]]:
    """Places of a trace's bars, and their lengths."""
    names = ("y", "x") if trace.get("orientation") == "h" else ("x", "y")
    along, lengths = (keys_of(trace.get(name)) for name in names)
    return along, lengths


def extents(bars: Bars, place: int, along: Axis, *, across: bool) -> list[Extent]:
    """Values that a trace of bars needs on one of its axes."""
    trace = bars.traces[place]
    lying = trace.get("orientation") == "h"
    drawn = list(bars.placed(place, along))
    if across != lying:
        return [Extent(bar.middle - bar.width / 2, bar.middle + bar.width / 2, False, False) for bar in drawn]
    found: list[Extent] = []
    errors = trace.get("error_y") or {}
    for bar in drawn:
        more = nth(errors.get("array"), bar.number, 0.0)
        low, high = sorted((bar.base, bar.end))
        written = _text(trace, bar.number) if trace.get("textposition") == "outside" else None
        room = 0.0
        if written is not None and written.text:
            room = (written.width_px if lying else written.height_px) + 2 * _GAP_PX
        forward = bar.end >= bar.base
        found.append(
            Extent(
                low, high + more, padded_low=low < 0, padded_high=high > 0,
                room_high_px=room if forward else 0.0, room_low_px=0.0 if forward else room,
            )
        )  # fmt: skip
    return found


def draw(panel: Panel, bars: Bars, place: int) -> None:
    """Draw one trace of bars."""
    trace = bars.traces[place]
    lying = trace.get("orientation") == "h"
    along, values = (panel.y, panel.x) if lying else (panel.x, panel.y)
    tops: list[tuple[float, Any]] = []
    for bar in bars.placed(place, along):
        edges = sorted(along.pixel(bar.middle + side * bar.width / 2) for side in (-1, 1))
        ends = sorted(values.at(each) for each in (bar.base, bar.end))
        box = Box(ends[0], edges[0], ends[1], edges[1]) if lying else Box(edges[0], ends[0], edges[1], ends[1])
        swatch(panel.canvas, trace, bar.number, box, panel.box)
        tops.append((along.pixel(bar.middle), bar.end))
        _write(panel, trace, bar, box, lying=lying)
    errors = trace.get("error_y") or {}
    if errors.get("array"):
        known = [nth(errors["array"], bar.number, 0.0) for bar in bars.placed(place, along)]
        error_bars(panel, tops, known, known, errors, ink(None))


def swatch(canvas: Canvas, trace: Spec, place: int, box: Box, clip: Box | None) -> None:
    """Fill a rectangle as the bar at a place of a trace is."""
    marker = trace.get("marker") or {}
    colour = nth(marker.get("color"), place) or INK
    opacity = float(trace.get("opacity") or 1) * float(nth(marker.get("opacity"), place, 1.0))
    pattern = marker.get("pattern") or {}
    name = HATCHES[nth(pattern.get("shape"), place, "")]
    hatch = (name, ink(nth(pattern.get("fgcolor"), place) or _contrasting(colour), 0.8)) if name else None
    edge = ink(nth(part(marker, "line.color"), place) or colour, opacity)
    width = float(nth(part(marker, "line.width"), place, 0.0))
    canvas.box(box, ink(colour, opacity), edge, width, hatch, clip)


def _contrasting(colour: str) -> str:
    red, green, blue = (1 - (1 - share) * ink(colour)[3] for share in ink(colour)[:3])  # on white paper
    return "#ffffff" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "#1c1e21"


def _text(trace: Spec, place: int, colour: str = INK, *, inside: bool = False) -> Label:
    own = part(trace, "insidetextfont.size") if inside else None
    size = float(own or part(trace, "textfont.size", SMALLER_PX))
    return label(nth(trace.get("text"), place, ""), size, str(nth(part(trace, "textfont.color"), place, colour)))


def _write(panel: Panel, trace: Spec, bar: Bar, box: Box, *, lying: bool) -> None:
    position = trace.get("textposition") or "auto"
    if position == "none" or not nth(trace.get("text"), bar.number, ""):
        return
    inner = part(trace, "insidetextfont.color") or _contrasting(nth(part(trace, "marker.color"), bar.number) or INK)
    inside = _text(trace, bar.number, inner, inside=True)
    fits = inside.width_px + 2 * _GAP_PX <= box.width and inside.height_px <= box.height
    if position == "inside" or (position == "auto" and fits):
        if fits or trace.get("constraintext") == "none":
            panel.canvas.text(inside, (box.left + box.right) / 2, (box.top + box.bottom) / 2, "center", placed=False)
        return
    outside = _text(trace, bar.number)
    forward, plot, canvas = bar.end >= bar.base, panel.box, panel.canvas
    if lying:
        edge, across = (box.right + _GAP_PX, "left") if forward else (box.left - _GAP_PX, "right")
        written = canvas.text(outside, edge, (box.top + box.bottom) / 2, across, placed=False)
        canvas.bound(written, Box(plot.left - 1, 0, canvas.width, canvas.height), outside)
    else:
        edge, down = (box.top - _GAP_PX, "bottom") if forward else (box.bottom + _GAP_PX, "top")
        canvas.text(outside, (box.left + box.right) / 2, edge, "center", down, placed=False)
