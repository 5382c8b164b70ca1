# SPDX-License-Identifier: Apache-2.0
"""Long curves for pictures, which cannot be zoomed into: what each pixel shows stays, the rest goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

THINNED_FROM = 4000
"""Points of a curve that a picture bears."""
_PIXELS = 2000
_COLUMNS = ("x", "y", "customdata", "text")


def thinned(spec: dict[str, Any]) -> dict[str, Any]:
    """The figure with its long lines thinned in place to the first, last, least and greatest point of each pixel."""
    for trace in spec["data"]:
        columns = trace.get("x"), trace.get("y")
        if trace.get("type") != "scatter" or "lines" not in trace.get("mode", "lines"):
            continue
        if not all(isinstance(column, list) and len(column) > THINNED_FROM for column in columns):
            continue
        points = len(trace["x"])
        x, y = (pl.Series(column, dtype=pl.Float64).to_numpy() for column in columns)
        keep = kept(x, y)
        for name in _COLUMNS:
            if isinstance(trace.get(name), list) and len(trace[name]) == points:
                trace[name] = [trace[name][place] for place in keep]
    return spec


def kept(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], pixels: int = _PIXELS) -> list[int]:
    """Places of the points that a line of `pixels` pixels shows; all of them where `x` does not rise."""
    if not np.all(np.diff(x) >= 0):
        return list(range(x.size))
    span = (x[-1] - x[0]) or 1.0
    pixel = np.minimum((x - x[0]) / span * pixels, pixels - 1).astype(np.int64)
    starts = np.flatnonzero(np.diff(pixel, prepend=-1))
    ends = np.append(starts[1:], x.size)
    places: set[int] = set()
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        here = y[start:end]
        places |= {start, end - 1}
        gaps = np.flatnonzero(np.isnan(here))
        if gaps.size:
            places.add(start + int(gaps[0]))
        if gaps.size < here.size:
            places |= {start + int(np.nanargmin(here)), start + int(np.nanargmax(here))}
    return sorted(places)
