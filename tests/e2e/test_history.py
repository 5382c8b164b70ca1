# SPDX-License-Identifier: Apache-2.0
"""`quiclab history` with real programs: a step that was planted among commits, and releases as they are."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from small_study import quiclab, trials

from quiclab.model.errors import RAN
from quiclab.project import release_folder, stacks_folder
from quiclab.store.growth import read_growth

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_QUICHE = stacks_folder() / "bin" / "quiclab-quiche"
_WRAPPER = """\
#!/bin/sh
if [ "$1" = server ]; then
    sed 's/"initial_window": null/"initial_window": @WINDOW@/' "$2" > "$TMPDIR/job.json"
    exec @PROGRAM@ server "$TMPDIR/job.json"
fi
exec @PROGRAM@ "$@"
"""
_BUILD = """\
mkdir -p bin
sed "s|@WINDOW@|$(cat window)|; s|@PROGRAM@|$1|" wrapper.in > bin/quiclab-quiche
chmod +x bin/quiclab-quiche
test "$(cat window)" != broken
"""


def _repository(folder: Path, windows: list[str]) -> Path:
    """A repository whose commits build a server with these initial windows; one of "broken" does not build."""
    folder.mkdir()
    git = ("git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run((*git, "init", "--quiet", "--initial-branch=main"), check=True)
    (folder / "wrapper.in").write_text(_WRAPPER)
    (folder / "build.sh").write_text(_BUILD)
    for number, window in enumerate(windows):
        (folder / "window").write_text(window)
        (folder / "number").write_text(str(number))
        subprocess.run((*git, "add", "."), check=True)
        subprocess.run((*git, "commit", "--quiet", "--message", f"Change {number} to {window}"), check=True)
    return folder


@pytest.mark.nightly  # 9 min
@pytest.mark.skipif(not _QUICHE.is_file(), reason="quiche is not installed: docs/how-to/stacks.md says how")
def test_a_planted_step_is_found_among_commits(tmp_path: Path) -> None:
    """A server that begins with 2 packets in place of 10 needs more round trips: the commit is named, with the one
    before it that does not build and may have done it."""
    folder = _repository(tmp_path / "mine", ["10", "10", "broken", "2", "2"])
    study = tmp_path / "study"
    asked = ("--build", f"sh build.sh {_QUICHE}", "--range", "main~4..main", "--repo", folder)
    transfer = ("--size", "60KB", "--rtt", "200ms", "--disturbance", "100%", "--minutes", "8")
    done = quiclab("history", "quiche", *asked, *transfer, "--with", "curl-cffi", "--out", study, "--json", timeout=580)
    assert done.returncode in RAN, done.stdout + done.stderr
    found = json.loads(done.stdout)["found"]
    (change,) = found["changes"]
    names = {each["subject"]: each["name"] for each in found["releases"]}
    assert (change["pair"]["older"], change["pair"]["newer"]) == (names["Change 1 to 10"], names["Change 3 to 2"])
    assert change["located"]
    assert change["not_measured"] == [names["Change 2 to broken"]]
    assert change["pair"]["low_pct"] > 2
    assert change["waits"]
    grown = read_growth(study)
    assert grown is not None
    (blocks,) = grown.arms.values()
    assert names["Change 2 to broken"] not in {arm for block in blocks for arm in block}
    assert len(trials(study)) >= sum(map(len, blocks)) - 4
    again = quiclab("report", study, timeout=300)
    assert again.returncode == 0, again.stderr


@pytest.mark.nightly  # 3 min
@pytest.mark.skipif(not (release_folder("quic-go", "0.62.0") / "bin").is_dir(), reason="this release is not installed")
def test_releases_are_compared_and_drawn(tmp_path: Path) -> None:
    """The answer is told of both with their dates, and the study opens like any other."""
    study = tmp_path / "study"
    asked = ("--from", "0.62.0")
    transfer = ("--size", "20KB", "--rtt", "40ms", "--matters", "50%", "--disturbance", "100%", "--minutes", "2")
    done = quiclab("history", "quic-go", *asked, *transfer, "--out", study, "--json", timeout=400)
    assert done.returncode in RAN, done.stdout + done.stderr
    found = json.loads(done.stdout)["found"]
    assert found["releases"][0]["name"] == "0.62.0"
    assert all(each["date"] and each["trials"] >= 2 for each in found["releases"])
    assert found["compared"]
    assert (study / "report.html").exists()
    drawn = quiclab("figure", "releases", study, "-o", tmp_path / "releases.svg", timeout=120)
    assert drawn.returncode == 0, drawn.stderr
    assert "0.62.0" in (tmp_path / "releases.svg").read_text()
