# SPDX-License-Identifier: Apache-2.0
"""From the logs of a real trial to the tables of a study."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import duckdb
import polars as pl
import pytest
from rich.console import Console

import quiclab
from quiclab.cli.analyse import make_tables
from quiclab.store.layout import StudyDir
from quiclab.tables import OF_STUDY, TABLES

TRIAL = Path(__file__).parents[2] / "decoders" / "trials" / "h3-100kb.tar.xz"
ROW = {
    "kind": "main", "cell_id": "100KB/clean", "workload": "100KB", "path": "clean", "arm": "h3", "baseline_arm": "h2",
    "block": 0, "position": 0, "seed": 2**64 - 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of one trial, just decoded."""
    directory = tmp_path_factory.mktemp("study")
    logs = directory / "unpacked"
    with tarfile.open(TRIAL) as archive:
        archive.extractall(logs, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    document = json.loads((logs / "trial.json").read_text())  # of a time when it did not tell the plan's row
    trial_id = document["trial_id"]
    told = {"status": "verified", "reason": "", "attempt": 1, "row": ROW | {"trial_id": trial_id}}
    (logs / "trial.json").write_text(json.dumps(document | told))
    (directory / "trials").mkdir()
    logs.replace(directory / "trials" / trial_id)
    make_tables(StudyDir(directory), Console(quiet=True))
    return directory


def test_every_file_of_logs_says_the_units_of_its_columns(study: Path) -> None:
    """To Polars and to DuckDB alike, and what `study.units` says."""
    opened = quiclab.open(study)
    files = sorted((study / "tables").glob("*/*.parquet"))
    assert {file.parent.name for file in files} >= {"packets", "link_packets", "tcp_info", "metrics"}
    for file in files:
        told = json.loads(pl.read_parquet_metadata(file)["units"])
        known = {**OF_STUDY, **TABLES}[file.parent.name]
        assert told == {column.name: column.unit for column in known.columns if column.unit}
        assert told.keys() <= set(pl.read_parquet_schema(file))
        if file.parent.name not in OF_STUDY:
            assert told == opened.units(file.parent.name)
    assert json.loads(pl.read_parquet_metadata(next(study.glob("tables/losses/*")))["units"])["time_ns"] == "ns"
    query = f"SELECT decode(value) FROM parquet_kv_metadata('{files[0]}') WHERE decode(key) = 'units'"
    with duckdb.connect() as connection:
        assert connection.sql(query).fetchall() == [(pl.read_parquet_metadata(files[0])["units"],)]


def test_files_without_units_open_beside_those_with(study: Path, tmp_path: Path) -> None:
    """Tables that an earlier version wrote, as frames and in SQL."""
    mixed = shutil.copytree(study, tmp_path / "mixed")
    (file,) = (mixed / "tables" / "losses").glob("*.parquet")
    pl.read_parquet(file).write_parquet(file.with_name("00000000000000ff.parquet"))
    opened = quiclab.open(mixed)
    twice = 2 * pl.read_parquet(file).height
    assert twice
    assert opened.table("losses").height == twice
    assert opened.sql("SELECT count(*) AS n FROM losses").rows() == [(twice,)]
    assert opened.units("losses")["time_ns"] == "ns"


@pytest.mark.parametrize("name", OF_STUDY)
def test_the_tables_of_a_study_are_those_of_the_reference(study: Path, name: str) -> None:
    """Names, types and order; no nulls where none are promised."""
    frame = quiclab.open(study).table(name)
    assert frame.schema == OF_STUDY[name].schema()
    assert list(quiclab.open(study).meaning(name)) == frame.columns
    never = [column.name for column in OF_STUDY[name].columns if column.null == "never"]
    assert frame.select(never).null_count().sum_horizontal().item() == 0
