# SPDX-License-Identifier: Apache-2.0
"""The command line of a history: what it plans without running, and what it refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from quiclab.cli.main import main
from quiclab.model.errors import SpecError


def _here() -> bool:
    """True if the program whose history is planned is on this machine, and so is a client."""
    from quiclab.study.contenders import builds_here

    return bool(builds_here("server", "quic-go") and builds_here("client", "curl-cffi"))


needs_quic_go = pytest.mark.skipif(not _here(), reason="quic-go is not installed: docs/how-to/stacks.md says how")


@needs_quic_go
def test_a_dry_run_says_what_is_compared_and_what_can_be_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Releases with their dates; nothing is written."""
    monkeypatch.chdir(tmp_path)
    words = ["history", "quic-go", "--from", "0.46", "--to", "0.54", "--loss", "1%", "--dry-run"]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "An object of 1 MB over 50 Mbit/s, RTT 40 ms, 1 % loss: which releases of quic-go changed the time?" in told
    assert "0.48.2       2024-11-26" in told
    assert "5 pairs of releases can be compared at most" in told
    assert "two differ after 9 pairs of trials at the earliest" in told
    assert list(tmp_path.iterdir()) == []


@needs_quic_go
def test_a_dry_run_of_commits_builds_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each stands with its date and the first line of its message."""
    folder = tmp_path / "mine"
    folder.mkdir()
    git = ("git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run((*git, "init", "--quiet", "--initial-branch=main"), check=True)
    for number in range(3):
        words = ("commit", "--quiet", "--allow-empty", "--message", f"Change {number}")
        subprocess.run((*git, *words), check=True)
    asked = ["--build", "exit 1", "--range", "main~2..main", "--repo", str(folder), "--run", "{build}/server {port}"]
    assert main(["history", *asked, "--out", str(tmp_path / "study"), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "which commits of mine changed the time?" in told
    assert "Change 0" in told
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "name a program"),
        (["quicgo"], "no releases of 'quicgo'"),
        (["quic-go", "--build", "make"], "needs --range"),
        (["quic-go", "--range", "a..b"], "needs --build"),
        (["quic-go", "--build", "make", "--range", "a..b", "--from", "0.40"], "--from and --to name releases"),
        (["quic-go", "--dry-run", "--json"], "--dry-run runs nothing"),
        (["--build", "make", "--range", "a..b"], "the name of a program that quiclab knows, or --run"),
        (["--build", "make", "--range", "a..b", "--run", "server"], "--run does not name the build"),
        (["quic-go", "--size", "5x"], "the question cannot be asked like this"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is that of a wrong command line."""
    assert main(["history", *words]) == SpecError.exit_code
    assert told in capsys.readouterr().err
