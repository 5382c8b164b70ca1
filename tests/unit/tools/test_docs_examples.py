# SPDX-License-Identifier: Apache-2.0
"""Pictures and outputs in the docs are those of the recorded studies: words of pictures, outputs of commands."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
from PIL import Image

from quiclab.cli.ask_options import read_question
from quiclab.cli.main import parser

ROOT = Path(__file__).resolve().parents[3]


def check(root: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The tool of a copy of the repository, asked whether all is up to date."""
    tool = [sys.executable, str(root / "tools" / "docs_examples.py"), "--check", *more]
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
def test_every_picture_is_of_today() -> None:
    """The tutorial's too, whose report takes longer."""
    looked = check(ROOT, "--all")
    assert (looked.returncode, looked.stderr) == (0, "")


@pytest.mark.nightly
def test_other_outputs_and_words_are_found_out(tmp_path: Path) -> None:
    """A page with another number, and a picture of another answer."""
    root = copied(tmp_path)
    page, words = root / "docs" / "how-to" / "read-a-report.md", root / "docs" / "report.txt"
    page.write_text(
        page.read_text(encoding="utf-8").replace("demo-study -->\n```\n", "demo-study -->\n```\nanother line\n")
    )
    answer = root / "docs" / "learn" / "answer.txt"
    for file in (words, answer):
        file.write_text(file.read_text(encoding="utf-8").replace("The answer", "An answer"))
    assert check(root, "--all").stderr.splitlines() == [
        "docs/how-to/read-a-report.md is out of date: run `make docs`",
        "docs/report.png is out of date: run `make docs`",
        "docs/timeline.png is out of date: run `make docs`",
        "docs/learn/answer.png is out of date: run `make docs`",
    ]


def test_the_recorded_demo_is_the_demo() -> None:
    """Its spec is that of today: titles, question and networks in the picture are those that a reader gets."""
    with tarfile.open(ROOT / "docs" / "demo-study.tar.xz") as archive:
        spec = archive.extractfile("demo-study/spec.toml")
        assert spec is not None
        assert spec.read() == (ROOT / "experiments" / "demo" / "spec.toml").read_bytes()


def test_the_recorded_answer_is_of_the_question_that_the_tutorial_asks() -> None:
    """The recorded study has the question of the tutorial's command."""
    text = (ROOT / "docs" / "learn" / "tutorial.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^<!-- output of: quiclab (ask .+) -->$", text, re.MULTILINE)
    assert f".venv/bin/quiclab {command}\n" in text
    asked = read_question(parser().parse_args(shlex.split(command)))
    with tarfile.open(ROOT / "docs" / "learn" / "ask-study.tar.xz") as archive:
        spec = archive.extractfile("studies/ask-300KB-40ms/spec.toml")
        assert spec is not None
        recorded = tomllib.loads(spec.read().decode())
    assert recorded["study"]["name"] == asked.name
    assert recorded["study"]["question"] == asked.sentence


@pytest.mark.parametrize("name", ["report.png", "timeline.png", "learn/answer.png"])
def test_a_picture_is_of_a_desktops_width(name: str) -> None:
    """And not of a blank page."""
    with Image.open(ROOT / "docs" / name) as picture:
        assert 1200 <= picture.width <= 1280
        assert len(picture.convert("L").getcolors() or ()) > 64
