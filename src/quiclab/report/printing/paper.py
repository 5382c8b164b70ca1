# SPDX-License-Identifier: Apache-2.0
"""The paper: lines, areas, symbols and letters at places in pixels from the upper left corner, drawn by matplotlib.

A pixel is 1/96 inch times `scale`: a figure with smaller letters is drawn in the same pixels, on smaller paper.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quiclab.report.printing.labels import ASCENT, Label, Run, line_height_px, line_width_px

Point = tuple[float, float]
Colour = tuple[float, float, float, float]
POINTS = 0.75
"""Points of print in a pixel."""
INCH_PX = 96
_RGBA = re.compile(r"rgba?\(\s*([0-9.]+)\s*,\s*([0-9.]+)\s*,\s*([0-9.]+)\s*(?:,\s*([0-9.]+)\s*)?\)")
_FINE = 2
"""Pixels of a PNG in a pixel of the figure."""


def colour_parts(colour: str, opacity: float = 1.0) -> Colour:
    """Red, green, blue and opacity of a colour as CSS writes it. Raises ValueError."""
    from matplotlib.colors import to_rgba

    mixed = _RGBA.fullmatch(colour)
    if mixed:
        red, green, blue = (float(part) / 255 for part in mixed.groups()[:3])
        return red, green, blue, float(mixed[4] or 1) * opacity
    red, green, blue, alpha = to_rgba(colour)
    return red, green, blue, alpha * opacity


@dataclass(frozen=True)
class Box:
    """A rectangle: its left, upper, right and lower edge."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Distance of left and right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Distance of top and bottom."""
        return self.bottom - self.top

    def contains(self, other: Box) -> bool:
        """True if no part of the other is outside."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom

    def overlaps(self, other: Box, by: float = 1.0) -> bool:
        """True if the two share more than `by` pixels each way."""
        across = min(self.right, other.right) - max(self.left, other.left)
        return across > by and min(self.bottom, other.bottom) - max(self.top, other.top) > by


@dataclass
class Canvas:
    """Paper of a size, and what was written on it."""

    width: float
    height: float
    scale: float = 1.0
    labels: list[tuple[Box, str]] = field(default_factory=list)
    """Places of labels that must neither overlap nor leave the paper."""
    outside: list[str] = field(default_factory=list)
    """Labels that were found to leave their place."""

    def __post_init__(self) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        inches = self.width * self.scale / INCH_PX, self.height * self.scale / INCH_PX
        self._figure = Figure(figsize=inches, dpi=INCH_PX, facecolor="white")
        FigureCanvasAgg(self._figure)
        self._axes: Any = self._figure.add_axes((0, 0, 1, 1))
        self._axes.set_axis_off()
        self._axes.set_xlim(0, self.width)
        self._axes.set_ylim(self.height, 0)
        self._layer = 0

    @property
    def _points(self) -> float:
        """Points of print in a pixel of this canvas."""
        return POINTS * self.scale

    def _add(self, artist: Any, clip: Box | None) -> None:
        from matplotlib.patches import Rectangle

        self._layer += 1
        artist.set_zorder(self._layer)
        self._axes.add_artist(artist)
        if clip is None:
            artist.set_clip_on(False)
        else:
            whole = Rectangle((clip.left, clip.top), clip.width, clip.height, transform=self._axes.transData)
            artist.set_clip_path(whole)

    def line(
        self, points: Sequence[Point], colour: Colour, width: float, dash: Sequence[float] = (), clip: Box | None = None
    ) -> None:
        """Draw a line through points, of which NaN is a gap; lengths of dashes are pixels."""
        from matplotlib.lines import Line2D

        drawn = Line2D(
            [x for x, _ in points], [y for _, y in points], color=colour, linewidth=width * self._points,
            solid_capstyle="butt", dash_capstyle="butt", solid_joinstyle="round",
        )  # fmt: skip
        if dash:
            drawn.set_linestyle((0, [part / width for part in dash]))  # of widths, as matplotlib wants them
        self._add(drawn, clip)

    def area(
        self, points: Sequence[Point], fill: Colour | None, edge: Colour | None = None, width: float = 0.0,
        hatch: tuple[str, Colour] | None = None, clip: Box | None = None,
    ) -> None:  # fmt: skip
        """Fill an area, perhaps with an edge and a hatch over it."""
        from matplotlib.patches import Polygon

        drawn = Polygon(
            list(points), closed=True, facecolor=fill or "none", edgecolor=edge if edge and width else "none",
            linewidth=width * self._points, joinstyle="miter",
        )  # fmt: skip
        if hatch:
            drawn.set_hatch(hatch[0])
            drawn.set_hatchcolor(hatch[1])
            drawn.set_hatch_linewidth(0.7 * self._points)
        self._add(drawn, clip)

    def box(self, box: Box, fill: Colour | None, edge: Colour | None = None, width: float = 0.0,
            hatch: tuple[str, Colour] | None = None, clip: Box | None = None) -> None:  # fmt: skip
        """Fill a rectangle."""
        corners = [(box.left, box.top), (box.right, box.top), (box.right, box.bottom), (box.left, box.bottom)]
        self.area(corners, fill, edge, width, hatch, clip)

    def stamps(
        self, path: Any, places: Sequence[Point], size: float, fill: Colour | None, edge: Colour | None,
        width: float, clip: Box | None,
    ) -> None:  # fmt: skip
        """Draw a symbol, whose path is of radius one with its top up, at each of `places`."""
        from matplotlib.collections import PathCollection
        from matplotlib.transforms import IdentityTransform

        drawn = PathCollection(
            [path], sizes=[(size * self._points / 2) ** 2], offsets=list(places),
            offset_transform=self._axes.transData, facecolors=[fill] if fill else "none",
            edgecolors=[edge] if edge and width else "none", linewidths=[width * self._points],
            transform=IdentityTransform(),
        )  # fmt: skip
        self._add(drawn, clip)

    def image(self, pixels: Any, box: Box) -> None:
        """Draw a picture into a rectangle."""
        from matplotlib.image import AxesImage

        drawn = AxesImage(self._axes, extent=(box.left, box.right, box.bottom, box.top), interpolation="antialiased")
        drawn.set_data(pixels)
        self._add(drawn, None)

    def text(
        self, label: Label, x: float, y: float, across: str = "left", down: str = "middle", *,
        upright: bool = False, align: str | None = None, placed: bool = True,
    ) -> Box:  # fmt: skip
        """Write a label with its `across` (left, center, right) and `down` (top, middle, bottom) at a place.

        `upright` turns it by 90 degrees: `across` is then along the line, from below. `placed` labels must fit."""
        width, height = label.width_px, label.height_px
        shifts = {"left": 0.0, "center": 0.5, "right": 1.0, "top": 0.0, "middle": 0.5, "bottom": 1.0}
        begin, above = -width * shifts[across], -height * shifts[down]
        foot = above
        for line in label.lines:
            spare = width - line_width_px(line)
            at = begin + spare * shifts[align or across]
            size = max((run.size_px for run in line), default=0.0)
            base = foot + ASCENT * size
            foot += line_height_px(line)
            for run in line:
                lead = replace(run, text=" " * (len(run.text) - len(run.text.lstrip(" ")))).width_px
                if run.text.strip():
                    self._letters(run.text.strip(" "), run, (x, y), (at + lead, base), upright=upright)
                at += run.width_px
        corners = [(begin, above), (begin + width, above + height)]
        turned = [(across_px, down_px) if not upright else (down_px, -across_px) for across_px, down_px in corners]
        (x0, y0), (x1, y1) = turned
        box = Box(x + min(x0, x1), y + min(y0, y1), x + max(x0, x1), y + max(y0, y1))
        if placed and label.text:
            self.labels.append((box, label.text))
        return box

    def _letters(self, text: str, run: Run, origin: Point, shift: Point, *, upright: bool) -> None:
        from matplotlib.text import Text

        across, down = shift if not upright else (shift[1], -shift[0])
        drawn = Text(
            origin[0] + across, origin[1] + down, text, fontsize=run.size_px * self._points,
            color=colour_parts(run.colour), fontweight="bold" if run.bold else "normal", fontfamily="DejaVu Sans",
            rotation=90 if upright else 0, rotation_mode="anchor", ha="left", va="baseline", parse_math=False,
        )  # fmt: skip
        drawn.set_transform(self._axes.transData)
        self._add(drawn, None)

    def bound(self, written: Box, limit: Box, label: Label) -> None:
        """Note a label that leaves the rectangle in which it must lie."""
        if label.text and not limit.contains(written):
            self.outside.append(label.text)

    def misfits(self) -> Iterable[str]:
        """Labels that leave their place or the paper, or lie over another."""
        yield from self.outside
        paper = Box(-1, -1, self.width + 1, self.height + 1)
        for place, (box, text) in enumerate(self.labels):
            if not paper.contains(box) or any(box.overlaps(other) for other, _ in self.labels[:place]):
                yield text

    def save(self, kind: str) -> bytes:
        """Return the picture as `pdf`, `svg` or `png`, with letters as letters and without the time of day."""
        import matplotlib as mpl

        dateless = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[kind]
        settings: Any = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "quiclab", "path.simplify": False}
        made = io.BytesIO()
        with mpl.rc_context(settings):
            self._figure.savefig(made, format=kind, dpi=INCH_PX * _FINE, metadata=dateless)
        return made.getvalue()
