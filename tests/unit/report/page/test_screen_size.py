# SPDX-License-Identifier: Apache-2.0
"""Figures thinned to what a screen shows: the look of a curve stays, its ends and extremes above all."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from quiclab.report.page.column_packing import packed, unpacked
from quiclab.report.page.screen_size import CURVE_POINTS, PIXELS, ROWS, fewer_points, screen_sized

POINTS = 20_000


def trace_of(spec: Any) -> tuple[list[Any], ...]:
    """The columns of the only trace, unpacked."""
    (trace,) = spec["data"]
    columns = (trace[name] for name in ("x", "y", "customdata"))
    return tuple(unpacked(each["packed"], trace["points"]) if isinstance(each, dict) else each for each in columns)


def long_curve(**look: Any) -> dict[str, Any]:
    """A wave with one spike, each point with its number."""
    x = [place / 7 for place in range(POINTS)]
    y = [math.sin(value / 100) for value in x]
    y[12_345] = 9.0
    return packed({"data": [{"type": "scatter", "x": x, "y": y, "customdata": [*range(POINTS)], **look}], "layout": {}})


def test_a_curve_keeps_its_ends_and_extremes() -> None:
    """Four points of a column at most; what belongs to a point stays with it, and a pixel's part of its place goes."""
    x, y, number = trace_of(screen_sized(long_curve(mode="lines")))
    assert 2 * PIXELS < len(x) <= 4 * PIXELS
    assert (number[0], number[-1]) == (0, POINTS - 1)
    assert y[number.index(12_345)] == 9.0
    pixel = (POINTS - 1) / 7 / PIXELS
    assert all(abs(value - place / 7) < pixel / 5 for value, place in zip(x, number, strict=True))


def test_marks_keep_one_in_each_square() -> None:
    """No curve connects them, so that the first of a square stands for all that would lie over it."""
    _, y, number = trace_of(screen_sized(long_curve(mode="markers")))
    assert len(number) < (PIXELS + 1) * (ROWS + 1)
    assert 9.0 in y


def test_a_short_figure_stays_as_it_is() -> None:
    """Bars, maps and curves of few points have nothing that a screen does not show."""
    spec = {"data": [{"type": "bar", "x": [1.123456, 2.0], "y": ["a", "b"]}], "layout": {}}
    assert screen_sized(spec) == {"data": [{"type": "bar", "x": [1.123456, 2.0], "y": ["a", "b"]}], "layout": {}}


def test_the_pairs_to_choose_from_have_fewer_points_and_say_of_how_many() -> None:
    """The count of all points stays."""
    values = base64.b64encode(np.arange(800, dtype="<f4").tobytes()).decode()
    curve = fewer_points({"arms": ["h2"], "curves": {"t": {"x": values, "y": values, "of": 3000}}})["curves"]["t"]
    kept = np.frombuffer(base64.b64decode(curve["x"]), dtype="<f4")
    assert kept.size <= CURVE_POINTS + 2
    assert (kept[0], kept[-1], curve["of"]) == (0, 799, 3000)
