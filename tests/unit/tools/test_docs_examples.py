# SPDX-License-Identifier: Apache-2.0
"""What the docs show of the demo is what the demo shows: its picture's words, and the outputs of commands."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[3]


def check(root: Path) -> subprocess.CompletedProcess[str]:
    """The tool of a copy of the repository, asked whether all is up to date."""
    tool = [sys.executable, str(root / "tools" / "docs_examples.py"), "--check"]
    return subprocess.run(tool, capture_output=True, text=True, check=False)


def copied(folder: Path) -> Path:
    """The tool and the docs by themselves."""
    (folder / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "docs_examples.py", folder / "tools")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("decisions", "explanation"))
    return folder


def test_the_docs_show_what_is_printed_today() -> None:
    """Run `make docs` where they do not."""
    looked = check(ROOT)
    assert (looked.returncode, looked.stderr) == (0, "")


@pytest.mark.nightly
def test_other_outputs_and_words_are_found_out(tmp_path: Path) -> None:
    """A page with another number, and a picture of another answer."""
    root = copied(tmp_path)
    page, words = root / "docs" / "how-to" / "read-a-report.md", root / "docs" / "report.txt"
    page.write_text(
        page.read_text(encoding="utf-8").replace("demo-study -->\n```\n", "demo-study -->\n```\nanother line\n")
    )
    words.write_text(words.read_text(encoding="utf-8").replace("The answer", "An answer"))
    assert check(root).stderr.splitlines() == [
        "docs/how-to/read-a-report.md is out of date: run `make docs`",
        "docs/report.png is out of date: run `make docs`",
        "docs/timeline.png is out of date: run `make docs`",
    ]


def test_the_recorded_demo_is_the_demo() -> None:
    """Its spec is that of today: titles, question and networks in the picture are those that a reader gets."""
    with tarfile.open(ROOT / "docs" / "demo-study.tar.xz") as archive:
        spec = archive.extractfile("demo-study/spec.toml")
        assert spec is not None
        assert spec.read() == (ROOT / "experiments" / "demo" / "spec.toml").read_bytes()


@pytest.mark.parametrize("name", ["report.png", "timeline.png"])
def test_the_pictures_are_of_a_desktops_width(name: str) -> None:
    """And not of a blank page."""
    with Image.open(ROOT / "docs" / name) as picture:
        assert 1200 <= picture.width <= 1280
        assert len(picture.convert("L").getcolors() or ()) > 64
