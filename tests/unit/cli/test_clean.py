# SPDX-License-Identifier: Apache-2.0
"""`quiclab clean` removes what a crash left, and only that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quiclab.cli.main import main
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger


def _crashed(root: Path) -> StudyDir:
    study = StudyDir(root)
    study.create()
    with open_ledger(study):
        pass
    for name in (".work", "trials/.incoming-a", "failed/.incoming-b-attempt1", "trials/whole"):
        (root / name).mkdir()
    (root / ".host.json.new").write_text("half")
    return study


def test_left_overs_go_and_trials_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every removal is printed."""
    study = _crashed(tmp_path / "study")
    assert main(["clean", str(study.root)]) == 0
    assert sorted(path.name for path in (study.root / "trials").iterdir()) == ["whole"]
    assert not (study.root / ".work").exists()
    assert capsys.readouterr().out.count("removed") == 4
    assert main(["clean", str(study.root)]) == 0
    assert capsys.readouterr().out == "nothing to clean\n"


def test_a_study_at_work_is_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run's own folders are no left-overs."""
    study = _crashed(tmp_path / "study")
    with study.locked():
        assert main(["clean", str(study.root)]) == 0
    assert (study.root / ".work").exists()
    assert "passed over" in capsys.readouterr().out


def test_a_folder_that_is_no_study_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Things of the user's may have the names of left-overs."""
    (tmp_path / ".work").mkdir()
    (tmp_path / ".draft.new").write_text("precious")
    assert main(["clean", str(tmp_path)]) == 4
    assert sorted(each.name for each in tmp_path.iterdir()) == [".draft.new", ".work"]
    assert "is not a study directory" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_the_study_of_another_user_is_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The owner's words would be acted on with the rights of whoever cleans; other studies are still cleaned."""
    theirs, mine = _crashed(tmp_path / "a"), _crashed(tmp_path / "b")
    (theirs.root / "host-nat.json").write_text("{}")
    os.chown(theirs.root, 65534, 65534)
    assert main(["clean", str(theirs.root), str(mine.root)]) == 0
    assert (theirs.root / ".work").exists()
    assert not (mine.root / ".work").exists()
    assert "belongs to another user" in capsys.readouterr().out


@pytest.mark.skipif(os.geteuid() != 0, reason="only root takes a change of the network back")
@pytest.mark.parametrize("text", ["[]", "{}", "x", '{"boot_id": 1}', "null", "[" * 100_000, ""])
def test_a_record_that_no_probe_wrote_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    """The record is told, and the next study cleaned."""
    one, other = _crashed(tmp_path / "a"), _crashed(tmp_path / "b")
    (one.root / "host-nat.json").write_text(text)
    assert main(["clean", str(one.root), str(other.root)]) == 4
    told = capsys.readouterr().err
    assert "host-nat.json is no record of a probe" in told
    assert not (other.root / ".work").exists()
