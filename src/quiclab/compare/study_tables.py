# SPDX-License-Identifier: Apache-2.0
"""A study's tables for further analysis: as Polars or pandas frames with their units, or by SQL.

>>> study = quiclab.open("demo-study")  # doctest: +SKIP
>>> study.metrics.filter(pl.col("name") == "ttlb_ms")  # doctest: +SKIP
>>> study.sql("SELECT path, arm, status, count(*) AS attempts FROM trials GROUP BY ALL")  # doctest: +SKIP
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from quiclab.evidence.made_by import told_of_versions
from quiclab.model import number_text
from quiclab.model.errors import DecodeError, HostError, QueryError, SpecError
from quiclab.model.known_labels import TABLES as TABLES_OF_ACCOUNTS
from quiclab.model.known_labels import unknown_word, with_current_names
from quiclab.model.tables import OF_STUDY, TABLES, Table
from quiclab.store.disk import check_name
from quiclab.store.layout import StudyDir
from quiclab.store.no_study import no_study
from quiclab.store.own_files import is_own_file, own_files

if TYPE_CHECKING:
    import duckdb

_RESULTS = re.compile(r"\b(metrics|account|account_totals)\b", re.IGNORECASE)
"""Tables that hold how long trials took: read by arm they show a result."""
_OF_ACCOUNT = {"account": "timeline", "account_totals": "waits", "mechanism_facts": "causes"}
"""Tables that are made of every trial together, with rows or without → their contents."""
_TRIAL_ID = r"/([0-9a-f]+)\.parquet$"
_HINT = "give the folder that `quiclab run` made; `quiclab report STUDY --again` makes its tables anew"


class OpenedStudy:
    """Everything in a study directory that is a table. Nothing is read before it is asked for.

    A table of logs has one file per trial; here it is one table, with the column `trial_id` in front. `trials` has a
    row per attempt, and `metrics` a row per verified trial and metric. Only tables that docs/reference/tables.md names
    are there, and only from files of the study: no symbolic link in it is followed.

    A folder of tables that `quiclab decode` made has those of one decoding, without trials, and nothing else.
    """

    def __init__(self, directory: Path, *, decoded: bool = False) -> None:
        """Open a study, or where that will do the tables of one that were `decoded`. Raises DecodeError if `directory`
        has none."""
        self.directory = directory
        self._files: dict[str, list[Path]] = {}
        self._decoded = decoded and not (directory / "tables").exists()
        if self._decoded and is_own_file(directory / "sources.parquet", directory):
            self._files = {
                name: [file] for name in sorted(TABLES) if is_own_file(file := directory / f"{name}.parquet", directory)
            }
            return
        for name, file in (
            ("trials", directory / "tables" / "trials.parquet"),
            ("metrics", directory / "metrics.parquet"),
        ):
            if is_own_file(file, directory):
                self._files[name] = [file]
        for name in sorted(TABLES.keys() - OF_STUDY.keys()):
            if files := _files_of_trials(directory, name):
                self._files[name] = files
        if "trials" not in self._files:
            if not directory.is_dir():
                raise no_study(StudyDir(directory))
            raise DecodeError(f"{directory} is no study with tables: it has no tables/trials.parquet", _HINT)

    @property
    def is_decoded(self) -> bool:
        """True if these are tables of one decoding, and of no study."""
        return self._decoded and bool(self._files)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that are there."""
        return tuple(self._files)

    @property
    def incomplete_accounts(self) -> tuple[str, ...]:
        """Sentences about trials that lack one of the tables of an account which others of their tables show."""
        have = {name: {file.stem for file in self._files.get(name, ())} for name in _OF_ACCOUNT}
        every = set[str]().union(*have.values())
        again = f"`quiclab report {number_text.from_here(self.directory)} --again` makes it from the logs"
        if not StudyDir(self.directory).ledger.exists():
            again = "this archive of the study has no logs to make it from"
        return tuple(
            f"No {_OF_ACCOUNT[name]} in {len(every - trials)} of {len(every)} trials (table {name}): {again}."
            for name, trials in have.items()
            if trials != every
        )

    @property
    def other_versions(self) -> tuple[str, ...]:
        """Sentences about tables that another version of quiclab made: their numbers are as that one defined them."""
        return told_of_versions(self.directory)

    @property
    def trials(self) -> pl.DataFrame:
        """Every attempt: what it ran, and whether it counts."""
        return self.table("trials")

    @property
    def metrics(self) -> pl.DataFrame:
        """Every metric of every verified trial: name, value, unit, and which way is better."""
        return self.table("metrics")

    def scan(self, name: str) -> pl.LazyFrame:
        """A lazy table, which is read only as far as needed. Raises SpecError for one that is not there."""
        if name in self._without_rows:
            return TABLES[name].empty().lazy()
        files = self._files_of(name)
        if not self._has_trial_ids(name):
            return pl.scan_parquet(files, glob=False)
        rows = pl.scan_parquet(
            files, include_file_paths="trial_id", missing_columns="insert", extra_columns="ignore", glob=False
        )
        rows = rows.with_columns(pl.col("trial_id").str.extract(_TRIAL_ID)).select("trial_id", pl.exclude("trial_id"))
        return with_current_names(rows) if name in _OF_ACCOUNT else rows

    def columns(self, name: str) -> list[str]:
        """Names of a table's columns. Raises SpecError where there is no such table, DecodeError for a broken one."""
        try:
            return self.scan(name).collect_schema().names()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise DecodeError(f"the table {name} cannot be read: {str(error).splitlines()[0]}", _HINT) from error

    def table(self, name: str) -> pl.DataFrame:
        """A whole table. Raises SpecError for one that is not there, DecodeError for one that cannot be read."""
        try:
            return self._known(name, self.scan(name).collect())
        except (OSError, pl.exceptions.PolarsError) as error:
            raise DecodeError(f"the table {name} cannot be read: {str(error).splitlines()[0]}", _HINT) from error

    def trial_table(self, name: str, trial_id: str) -> pl.DataFrame | None:
        """The rows of one trial, without `trial_id`; None where that trial has no such table."""
        file = self.directory / "tables" / name / f"{trial_id}.parquet"
        try:
            return self._known(name, pl.read_parquet(file, glob=False)) if is_own_file(file, self.directory) else None
        except (OSError, pl.exceptions.PolarsError) as error:
            raise DecodeError(f"{file} cannot be read: {str(error).splitlines()[0]}", _HINT) from error

    def pandas(self, table: str | pl.DataFrame) -> Any:
        """A whole table, or any Polars frame such as `metrics`, as a pandas frame. `attrs` has `units` and `meaning` of
        a table. Raises HostError where pandas is not installed."""
        try:
            import pandas as pd  # type: ignore[import-untyped, unused-ignore]
        except ImportError as error:
            raise HostError("pandas is not installed", "pip install pandas") from error
        rows = self.table(table) if isinstance(table, str) else table
        frame = pd.DataFrame({each.name: pd.Series(each.to_list(), dtype=_pandas_type(each)) for each in rows})
        if isinstance(table, str):
            frame.attrs.update(units=self.units(table), meaning=self.meaning(table))
        return frame

    def units(self, name: str) -> dict[str, str]:
        """Units of the columns that have one, by name."""
        table = self._schema(name)
        return table.units if table else {}

    def meaning(self, name: str) -> dict[str, str]:
        """Meaning of each column, in a sentence."""
        table = self._schema(name)
        return {column.name: column.doc for column in table.columns} if table else {}

    def sql(self, query: str) -> pl.DataFrame:
        """Answer a query in DuckDB's SQL, where every table is a view. Raises QueryError for a wrong query, DecodeError
        for a table that cannot be read."""
        import duckdb

        from quiclab.compare.sql_mistakes import empty_query, refuse_types, refused

        connection, damaged = self._connected()
        with connection:
            try:
                if len(connection.extract_statements(query)) > 1:
                    raise QueryError("these are several queries, and one is answered", "ask for them one by one")
                answer = connection.sql(query)
                if answer is None:
                    raise empty_query()
                refuse_types(answer.columns, answer.types)
                return pl.DataFrame(answer)
            except (duckdb.Error, OSError) as error:
                known = {name: self.columns(name) for name in self.tables if name not in damaged}
                raise refused(error, query, known, damaged) from error
            except pl.exceptions.DuplicateError as error:
                raise QueryError("two columns of the answer have the same name", "name one of them: AS …") from error

    def connect(self) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection of your own in which every table is a view.

        It reads the study's tables and nothing else, and writes no file; tables of your own in it are in memory. Raises
        DecodeError where a table is damaged.
        """
        from quiclab.compare.sql_mistakes import unreadable

        connection, damaged = self._connected()
        for table, why in damaged.items():
            connection.close()
            raise unreadable(table, why)
        return connection

    def _connected(self) -> tuple[duckdb.DuckDBPyConnection, dict[str, str]]:
        from quiclab.compare.sql_views import connect

        with_trial_ids = frozenset(name for name in self._files if self._has_trial_ids(name))
        return connect(self._files, with_trial_ids, self._without_rows)

    @property
    def _without_rows(self) -> frozenset[str]:
        """Tables without a file in a decoding, since its logs gave no row."""
        if not self._decoded:
            return frozenset()
        known = {name for name, table in TABLES.items() if table.from_logs and name not in OF_STUDY}
        return frozenset(known.difference(self._files))

    def _known(self, name: str, table: pl.DataFrame) -> pl.DataFrame:
        """The table, mechanisms by their names of today. Raises DecodeError for an account with words that none has."""
        if name in TABLES_OF_ACCOUNTS and (wrong := unknown_word(table)) is not None:
            told = f"a table {name} of {self.directory} was made by another version, or changed: {wrong}"
            raise DecodeError(told, f"`quiclab report {number_text.from_here(self.directory)} --again` makes it anew")
        return with_current_names(table) if name in _OF_ACCOUNT else table

    def _schema(self, name: str) -> Table | None:
        """Schema of a table; None for one that another version of quiclab wrote."""
        if name not in self._without_rows:
            self._files_of(name)
        return OF_STUDY.get(name) or TABLES.get(name)

    def _has_trial_ids(self, name: str) -> bool:
        """True if a table has a file per trial instead of a column with the id."""
        return name not in OF_STUDY and not self._decoded

    def _files_of(self, name: str) -> list[Path]:
        if name not in self._files:
            raise SpecError(f"{self.directory} has no table {name!r}", f"it has {', '.join(self.tables)}")
        return self._files[name]


def shows_results(text: str) -> bool:
    """True if a query, or the name of a table, is about what is compared."""
    return _RESULTS.search(text) is not None


def is_of_accounts(text: str) -> bool:
    """True if a query names a table of the accounts."""
    return any(re.search(rf"\b{name}\b", text, re.IGNORECASE) for name in _OF_ACCOUNT)


def _pandas_type(column: pl.Series) -> str | None:
    """Type with a place for nulls, for whole numbers and flags that have some: otherwise pandas makes them floats and
    objects."""
    name, nulls = str(column.dtype), column.null_count()
    if column.dtype == pl.Boolean:
        return "boolean" if nulls else "bool"
    if column.dtype.is_integer():
        return name if nulls else name.lower()
    return name.lower() if column.dtype.is_float() else None


def _files_of_trials(directory: Path, table: str) -> list[Path]:
    """The files of a table of logs, one a trial."""
    return [file for file in own_files(directory / "tables" / table, directory) if re.search(_TRIAL_ID, str(file))]


def open_study(directory: str | Path, *, decoded: bool = False) -> OpenedStudy:
    """Open the tables of a study directory, or where that will do those that `quiclab decode` made. Raises DecodeError
    if there are none."""
    check_name(Path(directory))
    return OpenedStudy(Path(directory).expanduser().resolve(), decoded=decoded)
