# SPDX-License-Identifier: Apache-2.0
"""`quiclab sql`: query tables of a study, or of decoded logs."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.needed_tables import make_needed_tables
from quiclab.cli.trouble import tell
from quiclab.cli.voice import add_json, print_document
from quiclab.model.errors import DecodeError, ExitCode

if TYPE_CHECKING:
    import polars as pl

    from quiclab.compare.study_tables import OpenedStudy

_DESCRIPTION = """\
Query the tables of a study with DuckDB's SQL. Every table of docs/reference/tables.md is a view; tables of logs have
the column trial_id in front, by which they join `trials` and `metrics`. A query reads the study's tables and nothing
else, and writes no file: --json, --format csv and --format json print what other programs read. That a query of
`metrics` or `account` was asked is kept in looks.jsonl, as with every result that is shown.
"""

_EPILOG = """\
examples:
  quiclab sql STUDY                                     which tables there are, and their columns
  quiclab sql STUDY "SELECT path, arm, status, count(*) AS attempts FROM trials GROUP BY ALL ORDER BY ALL"
  quiclab sql STUDY "SELECT cell_id, arm, block, value FROM metrics JOIN trials USING (trial_id)
                     WHERE name = 'setup_ms' AND status = 'verified' ORDER BY ALL"
  quiclab sql STUDY "FROM losses" --format csv > losses.csv
  quiclab sql STUDY "FROM trials" --json                the columns with their types, and the rows
  quiclab decode a.pcapng keys.log -o tables; quiclab sql tables "FROM losses"   logs from elsewhere
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "sql",
        help="query tables of a study, or of decoded logs, with SQL",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="study directory, or a folder that decode made")
    parser.add_argument(
        "query", nargs="?", metavar="QUERY", help="one query; without it, list the tables and their columns"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help="how to print it (default: table; json: the rows alone)",
    )
    add_json(form)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Answer the query. Raises DecodeError for a folder without tables, and for one that cannot be read; QueryError for
    a wrong query."""
    from quiclab.compare.study_tables import open_study

    make_needed_tables(arguments.study)
    study = open_study(arguments.study, decoded=True)
    if arguments.query is None:
        return _list(study, as_json=arguments.json)
    from quiclab.compare.study_tables import is_of_accounts, shows_results

    answer = study.sql(arguments.query)
    for told in study.incomplete_accounts if is_of_accounts(arguments.query) else ():
        print(f"quiclab: {told}", file=sys.stderr)
    if shows_results(arguments.query):
        from quiclab.compare.interim_analyses import note_look

        note_look(study.directory)
    if arguments.json:
        from quiclab.cli.sql_document import answer_document

        print_document(answer_document(study, answer))
    else:
        _print(answer, arguments.format)
    return ExitCode.OK


def _list(study: OpenedStudy, *, as_json: bool) -> int:
    """Print every table with its columns, and after them why a table cannot be read."""
    damaged: list[DecodeError] = []
    tables: dict[str, tuple[str, ...]] = {}
    for name in study.tables:
        try:
            tables[name] = tuple(study.columns(name))
        except DecodeError as error:
            damaged.append(error)
    for name, columns in tables.items():
        print(f"{name}: {', '.join(columns)}")
    if as_json and not damaged:
        from quiclab.cli.sql_document import tables_document

        print_document(tables_document(study, tables))
    for each in damaged:
        tell(each)
    return ExitCode.DECODE if damaged else ExitCode.OK


def _print(answer: pl.DataFrame, form: str) -> None:
    import polars as pl

    if form == "csv":
        sys.stdout.write(_flat(answer).write_csv())
    elif form == "json":
        print(answer.write_json())
    else:
        limits = pl.Config(
            tbl_rows=-1, tbl_cols=-1, fmt_str_lengths=80, tbl_width_chars=-1, tbl_hide_column_data_types=True,
            tbl_hide_dataframe_shape=True,
        )  # fmt: skip
        with limits:
            print(answer)


def _flat(answer: pl.DataFrame) -> pl.DataFrame:
    """Return the answer with lists and structs, for which CSV has no form, as JSON text."""
    import polars as pl

    nested = [name for name, kind in answer.schema.items() if kind.is_nested()]
    return answer.with_columns(
        pl.Series(name, [None if each is None else json.dumps(each, default=str) for each in answer[name].to_list()])
        for name in nested
    )
