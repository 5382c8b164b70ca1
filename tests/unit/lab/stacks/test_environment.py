# SPDX-License-Identifier: Apache-2.0
"""Environments of releases, made by the real venv and pip from a wheel that is made here."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest

from quiclab.lab.stacks.environment import LOCK, install, is_current
from quiclab.model.errors import HostError


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with the lock of a release, whose only package no index is asked for."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel = wheels / "one_line-1.2.3-py3-none-any.whl"
    about = "one_line-1.2.3.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("one_line.py", "__version__ = '1.2.3'\n")
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: one-line\nVersion: 1.2.3\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", f"one_line.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    folder = tmp_path / "source"
    folder.mkdir()
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / LOCK).write_text(f"one-line==1.2.3 --hash=sha256:{digest}\n")
    return folder


def test_an_environment_has_what_its_lock_names(tmp_path: Path, source: Path) -> None:
    """The Python in it imports the package, from wherever it was made; another lock makes it out of date."""
    folder = tmp_path / "one-line" / "1.2.3"
    assert not is_current(folder, source)
    assert install(folder, source) == 1
    assert is_current(folder, source)
    command = [folder / "bin" / "python3", "-I", "-c", "import one_line; print(one_line.__version__)"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1.2.3\n"
    (source / LOCK).write_text((source / LOCK).read_text() + "# another\n")
    assert not is_current(folder, source)


def test_a_package_with_another_hash_is_not_installed(tmp_path: Path, source: Path) -> None:
    """Nothing is left where the environment would be."""
    text = (source / LOCK).read_text()
    (source / LOCK).write_text(text.replace(text[-9:-1], "0" * 8))
    folder = tmp_path / "one-line" / "1.2.3"
    with pytest.raises(HostError, match="pip failed"):
        install(folder, source)
    assert not folder.exists()
