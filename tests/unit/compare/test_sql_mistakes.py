# SPDX-License-Identifier: Apache-2.0
"""Queries that are wrong, and tables that cannot be read: each is told as what it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

import quiclab
from quiclab.cli.main import main
from quiclab.model.errors import DecodeError, ExitCode, QueryError

_SMALL = Shape(("100 KB",), ("clean",), blocks=2, aa_blocks=0, voids=frozenset(), failures=frozenset())


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small study."""
    return write_study(tmp_path_factory.mktemp("study"), _SMALL)


@pytest.mark.parametrize(
    ("query", "told", "hint"),
    [
        (" ; -- nothing", "the query asks for nothing", "FROM trials"),
        ("CREATE TABLE mine AS SELECT 1", "the query asks for nothing", "FROM trials"),
        ("SELCT 1", 'syntax error at or near "SELCT"\n  LINE 1: SELCT 1\n          ^', "duckdb.org"),
        ("FROM metrcs", "the study has no table 'metrcs'", "did you mean metrics?"),
        ("FROM losses", "the study has no table 'losses'", "`quiclab sql STUDY` lists the tables"),
        ("SELECT valu FROM metrics", 'Referenced column "valu" not found', "did you mean value?"),
        ("SELECT m.valu FROM metrics m", 'does not have a column named "valu"', "did you mean value?"),
        ("SELECT * FROM trials JOIN metrics USING (trial)", 'Column "trial" does not exist', "did you mean trial_id?"),
        ("SELECT status FROM metrics", 'Referenced column "status" not found', "status is a column of trials"),
        ("SELECT medan(value) FROM metrics", "Function with name medan does not exist", "did you mean median?"),
        ("SELECT 'x'::INT", "Could not convert string 'x' to INT32", "duckdb.org"),
        ("DROP TABLE trials", "DROP would change the study, and a query only reads it", "ask with SELECT"),
        ("update metrics set value = 0", "UPDATE would change the study", "ask with SELECT"),
        ("COPY trials TO 'x.csv'", "the query may not do that", "--format csv > FILE"),
        ("COPY trials TO 'study://x'", "the query may not do that: a study is only read", "--format csv > FILE"),
    ],
)
def test_a_wrong_query_is_the_users_mistake(
    study: Path, capsys: pytest.CaptureFixture[str], query: str, told: str, hint: str
) -> None:
    """Its exit code is that of a wrong command line; the hint is one thing to do, and no list of all tables."""
    assert main(["sql", str(study), query]) == ExitCode.SPEC
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert hint in err.splitlines()[-1]
    assert "Error:" not in err
    assert ".py" not in err


@pytest.fixture
def damaged(study: Path, tmp_path: Path) -> Path:
    """The study, of which one table of logs and the metrics were cut off."""
    copy = tmp_path / "damaged"
    shutil.copytree(study, copy)
    for file in (copy / "metrics.parquet", min(copy.glob("tables/bytes_acknowledged/*"))):
        os.truncate(file, 100)
    return copy


def test_a_damaged_table_spoils_no_query_of_others(damaged: Path) -> None:
    """Only who asks for it is told, with the file."""
    opened = quiclab.open(damaged)
    assert opened.sql("SELECT count(*) FROM trials").item() == 4
    file = min(damaged.glob("tables/bytes_acknowledged/*")).name
    with pytest.raises(DecodeError, match=f"the table bytes_acknowledged cannot be read: .*{file}"):
        opened.sql("FROM bytes_acknowledged")
    with pytest.raises(DecodeError, match="the table metrics cannot be read"):
        opened.sql("SELECT arm FROM trials JOIN metrics USING (trial_id)")
    with pytest.raises(DecodeError, match="cannot be read"):
        opened.connect()


def test_the_list_of_tables_says_which_are_damaged(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The others are listed all the same."""
    assert main(["sql", str(damaged)]) == ExitCode.DECODE
    out, err = capsys.readouterr()
    assert "trials: trial_id" in out
    assert "decode_stats: trial_id" in out
    assert "the table metrics cannot be read" in err


def test_damage_inside_a_file_is_no_mistake_of_the_query(study: Path, tmp_path: Path) -> None:
    """Its end is whole, so that only reading the rows shows it."""
    copy = tmp_path / "damaged"
    shutil.copytree(study, copy)
    content = (copy / "metrics.parquet").read_bytes()
    (copy / "metrics.parquet").write_bytes(content[:60] + bytes(200) + content[260:])
    with pytest.raises(DecodeError, match="a table cannot be read"):
        quiclab.open(copy).sql("FROM metrics")


def test_a_full_disk_behind_standard_output_is_told(study: Path) -> None:
    """No traceback, and no word of trials, which a query does not run."""
    command = [sys.executable, "-m", "quiclab.cli.main", "sql", str(study), "FROM metrics"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == ExitCode.HOST
    assert "No space left on device" in done.stderr
    assert "trials" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("value", ["INTERVAL 2 SECONDS", "[INTERVAL 1 DAY]", "{'a': union_value(num := 2)}"])
def test_a_type_that_no_table_has_is_refused(study: Path, value: str) -> None:
    """Polars ends the program at some of DuckDB's types, also inside others."""
    with pytest.raises(QueryError, match=r"the column odd has the type (INTERVAL|UNION)"):
        quiclab.open(study).sql(f"SELECT {value} AS odd")
