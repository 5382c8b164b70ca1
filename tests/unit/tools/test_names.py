# SPDX-License-Identifier: Apache-2.0
"""Names that lint complains about, and those that it leaves alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[3] / "tools" / "names.py"


def complaints(root: Path, **files: str) -> list[str]:
    """Complaints about a project of these files: `folder__name` is `src/quiclab/folder/name.py`."""
    for name, source in files.items():
        path = root / "src" / "quiclab" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    if not (root / "GLOSSARY.md").exists():
        (root / "GLOSSARY.md").write_text("| word | meaning |\n|---|---|\n| cell | a room |\n")
    done = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", int(bool(done.stdout)))
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ["told", "_told", "of_trial", "_of_trial", "look"])
def test_a_function_says_what_it_gives(name: str, tmp_path: Path) -> None:
    """A name that says nothing is found wherever it is defined, with its line."""
    found = complaints(tmp_path, why__causes=f"class Causes:\n    def {name}(self) -> int:\n        return 1\n")
    assert found == [f'src/quiclab/why/causes.py:2: "{name}" does not say what it gives or holds']


def test_a_class_says_what_it_holds(tmp_path: Path) -> None:
    """Neither is a class called so."""
    assert len(complaints(tmp_path, why__causes="class Told:\n    pass\n")) == 1


def test_names_that_only_contain_such_a_word_are_let_be(tmp_path: Path) -> None:
    """A word that says something stands beside it."""
    source = "look_at = 1\n\n\ndef offer() -> int:\n    return 1\n\n\ndef interim_look() -> int:\n    return 1\n"
    assert complaints(tmp_path, why__causes=source) == []


def test_a_name_finds_one_file_of_a_wing(tmp_path: Path) -> None:
    """A helper's underscore makes no difference, and a file of another wing is not in the way."""
    assert complaints(tmp_path, why__account__window="", why__mechanisms___window="", plan__window="") == [
        'why: 2 modules are called "window": why/account/window.py, why/mechanisms/_window.py'
    ]


def test_plugins_are_named_after_what_they_are_for(tmp_path: Path) -> None:
    """A format has a decoder and an export, a program several roles; every room has a registry."""
    rooms = {f"logs__{room}__{name}": "" for room in ("decoders", "exports") for name in ("qlog", "_registry", "_api")}
    assert complaints(tmp_path, **rooms, lab__endpoints___caddy="", lab__endpoints__servers__caddy="") == []


def test_a_helper_beside_a_plugin_has_another_name(tmp_path: Path) -> None:
    """Only plugins may share a name."""
    assert len(complaints(tmp_path, logs__exports__qlog="", logs__exports___registry="", logs__decoders___qlog="")) == 1


def test_a_headword_stands_once(tmp_path: Path) -> None:
    """Words of one row count by themselves, and what is said in brackets does not make another word."""
    rows = ("worker, lease", "lease", "path (of a page)", "path")
    (tmp_path / "GLOSSARY.md").write_text("".join(f"| {row} | something |\n" for row in rows))
    assert complaints(tmp_path) == ['GLOSSARY.md: "lease" has 2 rows', 'GLOSSARY.md: "path" has 2 rows']


def test_the_project_is_named_so() -> None:
    """Nothing is found in the project itself."""
    done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)
