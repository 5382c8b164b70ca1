# SPDX-License-Identifier: Apache-2.0
"""Long columns of a figure as compressed text: every point stays, and a page of a million of them stays small.

Whole numbers of some unit (nanoseconds, bytes) are kept as differences between neighbours, byte by byte, which zlib
makes small; the page's script undoes it and gets the same numbers.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.report.figures._canvas import Spec

PACKED_FROM = 200
"""Points from which a curve is packed; fewer are as short in JSON."""
_COLUMNS = (("x",), ("y",), ("customdata",), ("text",), ("hovertext",), ("marker", "color"), ("marker", "size"),
            ("marker", "symbol"))  # fmt: skip
_SCALES = (1.0, 1e3, 1e6)
_EXACT = float(2**52)

FloatArray = npt.NDArray[np.float64]


def packed(spec: Spec) -> Spec:
    """The figure with the columns of its long curves packed; what is no number is a gap everywhere."""
    for trace in spec["data"]:
        if trace.get("type") in ("scatter", "scattergl", None):
            _pack(trace)
    plain: Spec = _with_gaps(spec)
    return plain


def _with_gaps(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not know, by None: a gap."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _with_gaps(inner) for key, inner in value.items()}
    return [_with_gaps(inner) for inner in value] if isinstance(value, list | tuple) else value


def _pack(trace: Spec) -> None:
    columns = trace.get("x"), trace.get("y")
    if not all(isinstance(column, list) for column in columns):
        return
    points = len(trace["x"])
    if points < PACKED_FROM or len(trace["y"]) != points:
        return
    for *outer, name in _COLUMNS:
        place = trace
        for key in outer:
            place = place.get(key) or {}
        values = place.get(name)
        if isinstance(values, list) and len(values) == points:
            place[name] = {"packed": column(values)}
    trace["points"] = points


def column(values: list[Any]) -> dict[str, object]:
    """A column of numbers (unknown ones are null), or of anything else as places in a list of what occurs in it."""
    if all(value is None or isinstance(value, int | float) for value in values[:PACKED_FROM]):
        try:
            return _numbers(pl.Series(values, dtype=pl.Float64).fill_null(float("nan")).to_numpy())
        except (TypeError, pl.exceptions.PolarsError):
            pass  # not numbers further down
    places: dict[str, int] = {}
    codes = [places.setdefault(json.dumps(value), len(places)) for value in values]
    return {"values": [json.loads(text) for text in places], **_numbers(np.array(codes, dtype=np.float64))}


def _numbers(values: FloatArray) -> dict[str, object]:
    for scale in _SCALES:
        whole = np.rint(values * scale)
        if np.all(np.abs(whole) < _EXACT) and np.array_equal(whole / scale, values):
            steps = np.diff(whole.astype(np.int64), prepend=0)
            signed = (np.abs(steps) * 2 - (steps < 0)).astype("<u8")  # the sign is the lowest bit
            width = max(1, (int(signed.max(initial=0)).bit_length() + 7) // 8)
            return {"scale": scale, "width": width, "data": _text(signed.view(np.uint8).reshape(-1, 8)[:, :width])}
    return {"scale": 0, "width": 8, "data": _text(values.astype("<f8").view(np.uint8).reshape(-1, 8))}


def _text(rows: npt.NDArray[np.uint8]) -> str:
    """Return rows of bytes as compressed text, bytes of equal weight together."""
    return base64.b64encode(zlib.compress(np.ascontiguousarray(rows.T).tobytes(), 6)).decode()
