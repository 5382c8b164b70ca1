# SPDX-License-Identifier: Apache-2.0
"""A folder that holds anything but a site is not touched, and every package of the site has a hash in its lock."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from build_site import PARTS, main

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", ["notes", "notes/file.txt"])
def test_a_folder_with_anything_else_is_refused(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """So is a file; both stay as they are."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "file.txt").write_text("mine")
    assert main([str(tmp_path / name)]) == 2
    assert name in capsys.readouterr().err
    assert (tmp_path / "notes" / "file.txt").read_text() == "mine"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["one", "two"]])
def test_other_arguments_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The usage is printed, and the exit code is 2."""
    assert main(arguments) == 2
    assert "usage" in capsys.readouterr().err


def test_what_a_site_holds_of_others_is_locked() -> None:
    """The lock has versions and hashes, and no address of a download."""
    lock = (ROOT / "requirements-docs.lock").read_text()
    assert set(PARTS) <= set(re.findall(r"^([\w-]+)==", lock, re.MULTILINE))
    assert "://" not in lock
