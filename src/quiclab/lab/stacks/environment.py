# SPDX-License-Identifier: Apache-2.0
"""Releases that are Python packages: each in an environment of its own, each file checked against its lock's hash."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from quiclab.lab.stacks.wheels import names_in, pip
from quiclab.model.errors import HostError

LOCK = "requirements.lock"
"""Name of the lock in a release's folder."""
_STAMP = ".made-from"


def is_current(folder: Path, source: Path) -> bool:
    """True if the environment was made from the lock in `source`."""
    try:
        return (folder / _STAMP).read_text() == _digest(source)
    except OSError:
        return False


def install(folder: Path, source: Path) -> int:
    """Make the environment anew from what the lock names, and nothing else; return the number of packages."""
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    command = (sys.executable, "-m", "venv", "--without-pip", str(part))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise HostError(f"python -m venv failed: {said}", "check the disk, then try again")
    only_these = ("--no-deps", "--only-binary", ":all:", "--require-hashes")
    pip("--python", str(part), "install", "--quiet", *only_these, "--requirement", str(source / LOCK))
    (part / _STAMP).write_text(_digest(source))
    # It may be moved: nothing but its Python is started, and that finds its packages from where it lies.
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    return len(names_in(source / LOCK))


def _digest(source: Path) -> str:
    return hashlib.sha256((source / LOCK).read_bytes()).hexdigest()
