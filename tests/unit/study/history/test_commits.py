# SPDX-License-Identifier: Apache-2.0
"""Commits as releases, of a real repository that is made here."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from quiclab.model.errors import SpecError
from quiclab.store.layout import BUILDS
from quiclab.study.history.commits import CommitChoice, _program, commits_of, ready_commit


def _git(folder: Path, *words: str) -> str:
    command = ("git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org", *words)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Five commits, of which the third does not build, with a tag at the first."""
    folder = tmp_path / "mine"
    folder.mkdir()
    _git(folder, "init", "--quiet", "--initial-branch=main")
    for number in range(5):
        (folder / "number").write_text(f"{number}\n")
        (folder / "build.sh").write_text("exit 3\n" if number == 2 else 'cp number "built-$QUICLAB_COMMIT"\n')
        _git(folder, "add", ".")
        _git(folder, "commit", "--quiet", "--message", f"Change {number}")
        if number == 0:
            _git(folder, "tag", "v1")
    return folder


def _choice(repository: Path) -> CommitChoice:
    return CommitChoice(repository, "v1..main", "sh build.sh", program="nginx", protocol="h2")


def test_a_range_has_its_begin_too_the_oldest_first(repository: Path) -> None:
    """A bisect compares with what was there before the first change."""
    found = commits_of(repository, "v1..main")
    assert [subject for _, _, subject in found] == [f"Change {number}" for number in range(5)]
    assert all(len(name) == 40 and len(date) == 10 for name, date, _ in found)
    assert [subject for _, _, subject in commits_of(repository, "main~1..main")] == ["Change 3", "Change 4"]


@pytest.mark.parametrize(
    ("commits", "told"),
    [
        ("main", "this is no range"),
        ("v1...main", "this is no range"),
        ("..main", "this is no range"),
        ("v9..main", "has no commit v9"),
        ("main..v1", "no commit of v1 comes after main"),
        ("--all..main", "has no commit --all"),
    ],
)
def test_a_wrong_range_is_refused(repository: Path, commits: str, told: str) -> None:
    """One sentence says why."""
    with pytest.raises(SpecError, match=told):
        commits_of(repository, commits)


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    """A folder that is not there is none either."""
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(SpecError, match="--repo"):
            commits_of(place, "a..b")


def test_a_commit_is_built_once_in_a_copy_of_its_files(repository: Path, tmp_path: Path) -> None:
    """The user's repository stays as it is, to the byte; another command builds anew."""
    study = tmp_path / "study"
    study.mkdir()
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    names = [name for name, _, _ in commits_of(repository, "v1..main")]
    told: list[str] = []
    ready = ready_commit(_choice(repository), study, told.append)
    assert ready(names[1][:12]) is None
    assert ready(names[1][:12]) is None
    assert told == [f"building {names[1][:12]} …"]
    folder = study / BUILDS / names[1][:12]
    assert (folder / f"built-{names[1]}").read_text() == "1\n"
    assert {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()} == before
    other = ready_commit(replace(_choice(repository), build="echo > other"), study, told.append)
    assert other(names[1][:12]) is None
    assert (folder / "other").is_file()
    assert not (folder / f"built-{names[1]}").exists()


def test_a_commit_that_does_not_build_is_told_with_its_log(repository: Path, tmp_path: Path) -> None:
    """The search goes on without it."""
    names = [name for name, _, _ in commits_of(repository, "v1..main")]
    why = ready_commit(_choice(repository), tmp_path, lambda _: None)(names[2][:12])
    assert why is not None
    assert why.startswith("it does not build (exit code 3)")
    assert Path(why.rpartition(" ")[2]).is_file()


def test_the_program_of_a_commit_is_below_its_build(tmp_path: Path) -> None:
    """A known program by its folder, one's own by its command, whose other placeholders stay."""
    known = CommitChoice(tmp_path, "a..b", "make", folder="objs", program="nginx")
    assert _program(known, "h3", Path("/b/1")) == {"name": "nginx", "prefix": "/b/1/objs"}
    own = CommitChoice(tmp_path, "a..b", "make", argv="{build}/out/server --port {port} --root {root}")
    assert _program(own, "h3", Path("/b/1")) == {
        "argv": ["/b/1/out/server", "--port", "{port}", "--root", "{root}"],
        "ready": "udp",
    }
