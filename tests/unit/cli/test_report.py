# SPDX-License-Identifier: Apache-2.0
"""`quiclab report`."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.cli.main import main
from quiclab.model import number_text
from quiclab.model.errors import ExitCode


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("setpu", "there is no metric 'setpu'"),
        ("path_rtt_min_ms", "path_rtt_min_ms only describes"),
        ("../../etc/passwd", "there is no metric"),
    ],
)
def test_a_metric_that_cannot_be_compared_is_told_before_anything_is_done(
    tmp_path: Path, metric: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that is none, and one of which neither side is the better; the study stays as it is."""
    (tmp_path / "ledger.sqlite").touch()
    assert main(["report", str(tmp_path), "--metric", metric]) == ExitCode.SPEC
    assert told in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite"]


def test_a_folder_that_holds_no_study_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a ledger there is nothing to report of."""
    assert main(["report", str(tmp_path)]) == ExitCode.DECODE
    assert "is not a study directory" in capsys.readouterr().err


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study whose tables are made, named `mine`; the folder above it is the current one."""
    study = write_study(tmp_path / "mine", Shape(("1 MB",), ("clean",), blocks=3, aa_blocks=0))
    (study / "ledger.sqlite").touch()
    monkeypatch.setattr("quiclab.cli.analyse.make_tables_visibly", lambda *_, **__: None)
    monkeypatch.chdir(tmp_path)
    return study


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--single-file"], "mine.html"),
        (["--single-file", "--metric", "setup_ms"], "mine-setup_ms.html"),
        (["--single-file", "out/mail.html"], "out/mail.html"),
    ],
)
def test_a_single_file_is_told_with_its_size(
    study: Path, options: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under the study's name, or the one that is asked for."""
    assert main(["report", str(study), *options]) == ExitCode.OK
    size = (study.parent / name).stat().st_size
    assert 500_000 < size < 1_000_000
    assert f"single file: {name}, {number_text.size(size)}" in capsys.readouterr().out


def test_a_single_file_never_takes_the_place_of_the_report(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whose links lead to the pages beside it."""
    assert main(["report", str(study), "--single-file", "mine/report.html"]) == ExitCode.SPEC
    assert "is the report itself" in capsys.readouterr().err
    assert 'href="report/pairs/' in (study / "report.html").read_text(encoding="utf-8")
