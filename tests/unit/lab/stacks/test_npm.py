# SPDX-License-Identifier: Apache-2.0
"""Scripts from npm: one file of a package, and only of the package that the catalogue names."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from quiclab.lab.stacks import npm
from quiclab.lab.stacks.build import MissingToolError
from quiclab.lab.stacks.catalogue import ITEMS, Script
from quiclab.model.errors import HostError

CONTENT = b"globalThis.player = 1;\n"


def _package() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("package/dist/player.js")
        member.size = len(CONTENT)
        archive.addfile(member, io.BytesIO(CONTENT))
    return packed.getvalue()


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """An npm that hands over a package of ours, as the real one does."""
    package = _package()
    (tmp_path / "given.tgz").write_bytes(package)
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n[ "$1 $2" = "pack player@1.0" ] && cp {tmp_path}/given.tgz "$4/player-1.0.tgz"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    digest = base64.b64encode(hashlib.sha512(package).digest()).decode()
    return Script("player", "player", "1.0", f"sha512-{digest}", "dist/player.js")


def test_the_one_file(tmp_path: Path, script: Script) -> None:
    """The same again needs nothing; another version does."""
    assert not npm.is_current(tmp_path, script)
    assert npm.install(tmp_path, script) == len(CONTENT)
    assert (tmp_path / "players" / "player.js").read_bytes() == CONTENT
    assert npm.is_current(tmp_path, script)
    assert not npm.is_current(tmp_path, replace(script, integrity="sha512-x"))


def test_another_package_is_refused(tmp_path: Path, script: Script) -> None:
    """Nothing of it is kept."""
    with pytest.raises(HostError, match="is not what it was"):
        npm.install(tmp_path, replace(script, integrity="sha512-x"))
    assert not (tmp_path / "players").exists()


def test_what_npm_cannot(tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails, or is not there."""
    with pytest.raises(HostError, match="npm failed"):
        npm.install(tmp_path, replace(script, version="2.0"))
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MissingToolError, match="needs npm"):
        npm.install(tmp_path, script)


def test_the_catalogue_names_a_hash() -> None:
    """Every script is pinned."""
    for item in ITEMS:
        if isinstance(item, Script):
            assert len(base64.b64decode(item.integrity.removeprefix("sha512-"))) == 64
