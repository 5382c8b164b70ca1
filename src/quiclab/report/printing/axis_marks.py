# SPDX-License-Identifier: Apache-2.0
"""Everything around a plot: grid lines, the marks of its axes and their titles."""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.report.printing.axes import Axis
from quiclab.report.printing.labels import Label, label
from quiclab.report.printing.panel import INK, RULE, SMALLER_PX, ink, part
from quiclab.report.printing.paper import Box, Canvas

_GAP_PX, _TITLE_GAP_PX = 5.0, 9.0
_TITLE_PX = 14.0


def mark_labels(axis: Axis) -> list[tuple[float, Label]]:
    """Places of an axis' marks with what is written at each; names across are wrapped into their room."""
    if not axis.visible or axis.node.get("showticklabels") is False:
        return []
    size = float(part(axis.node, "tickfont.size", SMALLER_PX))
    marks = [(place, label(text, size, INK)) for place, text in axis.marks()]
    if axis.is_category and marks:
        room = abs(axis.end - axis.begin) / max(1, len(axis.keys)) - 4
        marks = [(place, _wrapped(axis, text, room)) for place, text in marks]
    if not axis.is_category and axis.node.get("tickvals") is None:
        marks = _thinned(axis, marks)
    return marks


def _wrapped(axis: Axis, text: Label, room: float) -> Label:
    """The name in its room along the axis; beside a vertical axis only where the lines fit below each other."""
    if axis.across:
        return text.wrapped(room)
    lines = text.wrapped(axis.widest_px)
    return lines if lines.height_px <= room else text


def _thinned(axis: Axis, marks: Sequence[tuple[float, Label]]) -> list[tuple[float, Label]]:
    """Every n-th mark, so that none runs into the next."""
    for step in range(1, len(marks) + 1):
        kept = marks[::step]
        middles = [axis.pixel(place) for place, _ in kept]
        rooms = [text.width_px + 8 if axis.across else text.height_px for _, text in kept]
        near = zip(middles, rooms, middles[1:], rooms[1:], strict=False)
        if all(abs(second - first) >= (one + other) / 2 for first, one, second, other in near):
            return list(kept)
    return []


def title_label(axis: Axis) -> Label | None:
    """The title of an axis, wrapped into its length."""
    text = part(axis.node, "title.text")
    if not text or not axis.visible:
        return None
    return label(text, float(part(axis.node, "title.font.size", _TITLE_PX)), INK).wrapped(abs(axis.end - axis.begin))


def outer_labels(axis: Axis) -> list[tuple[float, Label]]:
    """Names of the groups of an axis with pairs of names, in the middle of each."""
    groups: dict[str, list[int]] = {}
    for place, key in enumerate(axis.keys):
        if isinstance(key, tuple):
            groups.setdefault(key[0], []).append(place)
    return [(sum(places) / len(places), label(name, SMALLER_PX, INK)) for name, places in groups.items()]


def room_px(axis: Axis) -> float:
    """Room that an axis takes beside its plot."""
    marks, title = mark_labels(axis), title_label(axis)
    room = max((text.height_px if axis.across else text.width_px for _, text in marks), default=0.0)
    room += _GAP_PX if marks else 0.0
    outer = outer_labels(axis)
    if outer:
        room += 2 * _GAP_PX + max(text.height_px if axis.across else text.width_px for _, text in outer)
    return room + (title.height_px + _TITLE_GAP_PX if title else 0.0)


def overhang_px(axis: Axis) -> tuple[float, float]:
    """Parts of the first and last marks' texts that stand out beyond the ends of a horizontal axis."""
    left, right = sorted((axis.begin, axis.end))
    spans = [(axis.pixel(place) - text.width_px / 2, axis.pixel(place) + text.width_px / 2)
             for place, text in mark_labels(axis)]  # fmt: skip
    return max((left - low for low, _ in spans), default=0.0), max((high - right for _, high in spans), default=0.0)


def draw_grid(canvas: Canvas, axis: Axis, box: Box) -> None:
    """Draw the lines at an axis' marks, and a stronger one at zero."""
    if not axis.visible:
        return
    if axis.node.get("showgrid") is not False:
        for place, _ in axis.marks():
            _across(canvas, axis, box, place, 1.0)
    low, high = sorted((axis.low, axis.high))
    wants = axis.node.get("zeroline")
    if axis.kind == "linear" and wants is not False and low <= 0 <= high:
        _across(canvas, axis, box, 0.0, float(axis.node.get("zerolinewidth") or (2 if wants else 1.5)))


def _across(canvas: Canvas, axis: Axis, box: Box, place: float, width: float) -> None:
    at = axis.pixel(place)
    ends = [(at, box.top), (at, box.bottom)] if axis.across else [(box.left, at), (box.right, at)]
    canvas.line(ends, ink(RULE), width)


def draw_marks(canvas: Canvas, axis: Axis, box: Box) -> None:
    """Write what stands at an axis' marks, and its title; `box` is the plot, or the line that the axis stands at."""
    marks, title, outer = mark_labels(axis), title_label(axis), outer_labels(axis)
    if axis.across:
        _below(canvas, axis, box, marks, title)
        return
    edge = box.left - _GAP_PX
    for place, text in marks:
        canvas.text(text, edge, axis.pixel(place), "right")
    edge -= max((text.width_px for _, text in marks), default=0.0)
    if outer:
        edge -= 2 * _GAP_PX
        for place, text in outer:
            canvas.text(text, edge, axis.pixel(place), "right")
        edge -= max(text.width_px for _, text in outer)
        _separators(canvas, axis, box, edge)
    if title:
        canvas.text(title, edge - _TITLE_GAP_PX + _GAP_PX, (box.top + box.bottom) / 2, "center", "bottom",
                    upright=True)  # fmt: skip


def _separators(canvas: Canvas, axis: Axis, box: Box, edge: float) -> None:
    for place, (one, other) in enumerate(zip(axis.keys, axis.keys[1:], strict=False)):
        if one[0] != other[0]:
            at = axis.pixel(place + 0.5)
            canvas.line([(edge, at), (box.left, at)], ink(RULE), 1.0)


def _below(canvas: Canvas, axis: Axis, box: Box, marks: Sequence[tuple[float, Label]], title: Label | None) -> None:
    above = axis.node.get("side") == "top"
    edge, down = (box.top - _GAP_PX, "bottom") if above else (box.bottom + _GAP_PX, "top")
    for place, text in marks:
        canvas.text(text, axis.pixel(place), edge, "center", down)
    room = max((text.height_px for _, text in marks), default=0.0) + _TITLE_GAP_PX - _GAP_PX
    if title:
        canvas.text(title, (axis.begin + axis.end) / 2, edge - room if above else edge + room, "center", down)
