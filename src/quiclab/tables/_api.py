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


SOURCE = Column("source", pl.String, "", NEVER, "The file that says so, relative to the folder that was decoded.")
UNCERTAINTY = Column(
    "uncertainty_ns", pl.Int64, "ns", "the source's clock could not be placed",
    "How far `time_ns`, and every other instant of the row, may lie from the study's clock, either way.",
)  # fmt: skip


def of_logs(name: str, doc: str, *columns: Column) -> Table:
    """A table that decoders fill: every row names its file and how exact its instants are."""
    return Table(name, doc, (SOURCE, *columns, UNCERTAINTY))


@dataclass(frozen=True)
class Table:
    """One table; a row of it is what `doc` says."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    @property
    def decoder_schema(self) -> pl.Schema:
        """What a decoder gives: all but what is only known about a file as a whole."""
        own = (column for column in self.columns if column not in (SOURCE, UNCERTAINTY))
        return pl.Schema({column.name: column.dtype for column in own})

    def schema(self) -> pl.Schema:
        """Names and types, in order."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def empty(self) -> pl.DataFrame:
        """The table without rows."""
        return pl.DataFrame(schema=self.schema())
