# SPDX-License-Identifier: Apache-2.0
"""Where quiclab finds what comes with it: in the project, or in the package that a wheel installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from quiclab.model.errors import HostError
from quiclab.project import PROJECT, SUPPLIES, own_program, stacks_folder, studies

ROOT = Path(__file__).resolve().parents[2]


def test_the_project_is_found_from_its_sources() -> None:
    """Developers run what they see."""
    assert PROJECT == SUPPLIES == ROOT


def test_every_study_is_known_by_the_name_that_its_spec_gives() -> None:
    """So that the folder `studies/NAME` of the results is called as the study that was asked for."""
    specs = {file for file in ROOT.glob("experiments/*/*.toml") if "study" in tomllib.loads(file.read_text())}
    assert set(studies().values()) == specs
    assert {name: tomllib.loads(spec.read_text())["study"]["name"] for name, spec in studies().items()} == {
        name: name for name in studies()
    }


def test_installed_programs_lie_in_the_project_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder beside the sources: nothing of the machine is touched."""
    monkeypatch.delenv("QUICLAB_STACKS", raising=False)
    assert stacks_folder() == ROOT / ".stacks"
    monkeypatch.setenv("QUICLAB_STACKS", "/elsewhere")
    assert stacks_folder() == Path("/elsewhere")


def test_a_missing_program_is_named_with_its_remedy() -> None:
    """An installation that lost a part."""
    with pytest.raises(HostError, match="quiclab-nothing, a part of quiclab, is not installed") as told:
        own_program("quiclab-nothing")
    assert told.value.hint == "make setup"


def test_a_package_without_a_project_finds_its_own_supplies(tmp_path: Path) -> None:
    """The folder of the package alone, as a wheel lays it: studies from inside it, programs where the user's data are,
    and remedies that do not speak of make."""
    package = tmp_path / "site" / "quiclab"
    (package / "model").mkdir(parents=True)
    for name in ("__init__.py", "project.py", "model/__init__.py", "model/errors.py"):
        shutil.copy(ROOT / "src" / "quiclab" / name, package / name)
    shutil.copytree(ROOT / "experiments" / "demo", package / "supplies" / "experiments" / "demo")
    asked = (
        "from quiclab import project as p; print(p.PROJECT, p.SUPPLIES, *p.studies(), p.stacks_folder(), sep='\\n');"
        "print(p.SET_UP, p.MORE_PROGRAMS)"
    )
    environment = {key: value for key, value in os.environ.items() if key != "QUICLAB_STACKS"}
    told = subprocess.run(
        [sys.executable, "-S", "-c", asked], cwd=package.parent, check=True, capture_output=True, text=True,
        env=environment | {"XDG_DATA_HOME": "/data", "PYTHONPATH": str(package.parent)},
    ).stdout  # fmt: skip
    assert told.splitlines()[:4] == ["None", str(package / "supplies"), "demo", "/data/quiclab/stacks"]
    assert "make" not in told.splitlines()[4]
