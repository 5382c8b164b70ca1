# SPDX-License-Identifier: Apache-2.0
"""The studies that come with quiclab: listed, and found by name where a spec is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quiclab.cli.main import main
from quiclab.project import studies


def test_each_is_listed_with_its_question(capsys: pytest.CaptureFixture[str]) -> None:
    """And at the end where they lie."""
    assert main(["studies"]) == 0
    *listed, last = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(studies())
    assert all(line.endswith("?") for line in listed)
    assert (Path(last.removeprefix("in ")) / "demo" / "spec.toml").is_file()


def test_a_name_stands_for_the_spec(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From any folder; a file or a study of that name there comes first."""
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "yb-delay-small", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["study"]["name"] == "yb-delay-small"
    (tmp_path / "demo").write_text("no TOML")
    assert main(["plan", "demo"]) == 2
    assert "demo is not TOML" in capsys.readouterr().err


def test_a_name_of_none_is_told_with_the_closest(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was meant may be a file as well as a study."""
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "yb-dleay"]) == 2
    told = capsys.readouterr().err
    assert "there is no file yb-dleay" in told
    assert "did you mean yb-delay? `quiclab studies`" in told
    assert main(["plan", "nowhere.toml"]) == 2
    assert "nowhere.toml cannot be read" in capsys.readouterr().err
