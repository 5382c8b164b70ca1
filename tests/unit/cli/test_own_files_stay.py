# SPDX-License-Identifier: Apache-2.0
"""No verb overwrites files of the user's that it was not told to write."""

from __future__ import annotations

from pathlib import Path

import pytest
from specs import SMALL, written
from synthetic_study import write_study

from quiclab.cli.main import main
from quiclab.model.errors import SpecError
from quiclab.report.page.single_file import is_single_file


def _precious(folder: Path, *names: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("precious")
    return _content(folder)


def _content(folder: Path) -> dict[str, str]:
    return {str(each): each.read_text() if each.is_file() else "" for each in folder.rglob("*")}


@pytest.mark.parametrize(
    "verb",
    [
        ("run", "SPEC", "--out"),
        ("trial", "SPEC", "--out"),
        ("conformance", "--clients", "curl", "--servers", "caddy", "--out"),
    ],
)
@pytest.mark.parametrize("name", ["report.html", "metrics.parquet", "notes.txt"])
def test_a_directory_that_is_not_quiclabs(
    tmp_path: Path, verb: tuple[str, ...], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused before anything is written or removed."""
    spec = written(tmp_path, SMALL)
    before = _precious(tmp_path / "mine", name)
    words = [str(spec) if word == "SPEC" else word for word in verb]
    assert main([*words, str(tmp_path / "mine")]) == SpecError.exit_code
    assert _content(tmp_path / "mine") == before
    assert "has files in it" in capsys.readouterr().err


def test_logs_of_somebody_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`exec --log` takes a folder with other files, and none with captures that it has not written."""
    before = _precious(tmp_path / "mine", "client.pcapng")
    assert main(["exec", "--log", str(tmp_path / "mine"), "--", "true"]) == SpecError.exit_code
    assert _content(tmp_path / "mine") == before
    assert "would be overwritten" in capsys.readouterr().err


def test_data_beside_a_new_figure(tmp_path: Path) -> None:
    """A file that was not named is not replaced, except with its figure."""
    study = write_study(tmp_path / "study")
    before = _precious(tmp_path / "mine", "map.csv")
    words = ["figure", "differences", str(study), "-o", str(tmp_path / "mine" / "map.html")]
    assert main(words) == SpecError.exit_code
    assert _content(tmp_path / "mine") == before
    (tmp_path / "mine" / "map.csv").unlink()
    assert main(words) == 0
    assert main(words) == 0


@pytest.mark.parametrize("text", ["", "<html><body>mine</body></html>"])
def test_a_page_of_somebody_else_is_no_report_in_one_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "page.html").write_text(text)
    assert not is_single_file(tmp_path / "page.html")
    assert not is_single_file(tmp_path)
