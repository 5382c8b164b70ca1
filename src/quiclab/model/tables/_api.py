# SPDX-License-Identifier: Apache-2.0
"""Interface of tables: columns with a type, a unit, a rule for nulls and one sentence each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

Row = Mapping[str, Any]
"""A row of a table by the names of its columns, whose types the table has."""
DataType = pl.DataType | type[pl.DataType]

NEVER = "never"
"""Null rule of columns that always hold a value."""


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    dtype: DataType
    unit: str
    """Unit of the values; empty for names, codes and flags."""
    null: str
    """Condition under which a row holds no value; `NEVER` if it always holds one."""
    doc: str
    instant: bool = False
    """True if the column is a point in time, which moves with its clock; other nanoseconds are lengths of time."""


SOURCE = Column("source", pl.String, "", NEVER, "The file that says so, relative to the folder that was decoded.")
UNCERTAINTY = Column(
    "uncertainty_ns", pl.Int64, "ns", "the source's clock could not be placed",
    "How far `time_ns`, and every other instant of the row, may lie from the study's clock, either way.",
)  # fmt: skip


CAPTURED = Column(
    "captured_ns", pl.Int64, "ns", "not a log's row, or not found in a capture",
    "When a capture at the same end saw the packet that this log's row tells of: better than `time_ns` where the log "
    "is coarse.",
    instant=True,
)  # fmt: skip
PACKET_INDEX = Column(
    "packet_index",
    pl.UInt32,
    "",
    "not captured by the link",
    "`index` in link_packets of the packet that carried it, of the link that was captured.",
)
LEFT = Column(
    "left_ns", pl.Int64, "ns", "it never came to the bottleneck, or found no room",
    "When the bottleneck had sent its last bit: `service_ns` after it had come and the packet before it had gone, by "
    "order of arrival. The time on the sender's edge is left out: that of one packet at most, for all of a busy "
    "period. A queue for each flow serves in another order; when it is empty is the same.",
    instant=True,
)  # fmt: skip
MADE_LATER = (SOURCE, UNCERTAINTY, CAPTURED, PACKET_INDEX, LEFT)
"""Columns that a decoder cannot fill: they are known only about a file as a whole, or from other files."""


def log_table(name: str, doc: str, *columns: Column) -> Table:
    """Make a table that decoders fill: every row names its file and how exact its instants are."""
    return Table(name, doc, (SOURCE, *columns, UNCERTAINTY))


@dataclass(frozen=True)
class Table:
    """One table; `doc` says what a row of it is."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    @property
    def instants(self) -> tuple[str, ...]:
        """Names of the columns that hold points in time."""
        return tuple(column.name for column in self.columns if column.instant)

    @property
    def from_logs(self) -> bool:
        """True if decoders fill the table."""
        return SOURCE in self.columns and UNCERTAINTY in self.columns

    @cached_property
    def decoder_schema(self) -> pl.Schema:
        """Schema of what a decoder returns: all columns but those that are only known about a file as a whole."""
        own = (column for column in self.columns if column not in MADE_LATER)
        return pl.Schema({column.name: column.dtype for column in own})

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns that have one, by name."""
        return {column.name: column.unit for column in self.columns if column.unit}

    @property
    def metadata(self) -> dict[str, str]:
        """Metadata of the table's Parquet files: under `units` a JSON object with the units of its columns."""
        return {"units": json.dumps(self.units)}

    def schema(self) -> pl.Schema:
        """Schema of the table: names and types, in order."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def empty(self) -> pl.DataFrame:
        """The table without rows; rows that are added to it in place are added to this copy alone."""
        return self._empty.clone()

    @cached_property
    def _empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.schema())
