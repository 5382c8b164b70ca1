# SPDX-License-Identifier: Apache-2.0
"""A study's tables as frames and by SQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_study import write_study

import quiclab
from quiclab.cli.main import main
from quiclab.errors import DecodeError

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "difference-map.ipynb"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose path needs quoting in SQL."""
    return write_study(tmp_path_factory.mktemp("it's a study"))


def test_a_table_of_logs_says_of_which_trial_each_row_is(directory: Path) -> None:
    """Files become one table, whose `trial_id` is the files' names."""
    study = quiclab.open(directory)
    curves = study.table("bytes_acknowledged")
    assert curves.columns == ["trial_id", "x_ms", "bytes"]
    assert set(curves["trial_id"]) == {file.stem for file in directory.glob("tables/bytes_acknowledged/*")}


def test_units_and_meaning_are_those_of_the_schema(directory: Path) -> None:
    """Only columns with a unit have one; every column has a sentence."""
    study = quiclab.open(directory)
    assert study.units("decode_stats") == {}
    assert study.units("bytes_acknowledged")["x_ms"] == "ms"
    assert set(study.meaning("bytes_acknowledged")) >= {"x_ms", "bytes"}


def test_sql_agrees_with_the_frames(directory: Path) -> None:
    """The median of every arm, asked both ways."""
    study = quiclab.open(directory)
    asked = study.sql(
        "SELECT arm, median(value) AS ms FROM metrics JOIN trials USING (trial_id) "
        "WHERE name = 'ttlb_ms' AND status = 'verified' GROUP BY arm ORDER BY arm"
    )
    joined = study.metrics.filter(pl.col("name") == "ttlb_ms").join(
        study.trials.filter(status="verified"), on="trial_id"
    )
    expected = joined.group_by("arm").agg(pl.col("value").median().alias("ms")).sort("arm")
    assert asked.equals(expected)


def test_sql_joins_tables_of_logs_with_trials(directory: Path) -> None:
    """`trial_id` is there by that name, and no name of a file is."""
    study = quiclab.open(directory)
    answer = study.sql("SELECT * FROM bytes_acknowledged JOIN trials USING (trial_id) WHERE arm = 'h3' LIMIT 1")
    assert answer["arm"].to_list() == ["h3"]
    assert "filename" not in answer.columns


def test_a_wrong_query_is_told_with_the_views_there_are(directory: Path) -> None:
    """DuckDB's own words, and what could be asked."""
    with pytest.raises(DecodeError, match="nonsense") as told:
        quiclab.open(directory).sql("SELECT nonsense FROM metrics")
    assert "bytes_acknowledged" in told.value.hint


def test_a_table_that_is_not_there_is_told(directory: Path) -> None:
    """With those that are."""
    with pytest.raises(DecodeError, match="no table 'losses'"):
        quiclab.open(directory).table("losses")


def test_a_folder_without_a_study_is_told(tmp_path: Path) -> None:
    """No traceback for a wrong path."""
    with pytest.raises(DecodeError, match="no study"):
        quiclab.open(tmp_path)


def test_a_broken_file_is_told(tmp_path: Path) -> None:
    """Which table, and how to make it anew."""
    study = write_study(tmp_path)
    next((study / "tables" / "decode_stats").glob("*.parquet")).write_bytes(b"PAR1 but no more")
    with pytest.raises(DecodeError, match="decode_stats cannot be read") as told:
        quiclab.open(study).table("decode_stats")
    assert "quiclab report" in told.value.hint


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ("csv", lambda text: pl.read_csv(text.encode()).rows()),
        ("json", lambda text: [tuple(*map(dict.values, json.loads(text)))]),
    ],
)
def test_the_verb_prints_what_other_programs_read(
    directory: Path, form: str, read: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """CSV and JSON hold the same row."""
    assert main(["sql", str(directory), "SELECT count(*) AS n, 'a,b' AS text FROM trials", "--format", form]) == 0
    attempts = quiclab.open(directory).trials.height
    assert read(capsys.readouterr().out) == [(attempts, "a,b")]


def test_the_verb_lists_what_can_be_asked(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables with their columns."""
    assert main(["sql", str(directory)]) == 0
    assert "bytes_acknowledged: trial_id, x_ms, bytes" in capsys.readouterr().out


def test_the_notebook_runs(directory: Path) -> None:
    """Every cell, on another study; it finds the difference that was put into it."""
    names: dict[str, Any] = {}
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
            if "STUDY" in names:
                names["STUDY"] = str(directory)
    lossy = names["differences"].filter(path="loss", workload="1 MB")
    assert lossy["h3 faster by, %"].item() > 15
