# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain STUDY` where the study lacks something: it is said, and nothing is told as if it were there."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode
from quiclab.model.tables import TABLES

_SHAPE = replace(Shape(), workloads=("1 MB",), paths=("loss",), blocks=7, resolved={"blocks": 7})
_LACKING = "No causes in 1 of 2 trials (table mechanism_facts): "


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study of one cell, two of whose trials have the tables of an account; one lacks a table of them."""
    directory = write_study(tmp_path / "study", _SHAPE)
    trials = pl.read_parquet(directory / "tables" / "trials.parquet")["trial_id"].to_list()
    for name, having in (("account", trials[:2]), ("account_totals", trials[:2]), ("mechanism_facts", trials[:1])):
        (directory / "tables" / name).mkdir()
        for trial in having:
            TABLES[name].empty().write_parquet(directory / "tables" / name / f"{trial}.parquet")
    return directory


def _words(said: str) -> str:
    return " ".join(said.split())


def test_an_account_that_lacks_a_table_is_named(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By `explain`, and by `sql` where a query is about accounts."""
    assert main(["explain", str(study)]) == ExitCode.OK
    assert _LACKING in _words(capsys.readouterr().err)
    assert main(["sql", str(study), "SELECT count(*) AS n FROM account"]) == ExitCode.OK
    assert _LACKING in _words(capsys.readouterr().err)
    assert main(["sql", str(study), "SELECT count(*) AS n FROM trials"]) == ExitCode.OK
    assert not capsys.readouterr().err


def test_a_whole_study_is_not_complained_about(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A study of another version, without these tables, included."""
    for name in ("account", "account_totals", "mechanism_facts"):
        shutil.rmtree(study / "tables" / name)
    assert main(["explain", str(study)]) == ExitCode.OK
    assert not capsys.readouterr().err


def test_a_cell_is_told_in_short_or_as_a_whole(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The means of causes and waits are printed for a cell that is named, and for all cells on demand."""

    def printed(*words: str) -> str:
        assert main(["explain", str(study), *words]) == ExitCode.OK
        return capsys.readouterr().out

    cell = "1 MB/loss"
    assert "Means over" not in printed()
    assert "Means over" in printed(cell)
    assert "Means over" in printed("--all")


def test_without_the_spec_it_is_said(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without it nothing tells how many blocks were planned, so that a caveat of the answer would be missing."""
    (study / "resolved.json").unlink()
    assert main(["explain", str(study)]) == ExitCode.OK
    assert "resolved.json is missing." in capsys.readouterr().err


def test_a_damaged_list_of_trials_is_no_other_cell(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that was cut off cannot be read, whatever cell is asked for."""
    file = study / "tables" / "trials.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    assert main(["explain", str(study)]) == ExitCode.DECODE
    assert "tables/trials.parquet cannot be read" in capsys.readouterr().err


def test_a_metric_without_a_value_is_refused(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Stalls of a study without a video have no reasons."""
    assert main(["explain", str(study), "--metric", "stall_ms"]) == ExitCode.SPEC
    assert "no trial of this study has a value of stall_ms" in _words(capsys.readouterr().err)
