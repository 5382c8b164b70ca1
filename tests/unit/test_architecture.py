# SPDX-License-Identifier: Apache-2.0
"""ARCHITECTURE.md is short, and it and the docstrings of rooms lead to files that are there."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
ROOMS = sorted((ROOT / "src" / "quiclab").rglob("__init__.py"))
MOST_WORDS, MOST_FILES = 1300, 60
NAMED = re.compile(r"`([\w./-]+\.(?:py|rs|toml|go|md|js|sh))`")
_PAGE_OF_DOCS = re.compile(r"(?<![\w/])docs/[\w./-]+\.md")


def files() -> list[str]:
    """Paths of the project's files, each with a slash before it."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [f"/{line}" for line in listed.splitlines() if (ROOT / line).exists()]


def missing(text: str, room: str = "") -> list[str]:
    """Names that no file has: by the end of its path, or, of a name without a folder, below a room of `src/quiclab`."""
    known = files()
    of_room = [file for file in known if file.startswith(f"/src/quiclab/{room}".rstrip("/"))]
    names = {*NAMED.findall(text), *_PAGE_OF_DOCS.findall(text)}
    return sorted(
        name for name in names if not any(file.endswith(f"/{name}") for file in (known if "/" in name else of_room))
    )


def test_it_is_read_in_one_sitting() -> None:
    """What a newcomer can take in; the rest stands in the docstrings of the rooms."""
    text = PAGE.read_text(encoding="utf-8")
    assert len(text.split()) <= MOST_WORDS
    assert 20 < len(set(NAMED.findall(text))) <= MOST_FILES


def test_every_file_and_page_that_it_names_is_there() -> None:
    """Files are named by the end of their path."""
    text = PAGE.read_text(encoding="utf-8")
    names = {*NAMED.findall(text), *_PAGE_OF_DOCS.findall(text)}
    assert [name for name in sorted(names) if not any(file.endswith(f"/{name}") for file in files())] == []
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text)]
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_it_leads_to_every_wing() -> None:
    """A paragraph for each folder of the first level."""
    text = PAGE.read_text(encoding="utf-8")
    wings = {room.parent.name for room in ROOMS if room.parent.parent == ROOT / "src" / "quiclab"}
    assert {wing for wing in wings if f"**`{wing}`**" not in text} == set()


@pytest.mark.parametrize("room", [str(room.parent.relative_to(ROOT / "src" / "quiclab")) for room in ROOMS])
def test_a_room_says_what_it_is_and_names_files_of_its_own(room: str) -> None:
    """A name without a folder is of a file in the room or below it."""
    text = ast.get_docstring(ast.parse((ROOT / "src" / "quiclab" / room / "__init__.py").read_text(encoding="utf-8")))
    assert text
    assert missing(text, "" if room == "." else room) == []


def test_a_name_that_is_not_there_is_found() -> None:
    """In another room, nowhere, and among the docs."""
    assert missing("`make.py`", "plan") == []
    assert missing("`make.py`, `no_such.py` and docs/no-such.md", "why") == ["docs/no-such.md", "make.py", "no_such.py"]
    assert missing("`plan/make.py`", "why") == []
