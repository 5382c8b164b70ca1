# SPDX-License-Identifier: Apache-2.0
"""Unpacking, with real packages that the tests make."""

from __future__ import annotations

import dataclasses
import json
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from quiclab.lab.endpoints._stacks import STAMP
from quiclab.lab.stacks.catalogue import Tree
from quiclab.lab.stacks.tree import finish, is_whole, unpack
from quiclab.model.errors import HostError

pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb, which this machine lacks")

TREE = Tree("release", ("release",), ("server",), ())


def _package(folder: Path) -> Path:
    root = folder / "root"
    (root / "DEBIAN").mkdir(parents=True)
    control = (
        "Package: server\nVersion: 1.2-3\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: x\n"
    )
    (root / "DEBIAN" / "control").write_text(control)
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "server").write_text("#!/bin/sh\necho 1.2\n")
    (root / "usr" / "bin" / "server").chmod(0o4755)
    (root / "usr" / "share" / "man").mkdir(parents=True)
    (root / "usr" / "share" / "man" / "server.8").write_text("…")
    package = folder / "server_1.2-3_all.deb"
    command = ["dpkg-deb", "--root-owner-group", "--build", root, package]
    subprocess.run(command, check=True, capture_output=True)
    return package


def test_files_may_be_run_by_anybody_and_give_nobody_more_rights(tmp_path: Path) -> None:
    """A set-user-id program of a package must not appear on the machine; manuals stay away."""
    tree = tmp_path / "tree"
    unpack([_package(tmp_path)], tree)
    mode = (tree / "usr" / "bin" / "server").stat().st_mode
    assert stat.S_IMODE(mode) == 0o755
    assert stat.S_IMODE(tree.stat().st_mode) == 0o755
    assert not (tree / "usr" / "share" / "man").exists()


def test_a_damaged_package_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    """The error names the package."""
    package = _package(tmp_path)
    package.write_bytes(package.read_bytes()[:-200])
    with pytest.raises(HostError, match=r"server_1\.2-3_all\.deb could not be unpacked"):
        unpack([package], tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_a_tree_is_whole_only_when_it_was_finished(tmp_path: Path) -> None:
    """An interruption before the last step leaves nothing that counts; the stamp says what was unpacked."""
    package = _package(tmp_path)
    part, tree = tmp_path / ".release.part", tmp_path / "release"
    unpack([package], part)
    assert not is_whole(part, TREE)
    finish(part, tree, TREE, [package])
    assert is_whole(tree, TREE)
    assert not part.exists()
    assert json.loads((tree / STAMP).read_text())["packages"] == ["server_1.2-3_all"]


def test_a_tree_that_the_catalogue_describes_otherwise_now_is_made_anew(tmp_path: Path) -> None:
    """The older one is replaced as a whole."""
    package = _package(tmp_path)
    part, tree = tmp_path / ".release.part", tmp_path / "release"
    unpack([package], part)
    finish(part, tree, TREE, [package])
    (tree / "left-over").touch()
    changed = dataclasses.replace(TREE, packages=("server", "client"))
    assert not is_whole(tree, changed)
    unpack([package], part)
    finish(part, tree, changed, [package])
    assert is_whole(tree, changed)
    assert not (tree / "left-over").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"tree": null}'])
def test_a_stamp_that_cannot_be_read_is_no_stamp(tmp_path: Path, content: str) -> None:
    """Whatever a crash leaves in it."""
    (tmp_path / STAMP).write_text(content)
    assert not is_whole(tmp_path, TREE)
