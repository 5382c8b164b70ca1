# SPDX-License-Identifier: Apache-2.0
"""From the logs of a real trial to the tables of a study."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import quiclab
from quiclab.cli.main import main
from quiclab.compare.analyse import analyse_study
from quiclab.evidence.made_by import told_of_versions
from quiclab.model.errors import DecodeError
from quiclab.model.plan_row import PlanRow
from quiclab.model.tables import OF_STUDY, TABLES
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study import tables
from quiclab.study.tables import make_tables

TRIAL = Path(__file__).parents[2] / "decoders" / "trials" / "h3-100kb.tar.xz"
ROW: dict[str, Any] = {
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
    StudyDir(directory).create()
    logs.replace(directory / "trials" / trial_id)
    study_dir = StudyDir(directory)
    with open_ledger(study_dir) as ledger:
        ledger.plan([PlanRow(**ROW, trial_id=trial_id, arm_name="h3", block_id="b10c")])
    make_tables(study_dir)
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


def _decoded(study: Path) -> dict[str, int]:
    """Instants at which the tables of trials were written."""
    return {str(file): file.stat().st_mtime_ns for file in (study / "tables").glob("*/*.parquet")}


def test_what_has_tables_is_not_decoded_again(study: Path, tmp_path: Path) -> None:
    """Unless that is asked for; what lacks one of them is."""
    copy = shutil.copytree(study, tmp_path / "copy")
    before, told = _decoded(copy), list[tuple[int, int]]()
    make_tables(StudyDir(copy), progress=lambda *done: told.append(done))
    assert (_decoded(copy), told) == (before, [])
    next(copy.glob("tables/losses/*")).unlink()
    make_tables(StudyDir(copy), progress=lambda *done: told.append(done))
    assert told == [(1, 1)]
    after = _decoded(copy)
    assert after.keys() == before.keys()
    make_tables(StudyDir(copy), again=True)
    assert all(when > after[file] for file, when in _decoded(copy).items())


@pytest.mark.parametrize("damage", ["of another version", "cut off", "not Parquet within"])
def test_metrics_that_cannot_be_taken_are_made_again(study: Path, tmp_path: Path, damage: str) -> None:
    """By their file alone it is known what made a trial's tables."""
    copy = shutil.copytree(study, tmp_path / "copy")
    (file,) = copy.glob("tables/metrics/*.parquet")
    good = pl.read_parquet(file)
    if damage == "of another version":
        good.head(3).write_parquet(file, metadata={"made_by": "quiclab 0.0.1"})
    else:
        content = file.read_bytes()
        file.write_bytes(content[:100] if damage == "cut off" else content[:4] + bytes(200) + content[-4:])
    make_tables(StudyDir(copy))
    assert pl.read_parquet(file).equals(good)
    assert pl.read_parquet(copy / "metrics.parquet").equals(good)


def test_tables_of_a_trial_without_its_keys_are_kept(study: Path, tmp_path: Path) -> None:
    """Those of a bundle were made while its captures could be opened."""
    copy = shutil.copytree(study, tmp_path / "copy")
    (document,) = copy.glob("trials/*/trial.json")
    document.write_text(json.dumps(json.loads(document.read_text()) | {"keys_left_out": True}))
    before = _decoded(copy)
    make_tables(StudyDir(copy), again=True)
    assert _decoded(copy) == before


def test_a_trial_that_counts_no_more_has_no_tables(study: Path, tmp_path: Path) -> None:
    """Where a run of an earlier version left them."""
    copy = shutil.copytree(study, tmp_path / "copy")
    with open_ledger(StudyDir(copy)) as ledger:
        (trial_id,) = ledger.attempts()
        shutil.copytree(copy / "tables", tmp_path / "left")
        ledger.void(trial_id)
    shutil.copytree(tmp_path / "left", copy / "tables", dirs_exist_ok=True)
    make_tables(StudyDir(copy))
    assert _decoded(copy) == {}
    assert pl.read_parquet(copy / "tables" / "trials.parquet")["status"].to_list() == ["void"]
    assert pl.read_parquet(copy / "metrics.parquet").is_empty()


def test_a_damaged_trial_has_no_result(study: Path, tmp_path: Path) -> None:
    """It is told as damaged, with what it lacks."""
    copy = shutil.copytree(study, tmp_path / "copy")
    (raw,) = copy.glob("trials/*/raw")
    document = json.loads((raw.parent / "trial.json").read_text())
    told = {"artefacts": [{"path": "raw/client.pcapng", "bytes": 1}]}
    (raw.parent / "trial.json").write_text(json.dumps(document | told))
    make_tables(StudyDir(copy))
    row = pl.read_parquet(copy / "tables" / "trials.parquet").row(0, named=True)
    assert row["status"] == "damaged"
    assert "instead of 1" in row["reason"]
    assert pl.read_parquet(copy / "metrics.parquet").is_empty()


