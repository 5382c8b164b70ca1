# SPDX-License-Identifier: Apache-2.0
"""A tree: packages unpacked into a folder, never installed: no script runs, no account or service is made."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from quiclab.lab.endpoints._stacks import STAMP
from quiclab.lab.stacks.apt import MORE_SPACE
from quiclab.lab.stacks.catalogue import Tree
from quiclab.model.errors import HostError

_LEFT_OUT = ("./usr/share/man", "./usr/share/locale", "./usr/share/info", "./usr/share/lintian", "./usr/share/bug")


def is_whole(folder: Path, tree: Tree) -> bool:
    """True if the folder holds this tree as the catalogue describes it now."""
    try:
        return bool(json.loads((folder / STAMP).read_text())["tree"] == json.loads(json.dumps(asdict(tree))))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def unpack(packages: Iterable[Path], folder: Path) -> None:
    """Unpack files so that anybody may read them: without owner and set-user-id bits."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755, parents=True)
    folder.chmod(0o755)
    excluded = [f"--exclude={path}" for path in _LEFT_OUT]
    for package in packages:
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as files:
            done = subprocess.run(
                ["tar", "--extract", "--no-same-owner", "--no-same-permissions", "--keep-directory-symlink", *excluded],
                stdin=files.stdout,
                cwd=folder,
                capture_output=True,
                text=True,
                umask=0o022,
                check=False,
            )
        if done.returncode != 0 or files.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            said = (done.stderr.strip().splitlines() or ["dpkg-deb failed"])[0]
            if "No space left" in done.stderr:
                raise HostError(f"the disk is full: {folder.parent} cannot take the programs", MORE_SPACE)
            raise HostError(f"{package.name} could not be unpacked: {said}")


def finish(part: Path, folder: Path, tree: Tree, packages: Iterable[Path]) -> None:
    """Make the unpacked folder the tree, in one step; an older tree is removed."""
    stamp = {"tree": asdict(tree), "packages": sorted(package.name.removesuffix(".deb") for package in packages)}
    (part / STAMP).write_text(json.dumps(stamp, indent=1))
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    part.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def size_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
