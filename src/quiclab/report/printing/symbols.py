# SPDX-License-Identifier: Apache-2.0
"""Symbols, dashes and hatches by plotly's names, of radius one with the top up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

_T = 2 / math.sqrt(3)
_C, _R = 0.4, 1.2


def _turned(points: Sequence[tuple[float, float]], degrees: float) -> tuple[tuple[float, float], ...]:
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    return tuple((x * cosine - y * sine, x * sine + y * cosine) for x, y in points)


def _ring(*radii: float, corners: int, first: float = 90) -> tuple[tuple[float, float], ...]:
    """Corners all around, with these radii in turn."""
    turn = math.tau / (corners * len(radii))
    return tuple(
        (radius * math.cos(math.radians(first) + turn * place), radius * math.sin(math.radians(first) + turn * place))
        for place, radius in enumerate(radii * corners)
    )


_TRIANGLE = ((-_T, -0.5), (_T, -0.5), (0, 1))
_CROSS = ((_R, _C), (_C, _C), (_C, _R), (-_C, _R), (-_C, _C), (-_R, _C), (-_R, -_C), (-_C, -_C), (-_C, -_R), (_C, -_R),
          (_C, -_C), (_R, -_C))  # fmt: skip
_SHAPES: dict[str, tuple[tuple[float, float], ...]] = {
    "diamond": ((1.3, 0), (0, 1.3), (-1.3, 0), (0, -1.3)),
    "square": ((1, 1), (-1, 1), (-1, -1), (1, -1)),
    "triangle-up": _TRIANGLE,
    "triangle-down": _turned(_TRIANGLE, 180),
    "triangle-left": _turned(_TRIANGLE, 90),
    "triangle-right": _turned(_TRIANGLE, -90),
    "triangle-ne": ((-1.2, 0.6), (0.6, 0.6), (0.6, -1.2)),
    "star": _ring(1.4, 0.535, corners=5),
    "pentagon": _ring(1.0, corners=5),
    "hexagon": _ring(1.0, corners=6),
    "cross": _CROSS,
    "x": _turned(_CROSS, 45),
    "bowtie": ((1, 1), (1, -1), (-1, 1), (-1, -1)),
    "hourglass": ((1, 1), (-1, 1), (1, -1), (-1, -1)),
    "star-diamond": _ring(1.4, 0.5, corners=4),
    "star-square": _ring(1.4, 0.5, corners=4, first=45),
    "star-triangle-up": _ring(1.6, 0.4, corners=3),
    "arrow": ((-0.9, -1.8), (0.9, -1.8), (0, 0)),
}
_LINES: dict[str, tuple[tuple[tuple[float, float], tuple[float, float]], ...]] = {
    "line-ns": (((0, 1), (0, -1)),),
    "x-thin": (((-1, -1), (1, 1)), ((-1, 1), (1, -1))),
}
OPEN = "-open"
SYMBOLS = frozenset({
    "circle", "circle-open", *_SHAPES, *(f"{name}{OPEN}" for name in _SHAPES), *(f"{name}{OPEN}" for name in _LINES),
})  # fmt: skip
DASHES: dict[str, tuple[float, ...]] = {
    "solid": (), "dash": (9, 9), "dot": (3, 3), "dashdot": (9, 3, 3, 3), "longdash": (12, 12),
    "longdashdot": (12, 4, 3, 4),
}  # fmt: skip
"""Lengths in pixels of the dashes and gaps of a line of 3 pixels or less."""
HATCHES = {"": "", "/": "////", "\\": "\\\\\\\\", "x": "xxxx", "-": "----", "|": "||||", "+": "++++", ".": "...."}


@cache
def symbol_path(name: str, turn: float = 0.0) -> Any:
    """The path of a symbol, turned by degrees."""
    from matplotlib.path import Path

    bare = name.removesuffix(OPEN)
    if bare == "circle":
        return Path.unit_circle()
    if bare in _LINES:
        strokes = [point for stroke in _LINES[bare] for point in stroke]
        return Path(strokes, [Path.MOVETO, Path.LINETO] * len(_LINES[bare]))
    corners = list(_turned(_SHAPES[bare], turn))
    return Path([*corners, corners[0]], closed=True)


def dashes(name: str, width: float) -> tuple[float, ...]:
    """Lengths of a line's dashes and gaps."""
    return tuple(length * max(1.0, width / 3) for length in DASHES[name])
