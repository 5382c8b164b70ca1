# SPDX-License-Identifier: Apache-2.0
"""What becomes of one attempt at a trial, once it has run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from unit.study.rows import ROW, attempt_at

from quiclab.logs.decoders import decode_trial
from quiclab.model.errors import DecodeError, HostError
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import Ledger, counting, open_ledger
from quiclab.study import tables_on_disk, trial, trial_tables
from quiclab.study.tables import make_tables
from quiclab.study.trial import judge_attempt, keep_attempt


@pytest.fixture
def study(tmp_path: Path) -> StudyDir:
    """An empty study."""
    made = StudyDir(tmp_path / "study")
    made.create()
    return made


@pytest.fixture
def ledger(study: StudyDir) -> Iterator[Ledger]:
    """Its ledger, with one trial in the plan."""
    with open_ledger(study) as opened:
        opened.plan([ROW])
        yield opened


def _files(study: StudyDir) -> set[str]:
    return {str(path.relative_to(study.tables)) for path in study.tables.rglob(f"{ROW.trial_id}*")}


def test_a_verified_attempt_has_the_tables_that_its_files_give(study: StudyDir, ledger: Ledger, tmp_path: Path) -> None:
    """They are made of what was decoded before the verdict, and tell the verdict nevertheless."""
    judged = judge_attempt(attempt_at(ROW, 1, tmp_path / "memory"), ROW.trial_id, 1)
    assert keep_attempt(study, ledger, judged) is None
    assert ledger.attempts()[ROW.trial_id] == [Attempt(ROW.trial_id, 1, "verified", "")]
    later = decode_trial(study.trial(ROW.trial_id)).tables
    assert later["trials"].select("status", "http_version").rows() == [("verified", "HTTP/3")]
    for name, table in later.items():
        kept = pl.read_parquet(study.tables / name / f"{ROW.trial_id}.parquet")
        assert kept.equals(table), name


def test_a_failed_attempt_has_no_tables(study: StudyDir, ledger: Ledger, tmp_path: Path) -> None:
    """Nor those that a run which was ended left of an attempt before."""
    keep_attempt(study, ledger, judge_attempt(attempt_at(ROW, 1, tmp_path / "first"), ROW.trial_id, 1))
    assert f"metrics/{ROW.trial_id}.parquet" in _files(study)
    failed = judge_attempt(attempt_at(ROW, 2, tmp_path / "second", failure="the client crashed"), ROW.trial_id, 2)
    keep_attempt(study, ledger, failed)
    assert ledger.attempts()[ROW.trial_id][-1].status == "failed"
    assert _files(study) == set()


def test_a_trial_that_is_voided_loses_its_tables(study: StudyDir, ledger: Ledger, tmp_path: Path) -> None:
    """Another trial of its block was void: what is left in tables/ is of trials that count."""
    keep_attempt(study, ledger, judge_attempt(attempt_at(ROW, 1, tmp_path / "memory"), ROW.trial_id, 1))
    (study.tables / "har").mkdir()
    (study.tables / "har" / f"{ROW.trial_id}.har").touch()
    ledger.void(ROW.trial_id)
    assert _files(study) == set()
    assert study.failed(ROW.trial_id, 1).is_dir()


@pytest.mark.parametrize("ends_at", ["move_in", "record", "keep_tables"])
def test_a_run_that_is_ended_in_between_loses_nothing(
    ends_at: str, study: StudyDir, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the folder is in place the trial is run again; from then on it counts, and its tables are made later."""
    judged = judge_attempt(attempt_at(ROW, 1, tmp_path / "memory"), ROW.trial_id, 1)

    def ended(*_: object) -> None:
        raise HostError("killed")

    if ends_at == "record":
        monkeypatch.setattr(ledger, ends_at, ended)
    else:
        monkeypatch.setattr(trial, ends_at, ended)
    with pytest.raises(HostError, match="killed"):
        keep_attempt(study, ledger, judged)
    monkeypatch.undo()
    assert _files(study) == set()
    ledger.adopt()
    if ends_at == "move_in":
        assert ledger.attempts() == {}
        return
    assert [each.status for each in ledger.attempts()[ROW.trial_id]] == ["verified"]
    assert make_tables(study) == []
    assert pl.read_parquet(study.metrics)["trial_id"].unique().to_list() == [ROW.trial_id]


@pytest.mark.parametrize("error", [UnicodeEncodeError("utf-8", "\udcff", 0, 1, "no text"), DecodeError("too deep", "")])
def test_logs_that_cannot_be_judged_fail_their_attempt_and_no_more(
    study: StudyDir, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The reason is told, and beside trial.json stands where it was: a mistake of quiclab's own is found there."""

    def judged_badly(*_: object) -> None:
        raise error

    monkeypatch.setattr(trial, "judge", judged_badly)
    keep_attempt(study, ledger, judge_attempt(attempt_at(ROW, 1, tmp_path / "memory"), ROW.trial_id, 1))
    (attempt,) = ledger.attempts()[ROW.trial_id]
    assert attempt.status == "failed"
    assert attempt.reason.startswith("its logs cannot be judged: ")
    kept = study.folder(attempt)
    assert json.loads((kept / "trial.json").read_text())["reason"] == attempt.reason
    assert "in judged_badly" in (kept / "mistake.txt").read_text()
    assert _files(study) == set()


def test_an_attempt_that_the_laboratory_spoiled_stays_void(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its logs are like."""
    monkeypatch.setattr(trial, "decode_trial", lambda _: [][0])
    judged = judge_attempt(attempt_at(ROW, 1, tmp_path / "memory", void="the link was killed"), ROW.trial_id, 1)
    assert (judged.attempt.status, judged.attempt.reason) == ("void", "the link was killed")


def test_an_attempt_whose_folder_is_gone_is_no_failed_one(tmp_path: Path) -> None:
    """Its chamber was ended, and takes the attempt with it."""
    with pytest.raises(OSError, match="gone"):
        judge_attempt(tmp_path / "gone", ROW.trial_id, 1)


def test_a_mistake_of_quiclabs_own_does_not_end_the_run(
    study: StudyDir, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trial is kept and has no tables; making them later says which trial it is of."""
    monkeypatch.setattr(trial_tables, "made_tables", lambda _: [][0])
    keep_attempt(study, ledger, judge_attempt(attempt_at(ROW, 1, tmp_path / "memory"), ROW.trial_id, 1))
    assert ledger.attempts()[ROW.trial_id][-1].status == "verified"
    assert tables_on_disk.without_tables(study, counting(ledger.attempts(), ledger.damaged())) == [ROW.trial_id]
    with pytest.raises(IndexError) as met:
        make_tables(study)
    assert met.value.__notes__ == [f"met in the tables of trial {ROW.trial_id}"]
    monkeypatch.undo()
    make_tables(study)
    assert tables_on_disk.without_tables(study, [ROW.trial_id]) == []
