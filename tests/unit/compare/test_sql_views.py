# SPDX-License-Identifier: Apache-2.0
"""What a query over a study, perhaps a stranger's, cannot do."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import duckdb
import polars as pl
import pytest
from by_night import by_night
from synthetic_study import write_study

import quiclab
from quiclab.cli.main import main
from quiclab.model.errors import DecodeError, QueryError


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose path is a pattern, a template and a quotation at once."""
    return write_study(tmp_path_factory.mktemp("it's [1] {x} *"))


def _contents(directory: Path) -> dict[Path, str]:
    files = [file for file in directory.rglob("*") if file.is_file()]
    return {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_a_folders_name_is_no_sql(directory: Path, tmp_path: Path) -> None:
    """A folder below tables/ whose name ends the view and begins a COPY."""
    study, written = tmp_path / "study", tmp_path / "pwned"
    shutil.copytree(directory, study)
    path = "||chr(47)||".join(f"'{part}'" for part in written.parts[1:])
    hostile = study / "tables" / f'x" AS SELECT 1; COPY (SELECT 1) TO (chr(47)||{path}); CREATE VIEW "y'
    shutil.copytree(study / "tables" / "bytes_acknowledged", hostile)
    opened = quiclab.open(study)
    assert opened.sql("SELECT count(*) AS n FROM trials").rows()[0][0] > 0
    assert not written.exists()
    assert set(opened.tables) == set(quiclab.open(directory).tables)


@pytest.mark.parametrize("where", ["tables", "tables/bytes_acknowledged", "metrics.parquet"])
def test_symbolic_links_are_not_followed(directory: Path, tmp_path: Path, where: str) -> None:
    """Whatever they lead to: it is not the study's."""
    study, outside = tmp_path / "study", tmp_path / "outside"
    shutil.copytree(directory, study)
    (study / where).rename(outside)
    (study / where).symlink_to(outside)
    if where == "tables":
        with pytest.raises(DecodeError, match="no study with tables"):
            quiclab.open(study)
    else:
        assert Path(where).stem not in quiclab.open(study).tables


_FORBIDDEN = [
    "FROM read_text('/etc/hostname')",
    "FROM read_csv('/etc/hostname')",
    "FROM sniff_csv('/etc/hostname')",
    "FROM glob('/etc/*')",
    "FROM '/etc/hostname'",
    "FROM read_text('study:/../../etc/hostname')",
    "FROM read_csv('https://example.com/x.csv')",
    "COPY (SELECT 1) TO '{outside}'",
    "COPY (SELECT 1) TO '{study}/metrics.parquet'",
    "COPY (SELECT 1) TO 'study://metrics/all.parquet'",
    "COPY (SELECT 1) TO 'study://new.csv'",
    "COPY (SELECT 1) TO 'study:/new.csv'",
    "EXPORT DATABASE '{outside}'",
    "ATTACH '{outside}'",
    "ATTACH 'study:/new.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET temp_directory = '/tmp'",
    "RESET lock_configuration",
    "PRAGMA enable_profiling = 'json'",
    "SELECT getenv('HOME')",
    "CREATE PERSISTENT SECRET s (TYPE s3)",
    "CALL enable_logging(storage = 'file', storage_path = '{outside}')",
]


@pytest.mark.parametrize("query", [*_FORBIDDEN[::2], *by_night(*_FORBIDDEN[1::2])])
def test_nothing_else_is_read_or_written(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """Neither by the verb's way nor by a connection; the study is as it was, and so is the folder it was asked in."""
    (tmp_path / "study:").mkdir()  # a folder by the name of the scheme
    monkeypatch.chdir(tmp_path)
    before = _contents(directory)
    asked = query.replace("{study}", str(directory).replace("'", "''")).replace("{outside}", str(tmp_path / "pwned"))
    with pytest.raises(QueryError, match=r"the query|has no table"):
        quiclab.open(directory).sql(asked)
    with quiclab.open(directory).connect() as connection, pytest.raises(duckdb.Error):
        connection.execute(asked).fetchall()
    assert _contents(directory) == before
    assert [each.name for each in tmp_path.rglob("*")] == ["study:"]


def test_tables_of_ones_own_are_in_memory(directory: Path) -> None:
    """A connection is there to be worked with."""
    study = quiclab.open(directory)
    with study.connect() as connection:
        connection.execute("CREATE TABLE mine AS SELECT arm, count(*) AS n FROM trials GROUP BY arm")
        assert connection.execute("SELECT count(*) FROM mine").fetchall() == [(study.trials["arm"].n_unique(),)]


def test_a_path_is_no_pattern(directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside a study `st[1]` lies `st1`: only the first is read, by frames and by SQL."""
    ours, other = tmp_path / "st[1]", tmp_path / "st1"
    for copy in (ours, other):
        shutil.copytree(directory, copy)
    pl.read_parquet(ours / "metrics.parquet", glob=False).head(1).write_parquet(ours / "metrics.parquet")
    study = quiclab.open(ours)
    assert study.metrics.height == 1
    assert study.sql("SELECT count(*) AS n FROM metrics").item() == 1
    assert study.table("bytes_acknowledged").height == study.sql("SELECT count(*) FROM bytes_acknowledged").item()
    assert main(["sql", str(ours), "SELECT count(*) AS n FROM metrics", "--format", "csv"]) == 0
    assert capsys.readouterr().out == "n\n1\n"
