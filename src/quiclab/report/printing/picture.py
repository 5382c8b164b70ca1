# SPDX-License-Identifier: Apache-2.0
"""A figure of plotly as a picture: its parts find their room, then each is drawn."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from quiclab.model.errors import SpecError
from quiclab.report.figures._canvas import Spec
from quiclab.report.printing import axis_marks, bar_traces, cells, notes, point_traces, spread
from quiclab.report.printing.axes import Axis, Extent, keys_of, kind_of, ordered_keys, set_range
from quiclab.report.printing.bar_traces import Bars
from quiclab.report.printing.known import check
from quiclab.report.printing.panel import Panel, Places
from quiclab.report.printing.paper import INCH_PX, Box, Canvas
from quiclab.report.printing.print_size import AS_ON_SCREEN, PrintSize, font_text

_WIDTH_PX = 760.0
"""About the width of a page's text, so that labels keep their size in print."""
_WIDER = (1.0, 1.25, 1.6)
"""Multiples of the width that are tried where nobody asks for one, for long names."""
_WIDEST = 0.34
"""Share of a figure's width that the names beside a plot take before they are broken into lines."""
_TITLE_TOP_PX = 8.0
_ROUNDS = 3
"""Times that margins and ranges are found anew, since each depends on the other."""


@dataclass
class Margins:
    """Room around the plots, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


@dataclass
class Drawing:
    """A figure while its parts find their room."""

    figure: Spec
    width: float
    axes: dict[str, Axis] = field(default_factory=dict)
    height: float = 0.0

    def __post_init__(self) -> None:
        check(self.figure)
        layout = self.figure["layout"]
        self.traces = [trace for trace in self.figure["data"] if trace.get("visible", True) is not False]
        margin = {"l": 80.0, "r": 80.0, "t": 100.0, "b": 80.0} | (layout.get("margin") or {})
        self.margins = Margins(*(float(margin[side]) for side in "lrtb"))
        self.title = notes.title_of(layout, self.width - 16)
        names = dict.fromkeys(re.sub("axis", "", key) for key in layout if re.fullmatch(r"[xy]axis\d*", key))
        for name in (*names, *(self._axis_name(trace, side) for trace in self.traces for side in "xy")):
            key = f"{name[0]}axis{name[1:]}"
            self.axes.setdefault(name, Axis(name, layout.get(key) or {}, widest_px=_WIDEST * self.width))
        for name, axis in self.axes.items():
            columns = [keys_of(trace.get(name[0])) for trace in self.traces if self._axis_name(trace, name[0]) == name]
            axis.kind = kind_of(axis.node, columns)
            axis.keys = ordered_keys(axis.node, columns) if axis.is_category else []
        self.entries: list[notes.Entry] = []
        self._find_room()
        for table in (trace for trace in self.traces if trace.get("type") == "table"):
            self.margins.left, self.margins.right = float(margin["l"]), float(margin["r"])  # there is no axis
            inner = self.width - self.margins.left - self.margins.right
            self.height = self._title_room()[0] + sum(cells.table_heights(table, inner)) + 2 * _TITLE_TOP_PX

    @staticmethod
    def _axis_name(trace: Spec, side: str) -> str:
        return str(trace.get(f"{side}axis") or side)

    @property
    def plot(self) -> Box:
        """The rectangle of all plots."""
        margins = self.margins
        return Box(margins.left, margins.top, self.width - margins.right, self.height - margins.bottom)

    def _find_room(self) -> None:
        layout, least = self.figure["layout"], self.margins
        base = float(layout.get("height") or 450)
        given_lines = str((layout.get("title") or {}).get("text") or "").count("<br>") + 1
        extra_title = 0.0
        if self.title:
            extra_title = max(0.0, self.title.height_px - 18.0 * given_lines)
        self.height = base + extra_title
        first = Margins(least.left, least.right, least.top, least.bottom)
        for _ in range(_ROUNDS):
            self._place_axes()
            self.entries = notes.legend_entries(self.figure, self.plot.width)
            self.margins = self._margins(first, base, extra_title)
        self._place_axes()

    def _margins(self, least: Margins, base: float, extra_title: float) -> Margins:
        """Margins with room for axes, legend and title; the height grows by what a legend of one row would not need."""
        plot = self.plot
        left, right, top, bottom = least.left, least.right, 0.0, 0.0
        for axis in self.axes.values():
            room = axis_marks.room_px(axis)
            if not axis.across:
                left = max(left, 8 + room - (self._bounds(axis).left - plot.left))
                continue
            before, after = axis_marks.overhang_px(axis)
            first, last = axis.domain
            left, right = max(left, before + 4 - first * plot.width), max(right, after + 4 - (1 - last) * plot.width)
            bounds = self._bounds(axis)
            if axis.node.get("side") == "top":
                top = max(top, room - (bounds.top - plot.top))
            else:
                bottom = max(bottom, room - (plot.bottom - bounds.bottom))
        head, foot = self._title_room()
        legend = notes.legend_height(self.entries)
        offset = self._legend_offset(plot)
        if offset is not None and offset >= 0:
            top = max(top, offset + legend)
        elif offset is not None:
            bottom = max(bottom, -offset + legend, bottom + legend + 6)
        spare = max(0.0, legend - 20) if offset is not None else 0.0
        self.height = base + extra_title + spare
        return Margins(
            left, right, max(least.top + (extra_title if head else 0.0), head + top + 6),
            max(least.bottom, bottom + foot + 4),
        )  # fmt: skip

    def _title_room(self) -> tuple[float, float]:
        """Room of the title above and below the plots."""
        if not self.title:
            return 0.0, 0.0
        room = self.title.height_px + _TITLE_TOP_PX
        return (0.0, room) if self._title_below() else (room, 0.0)

    def _title_below(self) -> bool:
        return (self.figure["layout"].get("title") or {}).get("yanchor") == "top"

    def _legend_offset(self, plot: Box) -> float | None:
        """Pixels from the plots' top up to the legend's foot; below zero from their bottom down to its top."""
        if not self.entries:
            return None
        where = self.figure["layout"].get("legend") or {}
        y = float(1.02 if where.get("y") is None else where["y"])
        return (y - 1) * plot.height if y >= 0 else y * plot.height

    def _place_axes(self) -> None:
        plot = self.plot
        for axis in self.axes.values():
            first, last = axis.domain
            if axis.across:
                axis.begin, axis.end = plot.left + first * plot.width, plot.left + last * plot.width
            else:
                axis.begin, axis.end = plot.bottom - first * plot.height, plot.bottom - last * plot.height
        for axis in self.axes.values():
            set_range(axis, [each for name in self._together(axis) for each in self._extents(self.axes[name])])

    def _together(self, axis: Axis) -> list[str]:
        """Names of the axes that share the range of one."""
        leader = str(axis.node.get("matches") or axis.name)
        return [name for name, each in self.axes.items() if leader in (name, each.node.get("matches"))]

    def bar_groups(self) -> dict[tuple[str, str], Bars]:
        """Bars by the names of the axes that they share."""
        groups: dict[tuple[str, str], list[Spec]] = {}
        for trace in self.traces:
            if trace.get("type") == "bar":
                groups.setdefault((self._axis_name(trace, "x"), self._axis_name(trace, "y")), []).append(trace)
        return {names: Bars(traces, self.figure["layout"]) for names, traces in groups.items()}

    def _extents(self, axis: Axis) -> list[Extent]:
        found: list[Extent] = []
        side = axis.name[0]
        for (x, y), group in self.bar_groups().items():
            if axis.name in (x, y):
                lying = group.traces[0].get("orientation") == "h"
                along = self.axes[y if lying else x]
                for place in range(len(group.traces)):
                    found += bar_traces.extents(group, place, along, across=axis.across)
        for trace in self.traces:
            if self._axis_name(trace, side) != axis.name or trace.get("type", "scatter") in ("bar", "table"):
                continue
            if trace.get("type") in ("box", "violin"):
                found += spread.extents(trace, axis) if axis.across else []
            elif trace.get("type") != "heatmap":
                column = [axis.value(value) for value in keys_of(trace.get(side))]
                found += point_traces.extents(trace, column, across=axis.across)
        return found

    def _bounds(self, axis: Axis) -> Box:
        """The plot at whose edge an axis stands, or the line at which it stands freely."""
        plot, anchor = self.plot, axis.node.get("anchor")
        if anchor == "free":
            at = float(axis.node.get("position") or 0)
            level = plot.bottom - at * plot.height
            side = plot.left + at * plot.width
            return Box(plot.left, level, plot.right, level) if axis.across else Box(side, plot.top, side, plot.bottom)
        other = self.axes.get(str(anchor or ("y" if axis.across else "x")))
        first, last = other.domain if other else (0.0, 1.0)
        own_first, own_last = axis.domain
        across, down = ((own_first, own_last), (first, last)) if axis.across else ((first, last), (own_first, own_last))
        return Box(
            plot.left + across[0] * plot.width, plot.bottom - down[1] * plot.height,
            plot.left + across[1] * plot.width, plot.bottom - down[0] * plot.height,
        )  # fmt: skip

    def draw(self, scale: float) -> Canvas:
        """Draw all of it on paper."""
        canvas = Canvas(self.width, self.height, scale)
        tables = [trace for trace in self.traces if trace.get("type") == "table"]
        if tables:
            self._draw_tables(canvas, tables)
        else:
            self._draw_plots(canvas)
        return canvas

    def _draw_tables(self, canvas: Canvas, tables: Sequence[Spec]) -> None:
        top = self._title_room()[0] + 4
        box = Box(self.margins.left, top, self.width - self.margins.right, self.height)
        cells.draw_table(canvas, tables[0], box)
        self._draw_title(canvas)

    def _draw_plots(self, canvas: Canvas) -> None:
        layout, plot = self.figure["layout"], self.plot
        places = Places(plot, self.axes)
        notes.draw_shapes(canvas, layout.get("shapes") or [], places)
        for axis in self.axes.values():
            axis_marks.draw_grid(canvas, axis, self._bounds(axis) if axis.node.get("anchor") != "free" else plot)
        drawn: dict[tuple[str, str], int] = {}
        groups = self.bar_groups()
        for trace in self.traces:
            names = self._axis_name(trace, "x"), self._axis_name(trace, "y")
            panel, kind = Panel(canvas, self.axes[names[0]], self.axes[names[1]]), trace.get("type", "scatter")
            if kind == "bar":
                drawn[names] = drawn.get(names, -1) + 1
                bar_traces.draw(panel, groups[names], drawn[names])
            else:
                {"scatter": point_traces.draw, "heatmap": cells.draw, "box": spread.draw, "violin": spread.draw}[kind](
                    panel, trace
                )
        for axis in self.axes.values():
            if axis.visible:
                axis_marks.draw_marks(canvas, axis, self._bounds(axis))
        notes.draw_images(canvas, layout.get("images") or [], places)
        notes.draw_annotations(canvas, layout.get("annotations") or [], places)
        self._draw_title(canvas)
        offset = self._legend_offset(plot)
        if offset is not None:
            height = notes.legend_height(self.entries)
            foot = self.height - self._title_room()[1] - 4 - height
            notes.draw_legend(canvas, self.entries, plot.left, plot.top - offset - height if offset >= 0 else foot)

    def _draw_title(self, canvas: Canvas) -> None:
        if self.title and self._title_below():
            canvas.text(self.title, 8, self.height - _TITLE_TOP_PX / 2, "left", "bottom")
        elif self.title:
            canvas.text(self.title, 8, _TITLE_TOP_PX, "left", "top")


def printed(figure: Spec, kind: str, size: PrintSize = AS_ON_SCREEN) -> bytes:
    """Draw a figure as `pdf`, `svg` or `png`.

    Raises SpecError for what no picture can have, and where the labels do not fit.
    """
    least = float((figure["layout"].get("meta") or {}).get("least_px") or 0)
    if size.width_px is not None:
        return _with_room(figure, size.width_px, size).save(kind)
    first: Canvas | None = None
    for wider in _WIDER:
        canvas = Drawing(figure, max(_WIDTH_PX, least) * wider).draw(size.scale)
        first = first or canvas
        if not any(canvas.misfits()):
            return canvas.save(kind)
    assert first is not None
    return first.save(kind)


def _with_room(figure: Spec, width_px: float, size: PrintSize) -> Canvas:
    """The figure in the largest letters with which its labels have room. Raises SpecError, with what would fit."""

    def drawn(width: float, scale: float) -> tuple[Canvas, str | None]:
        canvas = Drawing(figure, width / scale).draw(scale)
        return canvas, next(iter(canvas.misfits()), None)

    misfit: str | None = ""
    for scale in size.scales:
        canvas, misfit = drawn(width_px, scale)
        if misfit is None:
            return canvas
    wide = next((wider for wider in size.wider_px if drawn(wider, size.least_scale)[1] is None), None)
    small = next((each for each in size.smaller_scales if drawn(width_px, each)[1] is None), None)
    letters = font_text(size.least_scale)
    options = [] if wide is None else [f"--width {math.ceil(_cm(wide) * 10) / 10:g}cm --font {letters}"]
    options += [] if small is None else [f"--font {font_text(small)}"]
    told = f"the figure has no room for its labels at {_cm(width_px):.1f} cm in {letters}: {misfit or '':.60}"
    raise SpecError(told, f"give it {', or '.join(options)}" if options else "write it as .html, which scrolls")


def _cm(width_px: float) -> float:
    return width_px / INCH_PX * 2.54
