# SPDX-License-Identifier: Apache-2.0
"""Places of what comes with quiclab beside its Python: its programs, its studies, the sources of programs it compiles.

Developers run quiclab from the project's folder. A wheel brings the same files in a folder of the package.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from quiclab.model.errors import HostError

PACKAGE = Path(__file__).resolve().parent
"""Folder of the Python package."""

PROJECT: Path | None = next(
    (root for root in (PACKAGE.parents[1],) if (root / "pyproject.toml").is_file() and (root / "crates").is_dir()), None
)
"""The project's folder, when quiclab runs from its sources; None where it was installed from a wheel."""

SUPPLIES = PROJECT or PACKAGE / "supplies"
"""Folder with `experiments`, `docs`, `crates/stack-*`, `programs` and the lock files, named as in the project."""

SET_UP = "make setup" if PROJECT else "install quiclab's wheel again (pip install --force-reinstall)"
"""Remedy where something is missing that every quiclab comes with."""

MORE_PROGRAMS = "make stacks" if PROJECT else "quiclab doctor --install"
"""Command that installs real clients, servers and proxies."""

INSTALL = "tools/stacks.sh" if PROJECT else "quiclab doctor --install"
"""Command that installs the program whose name is appended."""

RELEASES = "releases"
"""Folder of releases: of their locks below `programs` of the supplies, and of what was built below the stacks folder;
the rest of the path is the program's name and its version."""


def own_program(name: str) -> str:
    """Path of a program of quiclab's own, which is installed beside this Python. Raises HostError."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise HostError(f"{name}, a part of quiclab, is not installed", SET_UP)
    return found


def stacks_folder() -> Path:
    """Folder of the programs that `quiclab doctor --install` installs: $QUICLAB_STACKS, or else `.stacks` in the
    project's folder, or else `quiclab/stacks` where the user's data are ($XDG_DATA_HOME, ~/.local/share)."""
    if chosen := os.environ.get("QUICLAB_STACKS"):
        return Path(chosen).absolute()
    if PROJECT:
        return PROJECT / ".stacks"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share", "quiclab", "stacks")


def releases_of(program: str) -> list[str]:
    """Versions of a program, by its name in a spec, that can be installed beside the current one."""
    locks = SUPPLIES / "programs" / RELEASES / program
    return sorted(each.name for each in locks.glob("*") if each.name[:1].isdigit())


def release_folder(program: str, version: str) -> Path:
    """Folder for a release of a program, installed or not."""
    return stacks_folder() / RELEASES / program / version


def release_name(folder: str | None) -> str | None:
    """Name by which the release in a folder is installed, such as `caddy@2.5.2`; None for another folder."""
    if folder is None or not Path(folder).is_relative_to(stacks_folder() / RELEASES):
        return None
    return "@".join(Path(folder).relative_to(stacks_folder() / RELEASES).parts)


def studies() -> dict[str, Path]:
    """Specs of the studies that come with quiclab, by their names.

    `spec.toml` of the folder `kak-size` is `kak-size`, and `small.toml` beside it `kak-size-small`: the name that the
    spec itself gives.
    """
    folders = sorted((SUPPLIES / "experiments").glob("*/spec.toml"))
    return {
        spec.parent.name + ("" if spec.stem == "spec" else f"-{spec.stem}"): spec
        for whole in folders
        for spec in (whole, *sorted(whole.parent.glob("*.toml")))
        if spec.name not in ("paper.toml", "may-fail.toml")
    }
