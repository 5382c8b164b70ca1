# SPDX-License-Identifier: Apache-2.0
"""What a table is: columns with a type, a unit, a rule for nulls and one sentence each."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

DataType = pl.DataType | type[pl.DataType]

NEVER = "never"
"""The null rule of columns that always hold a value."""


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    dtype: DataType
    unit: str
    """Empty for names, codes and flags."""
    null: str
    """When a row holds no value; `NEVER` if it always does."""
    doc: str


@dataclass(frozen=True)
class Table:
    """One table; a row of it is what `doc` says."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    def schema(self) -> pl.Schema:
        """Names and types, in order."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def empty(self) -> pl.DataFrame:
        """The table without rows."""
        return pl.DataFrame(schema=self.schema())
