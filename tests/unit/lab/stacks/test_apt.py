# SPDX-License-Identifier: Apache-2.0
"""apt in a folder of its own, with mirrors on this machine's disk: what it refuses, and in which words."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from quiclab.lab.stacks.apt import Apt, require_apt
from quiclab.lab.stacks.sources import Source
from quiclab.model.errors import HostError

needs_apt = pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt-get, which this machine lacks")


def _apt(tmp_path: Path, mirror: Path) -> Apt:
    # apt reads a mirror as a user of its own.
    for folder in (mirror, *mirror.parents):
        if os.access(folder, os.W_OK) and folder.is_relative_to(tmp_path):
            folder.chmod(0o755)
    return Apt(tmp_path / "apt", (Source(f"file:{mirror}", "release"),))


@needs_apt
def test_a_mirror_without_the_release_is_told(tmp_path: Path) -> None:
    """The sentence names the release and the mirror."""
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    with pytest.raises(HostError, match="does not have what was asked for: release at file:") as raised:
        _apt(tmp_path, mirror).update()
    assert raised.value.hint


@needs_apt
def test_an_index_without_a_signature_is_refused(tmp_path: Path) -> None:
    """Nothing is unpacked that the archive's key does not vouch for."""
    release = tmp_path / "mirror" / "dists" / "release" / "InRelease"
    release.parent.mkdir(parents=True)
    release.write_text(
        "Origin: nobody\nSuite: release\nCodename: release\nComponents: main\nDate: Sat, 01 Jan 2028 00:00:00 UTC\n"
    )
    with pytest.raises(HostError, match="could not be verified"):
        _apt(tmp_path, tmp_path / "mirror").update()


@needs_apt
def test_a_package_that_no_index_names_is_told(tmp_path: Path) -> None:
    """apt's own words are kept."""
    with pytest.raises(HostError, match="Unable to locate package server"):
        Apt(tmp_path / "apt", (), on_top_of_machine=True).download(("server",))


def test_without_apt_the_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what to do elsewhere."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(HostError, match="apt-get") as raised:
        require_apt()
    assert "prefix" in raised.value.hint
