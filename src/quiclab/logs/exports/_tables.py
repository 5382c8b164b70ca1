# SPDX-License-Identifier: Apache-2.0
"""Rows of tables in order of time, one portion at a time in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from quiclab.logs.exports._api import Tables
from quiclab.model.errors import DecodeError
from quiclab.model.tables import TABLES

Row = dict[str, Any]

_PORTION_ROWS = 1 << 16


def open_tables(folder: Path) -> Tables:
    """All tables that logs fill, from a folder of Parquet files; those without a file have no rows.

    Raises DecodeError if a file is not what its name says.
    """
    opened: dict[str, pl.LazyFrame] = {}
    for name, table in TABLES.items():
        path = folder / f"{name}.parquet"
        if not path.exists():
            opened[name] = table.empty().lazy()
            continue
        # A folder's name may have characters that are special in patterns.
        opened[name] = rows = pl.scan_parquet(path, glob=False)
        try:
            missing = table.schema().items() - rows.collect_schema().items()
        except pl.exceptions.PolarsError as error:
            raise DecodeError(f"cannot read {path}: {error}", "decode the logs again") from error
        if missing:
            lacks = ", ".join(sorted(column for column, _ in missing))
            raise DecodeError(f"{path} is from another version: it lacks {lacks}", "decode the logs again")
    return opened


def in_order(rows: pl.LazyFrame) -> Iterator[Row]:
    """Rows by `time_ns`; those of one instant keep their order."""
    if _is_sorted(rows):
        yield from _each(rows)
        return
    # Most logs are in order; the others are sorted on disk.
    with tempfile.TemporaryDirectory(prefix="quiclab-") as folder:
        path = Path(folder) / "sorted.parquet"
        rows.sort("time_ns", maintain_order=True).sink_parquet(path, row_group_size=_PORTION_ROWS)
        yield from _each(pl.scan_parquet(path, glob=False))


def _is_sorted(rows: pl.LazyFrame) -> bool:
    return bool(rows.select(pl.col("time_ns").diff().min().fill_null(0) >= 0).collect(engine="streaming").item())


def _each(rows: pl.LazyFrame) -> Iterator[Row]:
    for portion in rows.collect_batches(chunk_size=_PORTION_ROWS, lazy=True, engine="streaming"):
        yield from portion.iter_rows(named=True)
