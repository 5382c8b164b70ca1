# SPDX-License-Identifier: Apache-2.0
"""`quiclab note` and `quiclab exclude` on a study's ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from specs import SMALL, study_of

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode
from quiclab.plan.make import make_plan
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.store.remarks import excluded, read_remarks


@pytest.fixture
def study(tmp_path: Path) -> tuple[str, str]:
    """A study's folder, and one of its trials."""
    study_dir = StudyDir(tmp_path / "study")
    study_dir.create()
    rows = make_plan(study_of(tmp_path, SMALL))
    with open_ledger(study_dir) as ledger:
        ledger.plan(rows)
    return str(study_dir.root), rows[0].trial_id


def test_exclude_and_undo(study: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is kept and listed; undo needs no reason; the beginning of an id will do."""
    folder, trial = study
    assert main(["exclude", folder, trial[:12], "--because", "a backup ran"]) == ExitCode.OK
    assert excluded(read_remarks(Path(folder))) == {trial: "a backup ran"}
    assert main(["note", folder, trial, "see the log"]) == ExitCode.OK
    assert main(["exclude", folder, trial, "--undo"]) == ExitCode.OK
    assert excluded(read_remarks(Path(folder))) == {}
    capsys.readouterr()
    assert main(["note", folder]) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert "taken back" in lines[0]
    assert lines[1].endswith("note: see the log")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["exclude", "STUDY", "TRIAL"], "--because"),
        (["exclude", "STUDY", "TRIAL", "--because", "  "], "--because"),
        (["exclude", "STUDY", "TRIAL", "--undo"], "no exclusion to take back"),
        (["exclude", "STUDY", "TRIAL", "--undo", "--because", "x"], "either words or --undo"),
        (["exclude", "STUDY", "nothing", "--because", "x"], "no trial 'nothing'"),
        (["note", "STUDY", "zz", "x"], "no trial 'zz'"),
        (["note", "STUDY", "TRIAL"], "there is no text"),
    ],
)
def test_bad_input(words: list[str], told: str, study: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written, and one sentence says what to do."""
    folder, trial = study
    assert main([{"STUDY": folder, "TRIAL": trial}.get(word, word) for word in words]) == ExitCode.SPEC
    assert told in capsys.readouterr().err
    assert read_remarks(Path(folder)) == []


@pytest.mark.parametrize(
    "content", ["{", "null", "[1, 2]", '{"remarks": [1]}', '{"remarks": [{"trial_id": 5}]}', "[" * 5000, "1" * 6000]
)
def test_a_damaged_file_of_remarks(study: tuple[str, str], capsys: pytest.CaptureFixture[str], content: str) -> None:
    """It is never overwritten."""
    folder, trial = study
    (Path(folder) / "remarks.json").write_text(content)
    assert main(["note", folder, trial, "x"]) == ExitCode.DECODE
    assert "remarks.json cannot be read" in capsys.readouterr().err
