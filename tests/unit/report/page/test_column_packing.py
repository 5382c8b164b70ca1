# SPDX-License-Identifier: Apache-2.0
"""Packed columns hold every number that went in, and little else."""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

import numpy as np
import pytest

from quiclab.report.page.column_packing import PACKED_FROM, column, packed
from quiclab.report.page.column_packing import unpacked as by_module

TIMES_MS = [(30_000_000 + 1_000_123 * i) / 1e6 for i in range(1000)]


def unpacked(column: dict[str, Any], points: int) -> list[Any]:
    """What the page's script makes of a column, by the same steps."""
    data = zlib.decompress(base64.b64decode(column["data"]))
    rows = np.frombuffer(data, dtype=np.uint8).reshape(column["width"], points)
    if column["scale"] == 0:
        return np.ascontiguousarray(rows.T).view("<f8").ravel().tolist()
    steps = sum(row.astype(np.int64) * 256**place for place, row in enumerate(rows))
    whole = np.cumsum(np.where(steps % 2, -(steps + 1) // 2, steps // 2))
    numbers = whole / column["scale"]
    numbers[column.get("gaps", [])] = math.nan
    return [column["values"][int(code)] for code in numbers] if "values" in column else numbers.tolist()


@pytest.mark.parametrize(
    "values",
    [
        TIMES_MS,
        [7, -3, 2**50, 0] * 100,
        [0.1, -math.pi, 1e300] * 100,
        [0.0] * 300,
        ["h2, stream 0", "h2, <b>", None] * 100,
        [[1, "a"], [2, "b"]] * 100,
        [*range(300), "late text"],
    ],
    ids=["times", "whole", "any float", "zeros", "texts", "rows", "mixed"],
)
def test_every_value_comes_back(values: list[Any]) -> None:
    """Numbers to the last bit, texts and rows as they were."""
    packed_values = json.loads(json.dumps(column(values)))
    assert unpacked(packed_values, len(values)) == values
    assert by_module(packed_values, len(values)) == values


def test_an_unknown_number_is_no_number() -> None:
    """A gap in a curve stays a gap."""
    for values in ([1.5, None, 2.5] * 100, [*range(100), None, *range(100, 200)], [None] * 300):
        back = unpacked(column(values), len(values))
        assert [None if math.isnan(value) else value for value in back] == values
        assert by_module(column(values), len(values)) == values


def test_a_few_gaps_cost_little() -> None:
    """A column with a few gaps is hardly larger than one without."""
    whole, gapped = ([*range(1000)], [*range(500), None, *range(501, 1000)])
    assert len(str(column(gapped))) < len(str(column(whole))) + 60


def test_a_point_of_a_long_curve_takes_few_bytes() -> None:
    """The size budget: at most 8 bytes for a point's time and value, where times wander and values jump."""
    rng = np.random.default_rng(1)
    times = (1_000_000_000 + np.cumsum(rng.integers(900_000, 1_100_000, 50_000))) / 1e6
    queue = rng.integers(0, 48, 50_000) * 1250.0
    trace = {"type": "scatter", "mode": "lines", "x": times.tolist(), "y": queue.tolist()}
    assert len(json.dumps(packed({"data": [trace], "layout": {}}))) < 8 * 50_000


def test_only_long_curves_are_packed() -> None:
    """Bars and short curves stay readable."""
    short = {"type": "scatter", "x": [1.0] * (PACKED_FROM - 1), "y": [1.0] * (PACKED_FROM - 1)}
    bars = {"type": "bar", "x": [1.0] * 500, "y": ["a"] * 500}
    long = {"type": "scatter", "x": TIMES_MS, "y": TIMES_MS, "marker": {"size": [1] * 1000, "symbol": "x"}}
    spec = packed({"data": [dict(short), dict(bars), long], "layout": {}})
    assert spec["data"][:2] == [short, bars]
    assert spec["data"][2]["points"] == 1000
    assert "packed" in spec["data"][2]["marker"]["size"]
    assert spec["data"][2]["marker"]["symbol"] == "x"
