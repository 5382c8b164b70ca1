# SPDX-License-Identifier: Apache-2.0
"""A plot of a figure: its two axes, and the paper below them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from quiclab.report.figures import THEMES
from quiclab.report.figures._canvas import Spec
from quiclab.report.printing.axes import Axis
from quiclab.report.printing.paper import Box, Canvas, Colour, colour_parts

INK, RULE = THEMES["light"]["ink"], THEMES["light"]["line"]
FONT_PX = 13.0
"""Size of letters that a figure says nothing of, as of the report's text."""
SMALLER_PX = 12.0
"""Size of letters beside marks and in legends, as plotly has it."""


@dataclass(frozen=True)
class Panel:
    """Two axes, with the paper that they are drawn on."""

    canvas: Canvas
    x: Axis
    y: Axis

    @property
    def box(self) -> Box:
        """The rectangle that the axes span."""
        left, right = sorted((self.x.begin, self.x.end))
        top, bottom = sorted((self.y.begin, self.y.end))
        return Box(left, top, right, bottom)

    def points(self, xs: Iterable[Any], ys: Iterable[Any]) -> list[tuple[float, float]]:
        """Pixels of values."""
        return [(self.x.at(x), self.y.at(y)) for x, y in zip(xs, ys, strict=False)]


def nth(given: Any, place: int, default: Any = None) -> Any:
    """Return a property's value for the mark at a place, which may be one value for all."""
    if isinstance(given, list | tuple):
        found = given[place] if place < len(given) else None
        return default if found is None else found
    return default if given is None else given


def part(node: Spec, path: str, default: Any = None) -> Any:
    """A property by its dotted path."""
    found: Any = node
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return default if found is None else found


def ink(colour: str | None, opacity: float = 1.0, default: str = INK) -> Colour:
    """A colour of a figure as it is printed."""
    return colour_parts(colour or default, opacity)


@dataclass(frozen=True)
class Places:
    """Pixels of what stands at a value of an axis, or at a share of the rectangle of all plots (`paper`)."""

    plot: Box
    axes: Mapping[str, Axis]

    def x(self, value: Any, refers: str | None) -> float:
        """Pixel across."""
        if refers == "paper":
            return self.plot.left + float(value) * self.plot.width
        return self.axes[refers or "x"].at(value)

    def y(self, value: Any, refers: str | None) -> float:
        """Pixel down."""
        if refers == "paper":
            return self.plot.bottom - float(value) * self.plot.height
        return self.axes[refers or "y"].at(value)
