# SPDX-License-Identifier: Apache-2.0
"""Everything on a figure that belongs to no trace: legend, annotations, arrows, bands and pictures."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from quiclab.report.figures._canvas import Spec
from quiclab.report.printing.bar_traces import swatch
from quiclab.report.printing.labels import Label, label
from quiclab.report.printing.panel import FONT_PX, INK, SMALLER_PX, Places, ink, nth, part
from quiclab.report.printing.paper import Box, Canvas, Point
from quiclab.report.printing.point_traces import line_style, symbol

_KEY_PX, _KEY_GAP_PX, _ENTRY_GAP_PX = 26.0, 6.0, 16.0
_ROW_PX = 19.0
_ANNOTATION_PX = 12.0
_HEAD_PX = 3.4
"""Length of an arrow's head, as a multiple of its width."""


@dataclass(frozen=True)
class Entry:
    """One entry of a legend, and the pixel across and the row at which it stands."""

    trace: Spec
    text: Label
    left: float
    row: int


def legend_entries(figure: Spec, width: float) -> list[Entry]:
    """Entries of the legend in rows of a width; none where the figure has no legend."""
    if not figure["layout"].get("showlegend", len(figure["data"]) > 1):
        return []
    shown = [trace for trace in figure["data"] if trace.get("name") and trace.get("showlegend") is not False]
    entries: list[Entry] = []
    left, row = 0.0, 0
    for trace in sorted(shown, key=lambda trace: trace.get("legendrank", 1000)):
        text = label(trace["name"], SMALLER_PX, INK).wrapped(width - _KEY_PX - _KEY_GAP_PX)
        needed = _KEY_PX + _KEY_GAP_PX + text.width_px
        if left and left + needed > width:
            left, row = 0.0, row + 1
        entries.append(Entry(trace, text, left, row))
        left += needed + _ENTRY_GAP_PX
    return entries


def legend_height(entries: Sequence[Entry]) -> float:
    """Height of all rows of a legend."""
    return _ROW_PX * (1 + max(entry.row for entry in entries)) if entries else 0.0


def draw_legend(canvas: Canvas, entries: Sequence[Entry], left: float, top: float) -> None:
    """Draw a legend from its upper left corner."""
    for entry in entries:
        x, y = left + entry.left, top + (entry.row + 0.5) * _ROW_PX
        trace, kind = entry.trace, entry.trace.get("type", "scatter")
        if kind == "bar":
            swatch(canvas, trace, 0, Box(x + 5, y - 6, x + _KEY_PX - 5, y + 6), None)
        elif kind in ("box", "violin"):
            box = Box(x + 5, y - 6, x + _KEY_PX - 5, y + 6)
            canvas.box(box, ink(trace.get("fillcolor")), ink(part(trace, "line.color")), 1.5)
        else:
            opacity, mode = float(trace.get("opacity") or 1), str(trace.get("mode") or "lines")
            if "lines" in mode:
                colour, width, dash = line_style(trace)
                canvas.line([(x, y), (x + _KEY_PX, y)], (*colour[:3], colour[3] * opacity), min(width, 8.0), dash)
            if "markers" in mode:
                sizes, turn = part(trace, "marker.size"), -90.0 if part(trace, "marker.angleref") else 0.0
                first = next((at for at, size in enumerate(sizes) if size), 0) if isinstance(sizes, list) else 0
                symbol(canvas, trace, first, [(x + _KEY_PX / 2, y)], opacity, turn, None)
        canvas.text(entry.text, x + _KEY_PX + _KEY_GAP_PX, y, "left", "middle")


def draw_annotations(canvas: Canvas, notes: Sequence[Spec], places: Places) -> None:
    """Draw texts and arrows."""
    for note in notes:
        head = places.x(note["x"], note.get("xref")), places.y(note["y"], note.get("yref"))
        if note.get("showarrow", True):
            tail = places.x(note["ax"], note.get("axref")), places.y(note["ay"], note.get("ayref"))
            _arrow(canvas, note, tail, head)
            head = tail
        if not note.get("text"):
            continue
        text = label(note["text"], float(part(note, "font.size", _ANNOTATION_PX)), part(note, "font.color", INK))
        across, down = note.get("xanchor") or "center", note.get("yanchor") or "middle"
        canvas.text(
            text.wrapped(canvas.width - 20) if note.get("xref") == "paper" else text,
            head[0] + float(note.get("xshift") or 0), head[1] - float(note.get("yshift") or 0),
            across, down, align=note.get("align") or "center",
            placed="paper" in (note.get("xref"), note.get("yref")),
        )  # fmt: skip


def _arrow(canvas: Canvas, note: Spec, tail: Point, head: Point) -> None:
    width = float(note.get("arrowwidth") or 1)
    across, down = head[0] - tail[0], head[1] - tail[1]
    length = math.hypot(across, down) or 1.0
    one, size = (across / length, down / length), _HEAD_PX * width * float(note.get("arrowsize") or 1)
    foot = head[0] - one[0] * size, head[1] - one[1] * size
    colour = ink(note.get("arrowcolor"))
    canvas.line([tail, foot], colour, width)
    aside = -one[1] * size / 2, one[0] * size / 2
    corners = [head, (foot[0] + aside[0], foot[1] + aside[1]), (foot[0] - aside[0], foot[1] - aside[1])]
    canvas.area(corners, colour)


def draw_shapes(canvas: Canvas, shapes: Sequence[Spec], places: Places) -> None:
    """Draw bands behind the traces."""
    for shape in shapes:
        xs = sorted(places.x(shape[name], shape.get("xref")) for name in ("x0", "x1"))
        ys = sorted(places.y(shape[name], shape.get("yref")) for name in ("y0", "y1"))
        edge = ink(part(shape, "line.color"))
        canvas.box(Box(xs[0], ys[0], xs[1], ys[1]), ink(shape.get("fillcolor"), default="#00000000"), edge,
                   float(part(shape, "line.width", 2)))  # fmt: skip


def draw_images(canvas: Canvas, images: Sequence[Spec], places: Places) -> None:
    """Draw pictures into their rectangles, each in its own proportions."""
    from PIL import Image  # imported late: few figures have pictures

    for node in images:
        source = str(node["source"])
        with Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) as opened:
            picture = opened.convert("RGB")
        x, y = places.x(node["x"], node.get("xref")), places.y(node["y"], node.get("yref"))
        wide = abs(places.x(node["x"] + node["sizex"], node.get("xref")) - x)
        high = abs(places.y(node["y"] + node["sizey"], node.get("yref")) - y)
        shrink = min(wide / picture.width, high / picture.height)
        width, height = picture.width * shrink, picture.height * shrink
        # The picture stands where its anchors say, in the rectangle and of it.
        left = x - {"left": 0.0, "center": 0.5, "right": 1.0}[node.get("xanchor") or "left"] * width
        top = y - {"top": 0.0, "middle": 0.5, "bottom": 1.0}[node.get("yanchor") or "top"] * height
        canvas.image(picture, Box(left, top, left + width, top + height))


def title_of(layout: Spec, width: float) -> Label | None:
    """The title of a figure, in lines that fit."""
    text = part(layout, "title.text")
    if not text:
        return None
    return label(text, float(part(layout, "title.font.size", FONT_PX)), nth(part(layout, "title.font.color"), 0, INK)
                 ).wrapped(width)  # fmt: skip
