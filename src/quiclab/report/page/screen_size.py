# SPDX-License-Identifier: Apache-2.0
"""Figures thinned to what a screen shows of them, for a report that has to be small."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.report.figures._canvas import Spec
from quiclab.report.page import pair_selector
from quiclab.report.page.column_packing import COLUMNS, packed, unpacked
from quiclab.report.page.standalone_figure import kept

PIXELS, ROWS = 200, 100
"""Columns of a plot, in each of which a curve keeps its first, last, least and greatest point; and rows, one mark of
each square being kept."""
_STEPS = 2000
"""Steps of the range of an axis to which instants are rounded."""
_OF_BARS = ("x", "width", "base", "y", "text", "hovertext", "customdata")
"""Columns of a timeline's bars."""
CURVE_POINTS = 100
"""Points of a curve that a reader chooses among those of all trials."""

FloatArray = npt.NDArray[np.float64]


def screen_sized(spec: Spec) -> Spec:
    """Return a figure with its long curves and marks thinned, and its instants rounded to less than a pixel. Bars of a
    timeline are left to the page's script, which draws them from their spells."""
    bands = (spec.get("layout", {}).get("meta") or {}).get("bands", [])
    for band in bands:
        band["until"] = [round(until, 2) for until in band["until"]]
    for trace in spec["data"]:
        if isinstance(trace.get("points"), int):
            _thin(trace, trace.pop("points"))
        if bands and (trace.get("meta") or {}).get("why"):
            trace.update({name: trace[name][:1] for name in _OF_BARS})  # plotly lays no panel out that is empty
        for axis in ("x", "y"):
            if isinstance(trace.get(axis), list) and trace.get("type") == "scatter":
                trace[axis] = _rounded(trace[axis])
    return packed(spec)


def _thin(trace: Spec, points: int) -> None:
    columns = {path: _column(trace, path, points) for path in COLUMNS}
    x, y = columns[("x",)], columns[("y",)]
    if x is None or y is None or not (_is_numeric(x) and points > PIXELS):
        keep = list(range(points))
    elif "lines" in trace.get("mode", "lines") and _is_numeric(y):
        keep = kept(_floats(x), _floats(y), PIXELS)
    else:
        keep = _marks(_floats(x), y)
    for (*outer, name), values in columns.items():
        if values is not None:
            place = trace
            for key in outer:
                place = place[key]
            place[name] = [values[at] for at in keep]


def _column(trace: Spec, path: tuple[str, ...], points: int) -> list[Any] | None:
    value: Any = trace
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return unpacked(value["packed"], points) if isinstance(value, Mapping) and "packed" in value else None


def _is_numeric(values: list[Any]) -> bool:
    return all(value is None or isinstance(value, int | float) for value in values)


def _floats(values: list[Any]) -> FloatArray:
    return pl.Series(values, dtype=pl.Float64).fill_null(math.nan).to_numpy()


def _marks(x: FloatArray, y: list[Any]) -> list[int]:
    """Return places of marks, the first in each square of the plot."""
    columns = _places(x, PIXELS)
    rows = _places(_floats(y), ROWS) if _is_numeric(y) else y
    first: dict[tuple[Any, Any], int] = {}
    for place, square in enumerate(zip(columns, rows, strict=True)):
        first.setdefault(square, place)
    return list(first.values())


def _places(values: FloatArray, steps: int) -> list[int]:
    low, high = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0.0, 1.0)
    return [int(each) for each in np.nan_to_num((values - low) / ((high - low) or 1.0) * steps, nan=-1)]


def _rounded(values: list[Any]) -> list[Any]:
    if not values or not _is_numeric(values):
        return values
    known = [value for value in values if value is not None]
    reach = max(known, default=0) - min(known, default=0)
    digits = max(0, math.ceil(math.log10(_STEPS / reach))) if reach > 0 else 6
    return [value if value is None else round(value, digits) for value in values]


def fewer_points(selector: Spec) -> Spec:
    """Return the data of the pair selector with at most `CURVE_POINTS` points of each curve."""
    curves = {trial: _fewer(curve) for trial, curve in selector["curves"].items()}
    return {**selector, "curves": curves}


def _fewer(curve: Spec) -> Spec:
    axes = {axis: np.frombuffer(base64.b64decode(curve[axis]), dtype="<f4") for axis in ("x", "y")}
    keep = pair_selector.thinned(axes["x"].astype(np.float64), CURVE_POINTS)
    return {
        **curve,
        **{axis: base64.b64encode(values[keep].tobytes()).decode() for axis, values in axes.items()},
    }
