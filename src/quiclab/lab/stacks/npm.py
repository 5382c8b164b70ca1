# SPDX-License-Identifier: Apache-2.0
"""Scripts that pages load: one file of an npm package, checked against the hash that the catalogue names."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from quiclab.lab.stacks.build import MissingToolError
from quiclab.lab.stacks.catalogue import Script
from quiclab.model.errors import HostError

_PATIENCE_S = 600


def is_current(stacks: Path, script: Script) -> bool:
    """True if the file is there and comes from the package in the catalogue."""
    try:
        return _stamp(stacks, script).read_text() == script.integrity and (stacks / script.path).is_file()
    except OSError:
        return False


def install(stacks: Path, script: Script) -> int:
    """Fetch the package and take the one file out of it; return its length. Nothing of the package is ever run."""
    npm = shutil.which("npm")
    if npm is None:
        raise MissingToolError("needs npm", "Debian: apt-get install -y npm")
    with tempfile.TemporaryDirectory(dir=stacks) as scratch:
        content = _file_of(_fetch(npm, script, Path(scratch)), script)
    target = stacks / script.path
    target.parent.mkdir(mode=0o755, exist_ok=True)
    fresh = target.with_name(f".{target.name}.new")
    fresh.write_bytes(content)
    fresh.replace(target)
    _stamp(stacks, script).write_text(script.integrity)
    return len(content)


def _fetch(npm: str, script: Script, folder: Path) -> bytes:
    command = (npm, "pack", f"{script.package}@{script.version}", "--pack-destination", str(folder), "--ignore-scripts")
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise HostError("npm does not end", "check the network, then try again") from None
    packages = list(folder.glob("*.tgz"))
    if done.returncode != 0 or len(packages) != 1:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or ["npm error no word"]
        raise HostError(f"npm failed: {errors[0].removeprefix('npm error ')}", "check the network, then try again")
    content = packages[0].read_bytes()
    got = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
    if got != script.integrity:
        raise HostError(f"{script.package} {script.version} is not what it was: its hash is {got}", "do not use it")
    return content


def _file_of(package: bytes, script: Script) -> bytes:
    with tempfile.TemporaryFile() as copy:
        copy.write(package)
        copy.seek(0)
        with tarfile.open(fileobj=copy) as archive:
            member = archive.extractfile(f"package/{script.file}")
            if member is None:
                raise HostError(f"{script.package} {script.version} has no file {script.file}")
            return member.read()


def _stamp(stacks: Path, script: Script) -> Path:
    return (stacks / script.path).with_suffix(".made-from")
