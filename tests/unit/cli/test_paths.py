# SPDX-License-Identifier: Apache-2.0
"""`quiclab paths` lists what has a name, and tells one in full as lines of a spec."""

from __future__ import annotations

import tomllib

import pytest

from quiclab.cli.main import main
from quiclab.spec.profiles import profiles


def test_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """One line each."""
    assert main(["paths"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(profiles())


@pytest.mark.parametrize("name", profiles())
def test_one_in_full_is_toml(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """With the same keys as the profile, under its source."""
    assert main(["paths", name]) == 0
    told = capsys.readouterr().out
    assert "# source: " in told
    assert tomllib.loads(told)["path"] == [{"name": name, **profiles()[name].path}]


def test_an_unknown_one_is_told_with_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    """And the exit code of a wrong command line."""
    assert main(["paths", "satelite"]) == 2
    assert "did you mean satellite?" in capsys.readouterr().err
