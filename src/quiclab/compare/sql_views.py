# SPDX-License-Identifier: Apache-2.0
"""A DuckDB connection that reads the tables of a study, and neither reads nor writes anything else.

A study may come from a stranger, and DuckDB runs whatever a query says with the rights of its user. Therefore the
machine's own file system is switched off for the connection. The study's files are lent to it under names of their own
(`study://TABLE/TRIAL.parquet`) by a file system that knows only them, and opens them only to read.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
from fsspec import AbstractFileSystem

from quiclab.model.mechanism_names import BY_COLUMN
from quiclab.model.tables import TABLES

ONLY_READ = "a study is only read"
"""Refusal of a query that would write into a study."""
SCHEME = "study://"
"""Beginning of the names by which queries know the files of a study."""
_TRIAL_ID = f"^{SCHEME}[^/]+/(.+)[.]parquet$"

_BEFORE_VIEWS = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET temp_directory = ''",
    f"SET allowed_directories = ['{SCHEME}']",
    "SET enable_external_access = false",
    # A path such as study:/x, with one slash, would otherwise be one of the machine's.
    "SET disabled_filesystems = 'LocalFileSystem'",
    "SET lock_configuration = true",
)

_TYPES = {
    "Binary": "BLOB",
    "Boolean": "BOOLEAN",
    "Float64": "DOUBLE",
    "Int32": "INTEGER",
    "Int64": "BIGINT",
    "String": "VARCHAR",
    "UInt8": "UTINYINT",
    "UInt16": "USMALLINT",
    "UInt32": "UINTEGER",
    "UInt64": "UBIGINT",
    "List(UInt32)": "UINTEGER[]",
}
"""Types of Polars that tables of logs have → DuckDB's."""


class _File(io.FileIO):
    """A file that DuckDB reads and drops without closing it."""

    def __del__(self) -> None:
        self.close()


class _StudyFiles(AbstractFileSystem):  # type: ignore[misc]
    """Read-only file system of a study's files, by the names that queries see."""

    protocol = "study"
    cachable = False  # fsspec would hand the files of one study to the next

    def __init__(self, files: Mapping[str, Path]) -> None:
        """Lend `files`, by their names without the scheme."""
        super().__init__()
        self._files = dict(files)

    def _file(self, path: str) -> Path:
        name = path.removeprefix(SCHEME)
        if name not in self._files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return self._files[name]

    def open(self, path: str, mode: str = "rb", **_options: Any) -> io.RawIOBase:
        """Open a file. Raises PermissionError for every mode but reading."""
        if mode != "rb":
            raise PermissionError(errno.EROFS, ONLY_READ, path)
        return _File(self._file(path), "rb")

    def glob(self, path: str, **_options: Any) -> list[str]:
        """Match a name, which is never a pattern here."""
        return [path] if path.removeprefix(SCHEME) in self._files else []

    def exists(self, path: str, **_options: Any) -> bool:
        """True if there is such a file."""
        return path.removeprefix(SCHEME) in self._files

    def info(self, path: str, **_options: Any) -> dict[str, object]:
        """Facts about a file, with its size in bytes."""
        return {"name": path, "type": "file", "size": self._file(path).stat().st_size}

    def modified(self, path: str) -> datetime:
        """Time at which the file was written."""
        return datetime.fromtimestamp(self._file(path).stat().st_mtime, UTC)


def connect(
    tables: Mapping[str, Sequence[Path]], with_trial_ids: frozenset[str], without_rows: frozenset[str] = frozenset()
) -> tuple[duckdb.DuckDBPyConnection, dict[str, str]]:
    """Make a connection in which each table (name → its files) is a view. Returns with it the tables that have a
    damaged file, each with DuckDB's words for it: these are no views.

    Those of `with_trial_ids` have one file per trial, named after it, and get the column `trial_id` in front. Those
    `without_rows` have no file.
    """
    names = {
        table: {f"{table}/{file.stem if table in with_trial_ids else 'all'}.parquet": file for file in files}
        for table, files in tables.items()
    }
    connection, damaged = duckdb.connect(), dict[str, str]()
    connection.register_filesystem(_StudyFiles({name: file for each in names.values() for name, file in each.items()}))
    for setting in _BEFORE_VIEWS:
        connection.execute(setting)
    for table, files in names.items():
        listed = ", ".join(_text(f"{SCHEME}{name}") for name in files)
        source = f"read_parquet([{listed}], filename = true, union_by_name = true, hive_partitioning = false)"
        trial_id = f"regexp_extract(filename, '{_TRIAL_ID}', 1) AS trial_id, " if table in with_trial_ids else ""
        try:
            view = f"CREATE VIEW {_name(table)} AS SELECT {trial_id}* EXCLUDE (filename)"
            if current := _current_names(table):
                try:
                    connection.execute(f"{view} REPLACE ({current}) FROM {source}")
                    continue
                except duckdb.BinderException:  # made before mechanisms had names
                    pass
            connection.execute(f"{view} FROM {source}")
        except duckdb.Error as error:
            damaged[table] = str(error)
    for table in without_rows:
        columns = ", ".join(f"{_name(each.name)} {_TYPES[str(each.dtype)]}" for each in TABLES[table].columns)
        connection.execute(f"CREATE TABLE {_name(table)} ({columns})")
    return connection, damaged


def _current_names(table: str) -> str:
    """The columns of a table that name mechanisms and their numbers, by the names of this version; empty without."""
    columns = [each.name for each in TABLES[table].columns if each.name in BY_COLUMN] if table in TABLES else []
    whens = {
        column: " ".join(f"WHEN {_text(former)} THEN {_text(name)}" for former, name in BY_COLUMN[column].items())
        for column in columns
    }
    return ", ".join(f"CASE {column} {when} ELSE {column} END AS {column}" for column, when in whens.items())


def _name(text: str) -> str:
    """Quote a name for SQL."""
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"
