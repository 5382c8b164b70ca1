# SPDX-License-Identifier: Apache-2.0
"""Which docstrings and comments lint complains about, and which it leaves alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import english
import pytest

TOOL = Path(__file__).resolve().parents[3] / "tools" / "english.py"


def complaints(folder: Path, name: str, source: str) -> tuple[int, list[str]]:
    """Exit code, and complaints without the path, about one file in a folder of its own."""
    (folder / name).write_text(source)
    done = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, [line.split(f"{name}:")[1] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("docstring", "complaint"),
    [
        ("Of the bodies.", 'begins with "Of"'),
        ("The same for a study that has been read.", 'begins with "The same"'),
        ("Who serves.", 'begins with "Who"'),
        ("Its name, by which commands know it.", 'begins with "Its"'),
        ("By name: the program of each.", 'begins with "By"'),
        ("None, where nothing is known.", 'begins with "None,"'),
        ("reno or cubic.", "begins with a small letter"),
        ("Parquet.", "fewer than two words"),
        ("Whether the server is ready.", 'asks: begins with "Whether"'),
        ("What a trial costs.", 'asks: begins with "What"'),
        ("Keys of which a direction has one.", '"of which" where nothing is divided'),
    ],
)
def test_a_fragment_is_told_with_its_line(docstring: str, complaint: str, tmp_path: Path) -> None:
    """A field's docstring is held against the same rules as a function's."""
    source = f'"""A module."""\n\n\nclass Thing:\n    """A thing."""\n\n    field: int\n    """{docstring}"""\n'
    assert complaints(tmp_path, "it.py", source) == (1, [f"8: {complaint}: {docstring}"])


def test_who_is_for_people(tmp_path: Path) -> None:
    """A comment may begin as it likes, but a program is not a person there either."""
    source = (
        '"""Presets of those who publish them, and of the user who asked."""\n'
        "x = 1  # of whoever serves\n"
        "y = 2  # of the proxy\n"
    )
    code, told = complaints(tmp_path, "it.py", source)
    assert (code, told) == (1, ['2: "whoever" for what is no person: # of whoever serves'])


def test_a_sentence_has_the_words_of_the_field(tmp_path: Path) -> None:
    """Of what is printed; docstrings, ids and code between backticks are left alone."""
    source = (
        '"""The set-up of a test."""\n'
        'SAID = "the set-up took 3 s"\n'
        'ID = "undecided"\n'
        'TOLD = "see `set-up`, undecided whether it matters"\n'
        'LATER = f"{SAID} is undecided"\n'
        'FIRST = "Undecided: of 3 blocks"\n'
    )
    code, told = complaints(tmp_path, "it.py", source)
    assert code == 1
    assert sorted(told) == [
        '2: "set-up" is handshake: the set-up took 3 s',
        '5: "undecided" is inconclusive: is undecided',
        '6: "Undecided" is inconclusive: Undecided: of 3 blocks',
    ]


@pytest.mark.parametrize(
    "docstring",
    [
        "Bytes of the body, of which the first two are a length.",
        "True if the server is ready.",
        "nginx as a file server.",
        "`who`, the command, and `whoever`.",
        "min(10 ms, RTT/4) by default.",
        "Two links, one of which stands behind a proxy.",
    ],
)
def test_good_english_passes(docstring: str, tmp_path: Path) -> None:
    """No complaint about a noun, a clause or a name."""
    assert complaints(tmp_path, "it.py", f'def it() -> None:\n    """{docstring}"""\n') == (0, [])


def test_what_is_no_docstring_passes(tmp_path: Path) -> None:
    """A text that is assigned or returned is not a docstring."""
    assert complaints(tmp_path, "it.py", 'x = "of it"\n\n\ndef it() -> str:\n    return "of it"\n') == (0, [])


def test_rust(tmp_path: Path) -> None:
    """Doc comments are put together line by line; plain comments may begin as they like."""
    source = (
        "//! A module.\n\n// Of it.\nstruct A {\n    /// Of the\n    /// body.\n    a: u8,\n    /// What ends it.\n}\n"
    )
    assert complaints(tmp_path, "it.rs", source) == (
        1,
        ['5: begins with "Of": Of the body.', '8: asks: begins with "What": What ends it.'],
    )


def test_faults_in_tests_become_fewer() -> None:
    """More of them are refused, and fewer are to be declared."""
    assert english.problem_in_tests(english.IN_TESTS) is None
    assert "tools/english.py tests lists all" in str(english.problem_in_tests(english.IN_TESTS + 1))
    assert f"IN_TESTS = {english.IN_TESTS - 1}" in str(english.problem_in_tests(english.IN_TESTS - 1))


def test_files_that_are_not_committed_are_known(tmp_path: Path) -> None:
    """Changed files and new ones are found, below the folder alone."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "tests").mkdir()
    for name in ("tests/kept.py", "tests/changed.py", "other.py"):
        (tmp_path / name).write_text("a = 1\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    for name in ("tests/changed.py", "tests/new one.py", "other.py"):
        (tmp_path / name).write_text("a = 2\n")
    assert {file.name for file in english.uncommitted(tmp_path, "tests")} == {"changed.py", "new one.py"}
    assert english.uncommitted(tmp_path / "none", "tests") == []


@pytest.mark.nightly  # `make lint` runs the same with every push
def test_the_project_speaks_so() -> None:
    """Nothing is found in any of its folders."""
    done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)
