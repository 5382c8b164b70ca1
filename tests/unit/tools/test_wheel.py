# SPDX-License-Identifier: Apache-2.0
"""What is in the wheel; tests/nightly/test_wheel.py installs it and runs a study with it."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from wheels import ROOT, build_wheel

from quiclab import __version__

pytestmark = pytest.mark.alone  # while it is built, a folder of copies lies in the project, where others look


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once: `make setup` has compiled what is in it."""
    return build_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def content(wheel: Path) -> dict[str, zipfile.ZipInfo]:
    """Files of the wheel, by the place that pip gives them below the environment's folders."""
    with zipfile.ZipFile(wheel) as archive:
        prefix = rf"^quiclab-{wheel.name.split('-')[1]}\.data/"
        return {re.sub(prefix + "platlib/", "", re.sub(prefix + "scripts/", "bin/", info.filename)): info
                for info in archive.infolist()}  # fmt: skip


def test_programs_and_native_module_are_in_it(content: dict[str, zipfile.ZipInfo]) -> None:
    """The programs as what the system may execute."""
    for program in ("bin/quiclab-link", "bin/quiclab-tcp-info"):
        assert content[program].external_attr >> 16 & 0o111 == 0o111
    assert "quiclab/_core.abi3.so" in content


def test_all_that_git_knows_of_the_package_and_its_supplies_is_in_it(
    content: dict[str, zipfile.ZipInfo],
) -> None:
    """And nothing else: studies, documentation, sources of programs, Python."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = set(listed.splitlines())
    crates = tuple(f"crates/stack-{name}/" for name in ("common", "quiche", "quinn"))
    folders = ("experiments/", "docs/", *crates, "programs/quic-go/", "programs/releases/")
    wanted = {f"quiclab/supplies/{file}" for file in files if file.startswith(folders)}
    wanted |= {file.removeprefix("src/") for file in files if file.startswith("src/quiclab/")}
    assert "quiclab/supplies/experiments/demo/spec.toml" in wanted
    assert wanted <= content.keys()
    ours = {name for name in content if name.startswith("quiclab/")} - wanted
    named = ("README.md", "GLOSSARY.md", "SECURITY.md", "requirements.lock", "requirements-stacks.lock")
    assert ours == {
        "quiclab/_core.abi3.so",
        *(f"quiclab/supplies/{name}" for name in (*named, "third-party-licences.txt")),
    }


def test_licences_are_in_it(wheel: Path, content: dict[str, zipfile.ZipInfo]) -> None:
    """Ours where pip keeps them; those of each Rust package that is linked in, with their texts."""
    (own,) = (name for name in content if name.endswith(".dist-info/licenses/LICENSE"))
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(own) == (ROOT / "LICENSE").read_bytes()
        others = archive.read(content["quiclab/supplies/third-party-licences.txt"]).decode()
    lock = (ROOT / "Cargo.lock").read_text()
    for package in ("ring", "pyo3", "serde", "rand_chacha", "libc"):
        (version,) = re.findall(rf'\[\[package\]\]\nname = "{package}"\nversion = "(.+)"', lock)
        assert re.search(rf"^{package} {re.escape(version)}: .*(MIT|ISC)", others, re.MULTILINE)
    assert "link-core" not in others
    assert "Permission is hereby granted" in others


def test_the_tag_names_a_glibc_that_every_program_runs_with(wheel: Path) -> None:
    """The newest symbol that the native module or a program asks for is as old as the tag says, or older."""
    tagged = re.search(r"-cp311-abi3-manylinux_2_(\d+)_\w+\.whl$", wheel.name)
    assert tagged is not None
    asked = set()
    release = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release"
    for file in (release / "quiclab-link", release / "quiclab-tcp-info", release / "lib_core.so"):
        symbols = subprocess.run(["objdump", "-T", str(file)], check=True, capture_output=True, text=True).stdout
        asked |= {int(minor) for minor in re.findall(r"\(?GLIBC_2\.(\d+)", symbols)}
    assert max(asked) <= int(tagged[1])


def test_the_lock_beside_it_names_the_wheel_and_the_tested_packages(wheel: Path) -> None:
    """Each by its hash; what only builds is left out."""
    lock = (wheel.parent / f"quiclab-{wheel.name.split('-')[1]}.lock").read_text()
    assert f"quiclab=={__version__} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}" in lock
    pinned = re.compile(r"(?m)^([\w-]+==[^\s\\]+) \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+")
    ours = pinned.findall((ROOT / "requirements.lock").read_text())
    assert [each for each in ours if not each.startswith("maturin==")] == pinned.findall(lock)
    assert len(pinned.findall(lock)) > 20


def test_nothing_is_left_in_the_project(wheel: Path) -> None:
    """The copies are gone."""
    assert not list(ROOT.glob("*.data"))
