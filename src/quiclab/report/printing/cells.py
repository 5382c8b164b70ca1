# SPDX-License-Identifier: Apache-2.0
"""Coloured cells of maps, and tables."""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.report.figures import colour_at
from quiclab.report.figures._canvas import Spec
from quiclab.report.printing.axes import keys_of
from quiclab.report.printing.labels import Label, label
from quiclab.report.printing.panel import INK, SMALLER_PX, Panel, ink, nth, part
from quiclab.report.printing.paper import Box, Canvas

_PADDING_PX = 7.0


def draw(panel: Panel, trace: Spec) -> None:
    """Draw the cells of a map that have a value, with their texts."""
    columns, rows = keys_of(trace.get("x")), keys_of(trace.get("y"))
    values = [value for row in trace["z"] for value in row if value is not None]
    if not values:
        return
    low = float(trace["zmin"]) if trace.get("zmin") is not None else min(values)
    high = float(trace["zmax"]) if trace.get("zmax") is not None else max(values)
    gap_x, gap_y = float(trace.get("xgap") or 0) / 2, float(trace.get("ygap") or 0) / 2
    for row, cells in zip(rows, trace["z"], strict=False):
        for column, value in zip(columns, cells, strict=False):
            if value is None:
                continue
            left, right = sorted(panel.x.pixel(panel.x.value(column) + side) for side in (-0.5, 0.5))
            top, bottom = sorted(panel.y.pixel(panel.y.value(row) + side) for side in (-0.5, 0.5))
            share = (value - low) / ((high - low) or 1.0)
            box = Box(left + gap_x, top + gap_y, right - gap_x, bottom - gap_y)
            panel.canvas.box(box, ink(colour_at(trace["colorscale"], share)))
            _write(panel, trace, rows.index(row), columns.index(column), box)


def _write(panel: Panel, trace: Spec, row: int, column: int, box: Box) -> None:
    texts = trace.get("text") or []
    text = nth(nth(texts, row, []), column, "")
    if not text:
        return
    size = float(part(trace, "textfont.size", SMALLER_PX))
    written = label(text, size, part(trace, "textfont.color", INK)).wrapped(box.width - 2)
    place = panel.canvas.text(written, (box.left + box.right) / 2, (box.top + box.bottom) / 2, "center")
    panel.canvas.bound(place, box, written)


def table_heights(trace: Spec, width: float) -> list[float]:
    """Heights of a table's rows, the headings first."""
    return [_height(row) for row in _texts(trace, width)]


def draw_table(canvas: Canvas, trace: Spec, box: Box) -> None:
    """Draw a table from the top of a rectangle."""
    widths = _widths(trace, box.width)
    top = box.top
    for place, row in enumerate(_texts(trace, box.width)):
        node = trace["header" if place == 0 else "cells"]
        height, left = _height(row), box.left
        for column, (text, width) in enumerate(zip(row, widths, strict=True)):
            cell = Box(left, top, left + width, top + height)
            rule = ink(nth(part(node, "line.color"), column))
            canvas.box(cell, ink(nth(part(node, "fill.color"), column)), rule, float(part(node, "line.width", 1)))
            align = nth(node.get("align"), column, "center")
            at = {"left": left + _PADDING_PX, "center": left + width / 2, "right": left + width - _PADDING_PX}[align]
            canvas.bound(canvas.text(text, at, top + height / 2, align), cell, text)
            left += width
        top += height


def _widths(trace: Spec, width: float) -> list[float]:
    shares = trace["columnwidth"]
    return [share / sum(shares) * width for share in shares]


def _texts(trace: Spec, width: float) -> list[list[Label]]:
    header, cells = trace["header"], trace["cells"]
    rows: list[tuple[Spec, Sequence[object]]] = [(header, header["values"])]
    rows += [(cells, row) for row in zip(*cells["values"], strict=True)]
    room = [each - 2 * _PADDING_PX for each in _widths(trace, width)]
    return [
        [label(text, float(part(node, "font.size", SMALLER_PX)), INK).wrapped(own)
         for text, own in zip(row, room, strict=True)]
        for node, row in rows
    ]  # fmt: skip


def _height(row: Sequence[Label]) -> float:
    return max(text.height_px for text in row) + 2 * _PADDING_PX
