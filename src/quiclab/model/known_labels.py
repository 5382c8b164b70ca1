# SPDX-License-Identifier: Apache-2.0
"""Accounts that a study keeps, held against the words that they are made of: a table may come from a stranger or from
another version, and everything behind relies on its labels."""

from __future__ import annotations

from typing import TypeVar

import polars as pl

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.model.mechanism_names import BY_COLUMN
from quiclab.model.metric_scope import MetricScope

_OF = rf"^({MetricScope.TTLB}|{MetricScope.PAGE}|{MetricScope.START_UP}|{MetricScope.STALL}( [0-9]{{1,9}})?)$"
_KNOWN = {
    "what": pl.col("what").is_in([str(each) for each in What]),
    "why": pl.col("why").is_in([str(each) for each in Why]),
    "of": pl.col("of").str.contains(_OF),
    "direction": pl.col("direction").is_in(["up", "down"]) | pl.col("direction").is_null(),
    **{name: pl.col(name) == pl.col(name) for name in ("from_ns", "until_ns", "total_ns")},
}
"""Column → whether a value of it is one that an account has; null says no."""
TABLES = ("account", "account_totals")
"""Tables with these columns."""

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def unknown_word(account: pl.DataFrame | pl.LazyFrame) -> str | None:
    """Describe the first value of a table of accounts that no account has; None where all are known."""
    rows = account.lazy()
    columns = rows.collect_schema().names()
    unknown = {name: ~known.fill_null(False) for name, known in _KNOWN.items() if name in columns}
    any_unknown = rows.select(each.any().alias(name) for name, each in unknown.items()).collect()
    for name in unknown:
        if any_unknown[name].any():
            value = rows.filter(unknown[name]).select(name).head(1).collect()[name][0]
            return f"{name} is {value!r}"
    return None


def with_current_names(table: Frame) -> Frame:
    """A table in which mechanisms and their numbers have the names of this version; one that names none stays as it
    is."""
    columns = BY_COLUMN.keys() & set(table.lazy().collect_schema().names())
    return table.with_columns(pl.col(column).replace(BY_COLUMN[column]) for column in columns) if columns else table
