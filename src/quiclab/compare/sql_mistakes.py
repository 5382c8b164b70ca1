# SPDX-License-Identifier: Apache-2.0
"""DuckDB's refusals in quiclab's words: a query's mistake with what was meant, or a file that cannot be read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping

import duckdb
from duckdb.sqltypes import DuckDBPyType

from quiclab.compare.sql_views import ONLY_READ, SCHEME
from quiclab.model import number_text
from quiclab.model.errors import DecodeError, HostError, QueryError, QuiclabError

ANEW = "`quiclab report STUDY --again` makes a study's tables anew"
READABLE = "make its files readable for this user"
_MOST_TABLES = 4
"""Tables with a column of the asked name that a hint lists."""
_LIST = "`quiclab sql STUDY` lists the tables of a study with their columns"
_KIND = re.compile(r"^[A-Z][\w ]* Error: ")
_NO_TABLE = re.compile(r"Table with name (\S+) does not exist")
_NO_COLUMN = re.compile(r'column (?:named )?"([^"]+)"(?: not found| does not exist|$)', re.IGNORECASE)
_CHANGES = re.compile(r"\s*(drop|delete|update|insert|alter|truncate)\b", re.IGNORECASE)
_WITHOUT_FORM = ("interval", "union")
_WITH_TYPES_INSIDE = ("list", "array", "struct", "map")
_MEANT = re.compile(r'Did you mean "([^"]+)"')


def empty_query() -> QueryError:
    """Error for a query that asks for nothing."""
    return QueryError("the query asks for nothing", f'write one, such as "FROM trials"; {_LIST}')


def refuse_types(names: Iterable[str], types: Iterable[DuckDBPyType]) -> None:
    """Raise QueryError for an answer with a column of a type that no frame has, of which Polars would end the
    program."""
    for name, kind in zip(names, types, strict=True):
        if found := _without_form(kind):
            hint = f'ask for it as text, CAST("{name}" AS VARCHAR), or as a number'
            raise QueryError(f"the column {name} has the type {found}, of which no table can be made", hint)


def _without_form(kind: DuckDBPyType) -> str | None:
    """The type that has no form in a frame: this one, or one inside it."""
    if kind.id in _WITHOUT_FORM:
        return kind.id.upper()
    if kind.id not in _WITH_TYPES_INSIDE:
        return None
    inside = [each for _, each in kind.children if isinstance(each, DuckDBPyType)]
    return next((found for each in inside if (found := _without_form(each))), None)


def refused(
    error: Exception, query: str, columns: Mapping[str, Collection[str]], damaged: Mapping[str, str]
) -> QuiclabError:
    """The error that a refusal is: QueryError for the query, DecodeError for a file, HostError for memory.

    `columns` has the columns of every table by its name, `damaged` the tables that cannot be read, each with why.
    """
    if isinstance(error, duckdb.OutOfMemoryException):
        return HostError("the query needs more memory than there is", "ask for fewer rows or columns")
    text = str(error)
    if isinstance(error, OSError):
        return DecodeError(f"a table cannot be read: {text}", READABLE)
    if SCHEME in text and SCHEME not in query:
        return DecodeError(f"a table cannot be read: {_plain(text)}", ANEW)
    if isinstance(error, duckdb.PermissionException) or ONLY_READ in text:
        text = ONLY_READ if ONLY_READ in text else text  # without the lines of our code that raised it
        hint = "a query reads this study's tables and writes no file: `quiclab sql … --format csv > FILE` does"
        return QueryError(f"the query may not do that: {_plain(text)}", hint)
    message, *rest = text.split("\n\n", 1)
    if (missing := _NO_TABLE.search(message)) is not None:
        name = missing[1]
        if name in damaged:
            return unreadable(name, damaged[name])
        return QueryError(f"the study has no table {name!r}", _closest(name, columns) or _LIST)
    if (changes := _CHANGES.match(query)) is not None:
        return QueryError(
            f"{changes[1].upper()} would change the study, and a query only reads it",
            "ask with SELECT … FROM …; what should not count is for `quiclab exclude STUDY TRIAL`",
        )
    place = tuple(line for line in (rest[0] if rest else "").splitlines() if line.strip())
    return QueryError(f"the query is wrong: {_plain(message)}", _hint(message, columns), place)


def unreadable(table: str, why: str) -> DecodeError:
    """Error for a table that is damaged, or that this user may not read."""
    denied = "PermissionError" in why
    told = "this user may not read its files" if denied else _plain(why)
    return DecodeError(f"the table {table} cannot be read: {told}", READABLE if denied else ANEW)


def _plain(text: str) -> str:
    """The first sentence of DuckDB's own words, with files by their names in the study."""
    first = _KIND.sub("", text.strip().splitlines()[0])
    return re.sub(rf"{SCHEME}(\w+)/all\.parquet", r"\1.parquet", first).replace(SCHEME, "tables/")


def _hint(message: str, columns: Mapping[str, Collection[str]]) -> str:
    if (found := _NO_COLUMN.search(message)) is not None:
        name = found[1].strip('"').lower()
        having = [table for table, names in columns.items() if name in names]
        if having:
            return f"{name} is a column of {number_text.listed(having[:_MOST_TABLES])}"
        known = dict.fromkeys(name for each in columns.values() for name in each)
        return _closest(found[1], known) or _LIST
    meant = _MEANT.search(message)
    return f"did you mean {meant[1]}?" if meant else "DuckDB's SQL: https://duckdb.org/docs/stable/sql/introduction"


def _closest(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name.strip('"').lower(), list(known), 1)
    return f"did you mean {close[0]}?" if close else ""
