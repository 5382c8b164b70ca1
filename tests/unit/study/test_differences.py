# SPDX-License-Identifier: Apache-2.0
"""Two values are the same as far as processors add up alike, and what differs is named by its place."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from quiclab.study.differences import json_differences, metric_differences, table_differences


@pytest.mark.parametrize(
    ("kept", "found", "places"),
    [
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ["a.b[1]"]),
        ({"a": [1]}, {"a": [1, 2]}, ["a"]),
        ({"a": 1}, {}, ["a"]),
        ({}, {"a": 1}, ["a"]),
        ({"a": True}, {"a": 1}, ["a"]),
        ({"a": "1"}, {"a": 1}, ["a"]),
        ({"a": 1.0}, {"a": 1}, []),
        ({"a": 1.0}, {"a": 1.0 + 1e-12}, []),
        ({"a": 1.0}, {"a": 1.001}, ["a"]),
        ({"a": 10**18}, {"a": 10**18 + 1}, ["a"]),
        ({"a": None}, {}, []),
    ],
)
def test_json(kept: Any, found: Any, places: list[str]) -> None:
    assert [each.what for each in json_differences("trial.json", kept, found)] == places


def _metrics(*rows: tuple[str, float | None, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, {"name": pl.String, "value": pl.Float64, "unit": pl.String}, orient="row")


def test_metrics_are_compared_by_name() -> None:
    """In whatever order; one that is not there is told."""
    kept = _metrics(("a", 1.0, "ms"), ("b", 2.0, "ms"), ("c", None, ""))
    found = _metrics(("c", None, ""), ("b", 4.0, "ms"), ("a", 1.0, "ms"), ("d", 1.0, ""))
    told = [(each.what, each.kept, each.found) for each in metric_differences("m", kept, found)]
    assert told == [("b", "2.0 ms", "4.0 ms"), ("d", "none", "1.0")]


def test_tables_are_compared_column_by_column() -> None:
    """Types and numbers of rows as well; NaN and null are themselves."""
    kept = pl.DataFrame({"a": [1, 2, 3], "b": [math.nan, None, 1.0], "c": [[1], [2], None]})
    assert list(table_differences("t", kept, kept.clone())) == []
    assert [each.what for each in table_differences("t", kept, kept.with_columns(pl.col("a").cast(pl.Float64)))] == [
        "column a"
    ]
    assert [each.what for each in table_differences("t", kept, kept.head(2))] == ["rows"]
    other = kept.with_columns(a=pl.Series([1, 5, 6]), b=pl.Series([math.nan, 0.0, 1.0]), c=pl.Series([[1], [3], None]))
    assert [each.what for each in table_differences("t", kept, other)] == [
        "a of row 1 and 1 more",
        "b of row 1",
        "c of row 1",
    ]
