# SPDX-License-Identifier: Apache-2.0
"""The document of `quiclab sql --json`: the answer to a query, or the tables that can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from quiclab.cli.as_json import as_json
from quiclab.cli.documents import ColumnEntry, SqlDocument, SqlTablesDocument
from quiclab.cli.status_document import VERSION
from quiclab.model.errors import QueryError

if TYPE_CHECKING:
    import polars as pl

    from quiclab.compare.study_tables import OpenedStudy

_BEYOND = Decimal(10) ** 38
"""Least number that a column of 38 digits does not hold."""


def answer_document(study: OpenedStudy, answer: pl.DataFrame) -> Any:
    """The answer to a query as JSON: its columns with their types, and its rows."""
    columns = tuple(ColumnEntry(name, str(kind)) for name, kind in answer.schema.items())
    rows = tuple({name: _plain(value) for name, value in row.items()} for row in answer.iter_rows(named=True))
    return as_json(SqlDocument(VERSION, str(study.directory), columns, rows))


def tables_document(study: OpenedStudy, tables: Mapping[str, tuple[str, ...]]) -> Any:
    """The tables of a study with their columns as JSON."""
    return as_json(SqlTablesDocument(VERSION, str(study.directory), tables))


def _plain(value: Any) -> Any:
    """A value with a form in JSON."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return _number(value)
    return value.hex() if isinstance(value, bytes) else value


def _number(value: Decimal) -> int | float:
    """A number of a fixed scale; a whole one, such as a sum, exactly. Raises QueryError for one with more digits than
    a table holds."""
    if abs(value) >= _BEYOND:
        told = "the answer has a whole number of more than 38 digits, which no table holds exactly"
        raise QueryError(told, "ask for it as text: CAST(… AS VARCHAR)")
    exponent = value.as_tuple().exponent  # more than 0 where zeros at its end are left out
    return int(value) if isinstance(exponent, int) and exponent >= 0 else float(value)