def test_a_study_without_trials_is_told(tmp_path: Path) -> None:
    """Nothing was run yet."""
    with pytest.raises(DecodeError, match="holds no trial yet"):
        make_tables(StudyDir(tmp_path))


def test_several_processors_decode_the_same(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials that have no tables are shared out, and each is told when it is done."""
    copy = shutil.copytree(study, tmp_path / "copy", ignore=shutil.ignore_patterns("tables", "metrics.parquet"))
    (folder,) = (copy / "trials").iterdir()
    document = json.loads((folder / "trial.json").read_text())
    for number in range(3):
        other = shutil.copytree(folder, copy / "trials" / f"{number}")
        told = {"trial_id": other.name, "row": document["row"] | {"trial_id": other.name}}
        (other / "trial.json").write_text(json.dumps(document | told))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    monkeypatch.setattr(tables, "processes_for", lambda _sizes: 2)
    done: list[tuple[int, int]] = []
    assert make_tables(StudyDir(copy), progress=lambda *now: done.append(now)) == []
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]
    metrics = pl.read_parquet(copy / "metrics.parquet")
    values = metrics.filter(name="ttlb_ms")
    assert values.height == 4
    assert values["value"].n_unique() == 1


def test_processes_have_room_and_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for a few small trials, eight for many; fewer where memory is short, and one always."""
    monkeypatch.setattr(tables, "available_bytes", lambda: 8_000_000_000)
    assert tables.processes_for([]) == 1
    assert tables.processes_for([300_000] * 8) == 1
    assert tables.processes_for([300_000] * 500) == 8
    assert tables.processes_for([180_000_000] * 10) == 3
    monkeypatch.setattr(tables, "available_bytes", lambda: 100_000_000)
    assert tables.processes_for([300_000] * 500) == 1


@pytest.fixture
def of_another_version(study: Path, tmp_path: Path) -> Path:
    """The study, with metrics that another version of quiclab made: half of the value, in its own file and in all."""
    copy = shutil.copytree(study, tmp_path / "copy")
    mark = {"made_by": "quiclab 0.0.1 abc"}
    for file in (*copy.glob("tables/metrics/*.parquet"), copy / "metrics.parquet"):
        pl.read_parquet(file).with_columns(pl.col("value") / 2).write_parquet(file, metadata=mark)
    return copy


def _ttlb_by_sql(study: Path, capsys: pytest.CaptureFixture[str]) -> tuple[float, str]:
    assert main(["sql", str(study), "SELECT value FROM metrics WHERE name = 'ttlb_ms'", "--format", "csv"]) == 0
    told = capsys.readouterr()
    return float(told.out.split()[-1]), told.err


def test_a_verb_makes_tables_of_another_version_again(
    study: Path, of_another_version: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The logs are there: the numbers are those of this version, once and for all."""
    right = _ttlb_by_sql(study, capsys)[0]
    value, told = _ttlb_by_sql(of_another_version, capsys)
    assert value == right
    assert "making tables of 1 trial" in told
    assert _ttlb_by_sql(of_another_version, capsys) == (right, "")


def test_tables_of_another_version_without_logs_are_said_to_be(
    study: Path, of_another_version: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In SQL, in a report, and in Python; with the version that made them."""
    right = _ttlb_by_sql(study, capsys)[0]
    (document,) = of_another_version.glob("trials/*/trial.json")
    document.write_text(json.dumps(json.loads(document.read_text()) | {"logs_left_out": "none"}))
    value, told = _ttlb_by_sql(of_another_version, capsys)
    assert value == right / 2
    assert told.count("quiclab 0.0.1 abc") == 1
    with pytest.warns(UserWarning, match=r"quiclab 0\.0\.1 abc"):
        opened = quiclab.open(of_another_version)
    assert len(opened.other_versions) == 1
    make_tables(StudyDir(of_another_version))
    assert [each for each in analyse_study(of_another_version).notes if "quiclab 0.0.1 abc" in each]
    assert not [each for each in analyse_study(study).notes if "made by" in each]


def test_tables_alone_say_what_made_them(study: Path, of_another_version: Path, tmp_path: Path) -> None:
    """A folder with the tables of the whole study and nothing else: the file of all metrics carries the version."""
    for name, whole in (("old", of_another_version), ("own", study)):
        (tmp_path / name / "tables").mkdir(parents=True)
        shutil.copy(whole / "metrics.parquet", tmp_path / name)
        shutil.copy(whole / "tables" / "trials.parquet", tmp_path / name / "tables")
    assert [len(told_of_versions(tmp_path / name)) for name in ("old", "own")] == [1, 0]
