# SPDX-License-Identifier: Apache-2.0
"""A full disk, a read-only directory, a damaged ledger: a sentence, the documented exit code, finished trials kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import main_only, quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def _in_mount(commands: str) -> list[str]:
    """Run what follows in a mount namespace of its own, after these commands."""
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f'{commands}; exec "$@"', "sh"]


def test_full_disk(tmp_path: Path) -> None:
    """The trial that did not fit is not half there, and the message says that the others are kept."""
    spec = write_spec(tmp_path, blocks=3, size="200 KB")
    study = tmp_path / "small-disk"
    study.mkdir()
    kept = tmp_path / "kept"
    keep = f"mount -t tmpfs -o size=1600k none {study}; trap 'cp -r {study} {kept}' EXIT"
    before = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f'{keep}; "$@"; code=$?; exit $code', "sh"]
    done = quiclab("run", spec, "--out", study, before=before)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "No space left" in done.stderr
    assert "finished trials are kept" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    found = trials(kept)
    assert found
    assert {trial["status"] for trial in found} == {"verified"}


def test_read_only_directory(tmp_path: Path) -> None:
    """Told before anything runs."""
    spec = write_spec(tmp_path)
    place = tmp_path / "read-only"
    place.mkdir()
    done = quiclab("run", spec, "--out", place / "study", before=_in_mount(f"mount -t tmpfs -o ro none {place}"))
    assert done.returncode == 3
    assert "read-only" in done.stderr.lower()
    assert "--out" in done.stderr


def test_damaged_ledger(tmp_path: Path) -> None:
    """The file is named, and what to do with it."""
    study, spec = tmp_path / "study", main_only(write_spec(tmp_path))
    assert quiclab("run", spec, "--out", study, "--no-report").returncode == 0
    (study / "ledger.sqlite").write_bytes(b"this is no database" * 100)
    done = quiclab("run", spec, "--out", study)
    assert done.returncode == 4
    assert "ledger.sqlite" in done.stderr


def test_missing_spec(tmp_path: Path) -> None:
    """A file that is not there is the user's to mend."""
    done = quiclab("run", tmp_path / "nowhere.toml")
    assert done.returncode == 2
    assert "nowhere.toml" in done.stderr
