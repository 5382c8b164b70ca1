# SPDX-License-Identifier: Apache-2.0
"""Programs that come as Python packages: into this Python's environment, each file checked against the lock's hash."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from quiclab.lab.stacks.build import MissingToolError
from quiclab.model.errors import HostError
from quiclab.project import PROJECT

_LOCK = "requirements-stacks.lock"


def are_current(project: Path) -> bool:
    """True if the environment has what the lock names."""
    if not (project / _LOCK).is_file():
        raise MissingToolError(f"{project / _LOCK} is missing", "it is part of the project's sources")
    stamp = _stamp()
    return stamp.is_file() and stamp.read_text() == _digest(project)


def install(project: Path) -> int:
    """Install what the lock names; return the number of packages."""
    if sys.prefix == sys.base_prefix:
        hint = "make setup" if PROJECT else "install quiclab into an environment of its own: python3 -m venv"
        raise MissingToolError("Python packages go into an environment only, and this Python is the machine's", hint)
    pip("install", "--quiet", "--require-hashes", "--requirement", str(project / _LOCK))
    _stamp().write_text(_digest(project))
    return len(names_in(project / _LOCK))


def uninstall(project: Path) -> int:
    """Remove packages that only this lock names; return their number."""
    if not _stamp().is_file():
        return 0
    kept = names_in(project / "requirements.lock") | names_in(project / "requirements-dev.lock")
    ours = sorted(names_in(project / _LOCK) - kept)
    pip("uninstall", "--quiet", "--yes", *ours)
    _stamp().unlink()
    return len(ours)


def names_in(lock: Path) -> set[str]:
    """Names of the packages in a lock; none where there is no lock."""
    return set(re.findall(r"^([A-Za-z0-9_.-]+)==", lock.read_text(), re.MULTILINE)) if lock.is_file() else set()


def pip(*arguments: str) -> None:
    """Run pip without questions. Raises HostError with its last error."""
    command = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        said = (errors or done.stderr.strip().splitlines() or ["no word"])[-1]
        raise HostError(f"pip failed: {said}", "check the network and the disk, then try again")


def _stamp() -> Path:
    return Path(sys.prefix) / ".stamp-stacks"


def _digest(project: Path) -> str:
    return hashlib.sha256((project / _LOCK).read_bytes()).hexdigest()
