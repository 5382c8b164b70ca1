# SPDX-License-Identifier: Apache-2.0
"""Lines, symbols and texts at points."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from quiclab.report.figures._canvas import Spec
from quiclab.report.printing.axes import Extent, keys_of
from quiclab.report.printing.labels import label
from quiclab.report.printing.panel import INK, SMALLER_PX, Panel, ink, nth, part
from quiclab.report.printing.paper import Canvas, Colour, Point
from quiclab.report.printing.symbols import OPEN, dashes, symbol_path

_SYMBOL_PX, _LINE_PX = 6.0, 2.0
_GAP_PX = 5.0
"""Distance of a point from the text beside it."""


def extents(trace: Spec, values: Sequence[float], *, across: bool) -> list[Extent]:
    """Values that a trace of points needs on one of its axes."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return []
    low, high = min(known), max(known)
    errors = trace.get("error_y") or {}
    if not across and errors.get("array"):
        up, down = errors["array"], errors.get("arrayminus") or errors["array"]
        high = max(value + nth(up, at, 0.0) for at, value in enumerate(values) if not math.isnan(value))
        low = min(value - nth(down, at, 0.0) for at, value in enumerate(values) if not math.isnan(value))
    padded = not across or "markers" in trace.get("mode", "lines")
    return [Extent(low, high, padded, padded)]


def draw(panel: Panel, trace: Spec) -> None:
    """Draw a trace of points."""
    mode = trace.get("mode") or "lines"
    places = panel.points(keys_of(trace.get("x")), keys_of(trace.get("y")))
    opacity = float(trace.get("opacity") or 1)
    clip = None if trace.get("cliponaxis") is False else panel.box
    if part(trace, "error_y.array"):
        _errors(panel, trace, places, opacity)
    if "lines" in mode:
        colour, width, dash = line_style(trace)
        path = _steps(places) if part(trace, "line.shape") == "hv" else places
        panel.canvas.line(path, (*colour[:3], colour[3] * opacity), width, dash, panel.box)
    if "markers" in mode:
        _symbols(panel, trace, places, opacity, clip=clip is not None)
    if "text" in mode:
        _texts(panel, trace, places)


def line_style(trace: Spec) -> tuple[Colour, float, tuple[float, ...]]:
    """Colour, width and dashes of a trace's line."""
    width = float(part(trace, "line.width", _LINE_PX))
    colour = ink(part(trace, "line.color") or nth(part(trace, "marker.color"), 0))
    return colour, width, dashes(part(trace, "line.dash", "solid"), width)


def _steps(places: Sequence[Point]) -> list[Point]:
    stairs: list[Point] = []
    for at, (x, y) in enumerate(places):
        if at and not math.isnan(x):
            stairs.append((x, places[at - 1][1]))
        stairs.append((x, y))
    return stairs


def symbol(canvas: Canvas, trace: Spec, place: int, where: Sequence[Point], opacity: float, turn: float,
           clip: Any) -> None:  # fmt: skip
    """Draw the symbol of the mark at a place of a trace, at each of `where`."""
    marker = trace.get("marker") or {}
    name = str(nth(marker.get("symbol"), place, "circle"))
    size = float(nth(marker.get("size"), place, _SYMBOL_PX))
    colour = nth(marker.get("color"), place) or part(trace, "line.color") or INK
    opacity *= float(nth(marker.get("opacity"), place, 1.0))
    edge = nth(part(marker, "line.color"), place) or colour
    width = float(nth(part(marker, "line.width"), place, 1.0 if name.endswith(OPEN) else 0.0))
    if size <= 0:
        return
    fill = None if name.endswith(OPEN) else ink(colour, opacity)
    line = ink(colour if name.endswith(OPEN) else edge, opacity)
    canvas.stamps(symbol_path(name, turn), where, size, fill, line, width or (1.0 if fill is None else 0.0), clip)


def _symbols(panel: Panel, trace: Spec, places: Sequence[Point], opacity: float, *, clip: bool) -> None:
    marker = trace.get("marker") or {}
    alike: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    follows = marker.get("angleref") == "previous"
    looks = (marker.get("symbol"), marker.get("size"), marker.get("color"), part(marker, "line.color"))
    for at, place in enumerate(places):
        if not any(math.isnan(each) for each in place):
            turn = _turn(places, at) if follows else 0.0
            alike[(*(nth(look, at) for look in looks), turn)].append(at)
    for (*_, turn), marks in alike.items():
        inside = [places[at] for at in marks if not clip or _is_inside(panel, places[at])]
        symbol(panel.canvas, trace, marks[0], inside, opacity, turn, None)


def _is_inside(panel: Panel, place: Point) -> bool:
    box = panel.box
    return box.left - 1 <= place[0] <= box.right + 1 and box.top - 1 <= place[1] <= box.bottom + 1


def _turn(places: Sequence[Point], at: int) -> float:
    """Degrees by which a symbol is turned so that it points away from the point before."""
    if not at or math.isnan(places[at - 1][0]):
        return 0.0
    across, down = places[at][0] - places[at - 1][0], places[at][1] - places[at - 1][1]
    return math.degrees(math.atan2(-down, across)) - 90


def _texts(panel: Panel, trace: Spec, places: Sequence[Point]) -> None:
    down, across = str(trace.get("textposition") or "middle center").split()
    size = float(part(trace, "textfont.size", SMALLER_PX))
    colour = part(trace, "textfont.color", INK)
    shift = {"left": ("right", -1.0), "center": ("center", 0.0), "right": ("left", 1.0)}[across]
    lift = {"top": ("bottom", -1.0), "middle": ("middle", 0.0), "bottom": ("top", 1.0)}[down]
    for at, (x, y) in enumerate(places):
        text = nth(trace.get("text"), at, "")
        if not text or math.isnan(x) or math.isnan(y):
            continue
        panel.canvas.text(
            label(text, size, nth(colour, at, INK)), x + _GAP_PX * shift[1], y + _GAP_PX * lift[1], shift[0], lift[0],
            placed=False,
        )  # fmt: skip


def _errors(panel: Panel, trace: Spec, places: Sequence[Point], opacity: float) -> None:
    errors = trace["error_y"]
    up, down = errors["array"], errors.get("arrayminus") or errors["array"]
    colour = ink(part(trace, "marker.color") if isinstance(part(trace, "marker.color"), str) else None, opacity)
    error_bars(panel, [(x, value) for (x, _), value in zip(places, keys_of(trace["y"]), strict=False)], up, down,
               errors, colour)  # fmt: skip


def error_bars(panel: Panel, marks: Sequence[tuple[float, Any]], up: Any, down: Any, errors: Spec,
               colour: Colour) -> None:  # fmt: skip
    """Draw an interval above and below each mark, which is a pixel across and a value."""
    cap, width = float(errors.get("width") or 3), float(errors.get("thickness") or 2)
    for at, (x, value) in enumerate(marks):
        above, below = nth(up, at, 0.0), nth(down, at, 0.0)
        if value is None or math.isnan(x) or not (above or below):
            continue
        high, low = panel.y.at(value + above), panel.y.at(value - below)
        for stroke in (((x, high), (x, low)), ((x - cap, high), (x + cap, high)), ((x - cap, low), (x + cap, low))):
            panel.canvas.line(stroke, colour, width, (), panel.box)
