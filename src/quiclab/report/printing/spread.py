# SPDX-License-Identifier: Apache-2.0
"""Boxes and violins, lying, with their trials as symbols."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt

from quiclab.report.figures._canvas import Spec
from quiclab.report.printing.axes import Axis, Extent, keys_of
from quiclab.report.printing.panel import Panel, ink, part
from quiclab.report.printing.paper import Box
from quiclab.report.printing.point_traces import symbol

Values = npt.NDArray[np.float64]
_STEPS = 100
"""Points of a violin's outline on each side."""


def extents(trace: Spec, axis: Axis) -> list[Extent]:
    """Values that a trace needs on its axis of values."""
    known = [axis.value(value) for value in keys_of(trace.get("x")) if value is not None]
    return [Extent(min(known), max(known))] if known else []


def draw(panel: Panel, trace: Spec) -> None:
    """Draw a trace: a box or a violin for each of its names."""
    groups: dict[Any, list[float]] = defaultdict(list)
    for name, value in zip(keys_of(trace.get("y")), keys_of(trace.get("x")), strict=False):
        if value is not None:
            groups[name].append(float(value))
    half = float(trace.get("width") or 0.6) / 2
    for name, given in groups.items():
        values, middle = np.sort(np.array(given)), panel.y.value(name)
        if trace["type"] == "box":
            _box(panel, trace, values, middle, half)
        else:
            _violin(panel, trace, values, middle, half)
        _trials(panel, trace, given, middle, half)


def _box(panel: Panel, trace: Spec, values: Values, middle: float, half: float) -> None:
    low, median, high = quartiles(values)
    reach = 1.5 * (high - low)
    least, most = values[values >= low - reach].min(), values[values <= high + reach].max()
    edge, width = ink(part(trace, "line.color")), float(part(trace, "line.width", 2))
    top, bottom = sorted((panel.y.pixel(middle - half), panel.y.pixel(middle + half)))
    left, centre, right = (panel.x.at(value) for value in (low, median, high))
    panel.canvas.box(Box(left, top, right, bottom), ink(trace.get("fillcolor")), edge, width, None, panel.box)
    panel.canvas.line([(centre, top), (centre, bottom)], edge, width, (), panel.box)
    row, cap = (top + bottom) / 2, (bottom - top) / 4
    for begin, end in ((low, least), (high, most)):
        inner, outer = panel.x.at(begin), panel.x.at(end)
        panel.canvas.line([(inner, row), (outer, row)], edge, width, (), panel.box)
        panel.canvas.line([(outer, row - cap), (outer, row + cap)], edge, width, (), panel.box)


def quartiles(values: Values) -> tuple[float, float, float]:
    """The first quartile, the median and the third, as plotly takes them: ranks at half of a value's place."""
    ranks = np.clip(np.array([0.25, 0.5, 0.75]) * len(values) - 0.5, 0, len(values) - 1)
    low, median, high = np.interp(ranks, np.arange(len(values)), values)
    return float(low), float(median), float(high)


def _violin(panel: Panel, trace: Spec, values: Values, middle: float, half: float) -> None:
    edge, width = ink(part(trace, "line.color")), float(part(trace, "line.width", 2))
    if len(values) > 1 and values[0] < values[-1]:
        low, _, high = quartiles(values)
        deviation = float(values.std(ddof=1))
        narrow = min(deviation, (high - low) / 1.349) or deviation
        bandwidth = 1.059 * narrow * len(values) ** -0.2
        at = np.linspace(values[0], values[-1], _STEPS)
        density = np.exp(-0.5 * ((at[:, None] - values[None, :]) / bandwidth) ** 2).sum(axis=1)
        share = density / density.max() * half
        xs = [panel.x.at(float(value)) for value in at]
        above = [(x, panel.y.pixel(middle + own)) for x, own in zip(xs, share, strict=True)]
        below = [(x, panel.y.pixel(middle - own)) for x, own in zip(xs, share, strict=True)]
        panel.canvas.area([*above, *reversed(below)], ink(trace.get("fillcolor")), edge, width, None, panel.box)
    if part(trace, "meanline.visible"):
        mean = panel.x.at(float(values.mean()))
        sides = [(mean, panel.y.pixel(middle + side * half)) for side in (-1, 1)]
        panel.canvas.line(sides, edge, width, (6, 4), panel.box)


def _trials(panel: Panel, trace: Spec, values: list[float], middle: float, half: float) -> None:
    """Symbols of all trials, each moved aside by a share that follows from its place alone."""
    jitter = float(trace.get("jitter") or 0) * half
    golden = (math.sqrt(5) - 1) / 2
    for place, value in enumerate(values):
        aside = ((place * golden) % 1 * 2 - 1) * jitter
        where = [(panel.x.at(value), panel.y.pixel(middle + aside))]
        symbol(panel.canvas, trace, place, where, 1.0, 0.0, None)
