# SPDX-License-Identifier: Apache-2.0
"""The tables of one trial count when all are there, and tell what made them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from trial_records import record
from unit.study.rows import ROW, attempt_at

from quiclab.evidence.metrics import METRICS
from quiclab.logs.decoders import decode_trial
from quiclab.model.tables import TABLES
from quiclab.model.trial_record import TrialRecord
from quiclab.store.layout import StudyDir
from quiclab.study import trial_tables
from quiclab.study.tables_on_disk import has_tables, kept_metrics
from quiclab.study.trial_tables import keep_tables


@pytest.fixture
def study(tmp_path: Path) -> StudyDir:
    """A study with the tables of one trial."""
    folder = attempt_at(ROW, 1, tmp_path / "memory")
    made = StudyDir(tmp_path / "study")
    made.create()
    keep_tables(made, ROW.trial_id, decode_trial(folder).tables, _record(folder))
    return made


def _record(folder: Path) -> TrialRecord:
    return record(json.loads((folder / "trial.json").read_text()))


def test_a_trial_has_every_table_and_every_metric(study: StudyDir) -> None:
    """Those without rows too: that nothing was lost is a result."""
    assert has_tables(study, ROW.trial_id)
    assert {path.parent.name for path in study.tables.glob("*/*.parquet")} == {*TABLES, "metrics"}
    metrics = kept_metrics(study, ROW.trial_id)
    assert metrics is not None
    assert metrics["name"].to_list() == [metric.name for metric in METRICS]
    assert metrics["trial_id"].unique().to_list() == [ROW.trial_id]


@pytest.mark.parametrize("table", ["metrics", "packets", "bytes_acknowledged"])
def test_a_table_that_is_missing_or_cut_is_noticed(study: StudyDir, table: str) -> None:
    """Whichever it is; a table that no trial of the study has was not known when they were made."""
    file = study.tables / table / f"{ROW.trial_id}.parquet"
    file.write_bytes(file.read_bytes()[:-1])
    assert not has_tables(study, ROW.trial_id)
    file.unlink()
    assert not has_tables(study, ROW.trial_id)


def test_an_interrupted_writing_does_not_count(
    study: StudyDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Metrics of the making before go first and come last."""
    written: list[str] = []

    def until_losses(frame: pl.DataFrame, path: Path, *_: object) -> None:
        written.append(path.parent.name)
        if path.parent.name == "losses":
            raise KeyboardInterrupt

    monkeypatch.setattr(trial_tables, "write_parquet", until_losses)
    folder = attempt_at(ROW, 1, tmp_path / "again")
    with pytest.raises(KeyboardInterrupt):
        keep_tables(study, ROW.trial_id, decode_trial(folder).tables, _record(folder))
    assert "metrics" not in written
    assert not has_tables(study, ROW.trial_id)
    assert kept_metrics(study, ROW.trial_id) is None
