# SPDX-License-Identifier: Apache-2.0
"""Rows that the user chose; the error for a choice that fits nothing says what there is instead."""

from __future__ import annotations

import difflib

import polars as pl

from quiclab.logs.exports._api import Choice
from quiclab.model.errors import SpecError


def chosen(rows: pl.LazyFrame, choice: Choice) -> pl.LazyFrame:
    """Select the chosen rows; `rows` has the columns source, connection and vantage. Raises SpecError if none is
    left."""
    for name in ("source", "connection", "vantage"):
        wanted = getattr(choice, name)
        if wanted is None:
            continue
        fitting = rows.filter(pl.col(name) == wanted)
        if not fitting.head(1).collect().height:
            raise _no_such(
                name, wanted, rows.select(pl.col(name).drop_nulls().unique().sort()).collect()[name].to_list()
            )
        rows = fitting
    return rows


def _no_such(name: str, wanted: str, there: list[str]) -> SpecError:
    close = difflib.get_close_matches(wanted, there, n=1)
    hint = f"did you mean {close[0]}?" if close else f"choose one of those with --{name}, or leave it out for all"
    return SpecError(f"no {name} {wanted} here; there is:", hint, tuple(there) or ("none that is known",))
