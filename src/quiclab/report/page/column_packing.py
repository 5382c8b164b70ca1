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
COLUMNS = (("x",), ("y",), ("customdata",), ("text",), ("hovertext",), ("marker", "color"), ("marker", "size"),
           ("marker", "symbol"))  # fmt: skip
"""Places of a trace's columns."""
_SCALES = (1.0, 1e3, 1e6)
_EXACT = float(2**52)
_MOST_GAPS = 0.25
"""Share of a column that may be unknown for its gaps to be listed beside it."""

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
    for *outer, name in COLUMNS:
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
    gaps = np.flatnonzero(np.isnan(values))
    if 0 < gaps.size < _MOST_GAPS * values.size:  # they would cost every other value eight bytes
        filled = pl.Series(values).fill_nan(None).forward_fill().backward_fill().to_numpy()
        return {**_numbers(filled), "gaps": gaps.tolist()}
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


def unpacked(packed_column: Spec, points: int) -> list[Any]:
    """Return the values of a column of so many points that `column` packed."""
    data = np.frombuffer(zlib.decompress(base64.b64decode(packed_column["data"])), dtype=np.uint8)
    by_byte = np.zeros((points, 8), dtype=np.uint8)
    by_byte[:, : packed_column["width"]] = data.reshape(packed_column["width"], points).T
    if packed_column["scale"] == 0:
        numbers = by_byte.reshape(-1).view("<f8")
    else:
        signed = by_byte.reshape(-1).view("<u8").astype(np.int64)
        steps = np.where(signed % 2 == 1, -((signed + 1) // 2), signed // 2)
        numbers = np.cumsum(steps) / packed_column["scale"]
    if gaps := packed_column.get("gaps"):
        numbers = numbers.copy()
        numbers[gaps] = math.nan
    if (values := packed_column.get("values")) is not None:
        return [values[int(code)] for code in numbers]
    return [None if math.isnan(number) else float(number) for number in numbers]
