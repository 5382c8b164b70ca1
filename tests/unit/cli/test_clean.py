# SPDX-License-Identifier: Apache-2.0
"""`quiclab clean` removes what a crash left, and only that."""

from __future__ import annotations

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
