# SPDX-License-Identifier: Apache-2.0
"""A study begins in an empty folder or goes on in its own, and in no folder of the user's."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from quiclab.model.errors import SpecError
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.store.study_folder import begin_in, is_study


def _files(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder with its content."""
    return {str(each): each.read_bytes() if each.is_file() else None for each in folder.rglob("*")}


@pytest.mark.parametrize(
    "name", ["report.html", "spec.toml", "metrics.parquet", "notes/today.txt", "resolved.json", "ledger.sqlite", ".env"]
)
def test_a_folder_with_files_of_the_users_is_refused(tmp_path: Path, name: str) -> None:
    """Nothing in it is touched, and nothing is added; it is named with what it holds."""
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("precious")
    before = _files(tmp_path)
    with pytest.raises(SpecError, match="is no study") as told:
        begin_in(StudyDir(tmp_path))
    assert told.value.problems == (name.partition("/")[0],)
    assert _files(tmp_path) == before


def test_a_database_of_another_program_is_no_ledger(tmp_path: Path) -> None:
    """Whatever its name is."""
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as other:
        other.executescript("CREATE TABLE accounts (money INTEGER)")
    assert not is_study(tmp_path)
    with pytest.raises(SpecError, match="is no study"):
        begin_in(StudyDir(tmp_path))


def test_a_new_or_an_empty_folder_is_used(tmp_path: Path) -> None:
    """An empty folder is one also at the top of a file system."""
    for name in ("new", "empty", "mounted"):
        folder = tmp_path / name
        if name != "new":
            folder.mkdir()
        if name == "mounted":
            (folder / "lost+found").mkdir()
        begin_in(StudyDir(folder))
        assert (folder / "trials").is_dir()


def _killed_at_once(study: StudyDir) -> None:
    (study.root / "trials").mkdir(parents=True)


def _refused_before_its_first_trial(study: StudyDir) -> None:
    begin_in(study)
    with study.locked():
        study.spec.write_text("[study]")


def _without_ledger(study: StudyDir) -> None:
    study.create()
    study.resolved.write_text(json.dumps({"name": "s", "arms": [], "paths": [], "workloads": []}))


def _with_its_ledger_alone(study: StudyDir) -> None:
    study.root.mkdir()
    with open_ledger(study):
        pass


def _with_a_trial_alone(study: StudyDir) -> None:
    study.trial("7e57").mkdir(parents=True)
    (study.trial("7e57") / "trial.json").write_text("{}")


@pytest.mark.parametrize(
    "left",
    [
        _killed_at_once,
        _refused_before_its_first_trial,
        _without_ledger,
        _with_its_ledger_alone,
        _with_a_trial_alone,
    ],
)
def test_a_study_goes_on_whatever_was_lost_of_it(tmp_path: Path, left: object) -> None:
    """With what the user has put beside it meanwhile."""
    study = StudyDir(tmp_path / "study")
    left(study)  # type: ignore[operator]
    if left is not _killed_at_once:
        (study.root / "notes.txt").write_text("mine")
    begin_in(study)


def test_what_a_spec_names_may_lie_beside_it(tmp_path: Path) -> None:
    """In the folder of a spec a study can begin, if nothing else is there."""
    (tmp_path / "spec.toml").write_text("[study]")
    begin_in(StudyDir(tmp_path), beside={"spec.toml"})
