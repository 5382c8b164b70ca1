# SPDX-License-Identifier: Apache-2.0
"""Build one wheel with everything of ours that quiclab needs, and beside it the lock of what it needs of others.

usage: wheel.py [FOLDER]      where they go (default: dist)

In the wheel are the Python package with its native module, both programs of the link (for `bin/` of the environment),
the studies of `experiments`, the documentation, the sources of the programs that `quiclab doctor --install` compiles,
and the licences. Its platform tag names the oldest glibc that the native module and both programs run with.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from cargo_licences import licences

from quiclab.lab.stacks.build import source_folders
from quiclab.lab.stacks.catalogue import ITEMS, RELEASE_ITEMS, Build, Environment
from quiclab.lab.stacks.release_dates import DATES
from quiclab.project import RELEASES

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "quiclab._core.data"
"""Folder, named as maturin looks for it, that becomes the wheel's data: pip puts each part where its kind belongs."""
PROGRAMS = ("quiclab-link", "quiclab-tcp-info")
SOURCES = {folder.relative_to(ROOT).as_posix(): None for item in (*ITEMS, *RELEASE_ITEMS)
           if isinstance(item, Build | Environment)
           for folder in source_folders(ROOT / item.source, ROOT / item.base if item.base else None)}  # fmt: skip
"""Folders of what the programs are compiled from, each once."""
FOLDERS = ("experiments", "docs", *SOURCES)
FILES = (
    *("README.md", "GLOSSARY.md", "SECURITY.md", "requirements.lock", "requirements-stacks.lock"),
    *sorted(file.relative_to(ROOT).as_posix() for file in ROOT.glob(f"programs/{RELEASES}/*/{DATES}")),
)
LEFT_OUT = shutil.ignore_patterns("target", "__pycache__", "node_modules", ".ipynb_checkpoints")
CARGO = ("cargo", "build", "--quiet", "--release", "--locked", "--package", "link-run")
MATURIN = ("maturin", "build", "--quiet", "--release", "--locked")


def main() -> int:
    """Build, and print what was built."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").absolute()
    subprocess.run(CARGO, cwd=ROOT, check=True)
    try:
        stage()
        wheel = build(out)
    finally:
        shutil.rmtree(DATA, ignore_errors=True)
    lock = out / f"{wheel.name.partition('-cp')[0]}.lock"
    lock.write_text("".join(lock_lines(wheel)))
    print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")
    print(lock)
    return 0


def stage() -> None:
    """Lay out what comes with the package: programs as scripts, everything else in the package's folder."""
    shutil.rmtree(DATA, ignore_errors=True)
    scripts, supplies = DATA / "scripts", DATA / "platlib" / "quiclab" / "supplies"
    scripts.mkdir(parents=True)
    for name in PROGRAMS:
        shutil.copy(release_folder() / name, scripts / name)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, supplies / folder, ignore=LEFT_OUT)
    for file in FILES:
        shutil.copy(ROOT / file, supplies / file)
    (supplies / "third-party-licences.txt").write_text(licences(ROOT, ("link-run", "py-core")), encoding="utf-8")


def build(out: Path) -> Path:
    """Pack it all; once more where a program needs a newer glibc than the native module, whose tag maturin chooses."""
    needed = max(glibc(release_folder() / name) for name in PROGRAMS)
    wheel = _packed(out)
    tagged = re.search(r"manylinux_2_(\d+)", wheel.name)
    if tagged is None or int(tagged[1]) >= needed:
        return wheel
    wheel.unlink()
    return _packed(out, "--compatibility", f"manylinux_2_{needed}")


def _packed(out: Path, *options: str) -> Path:
    maturin = Path(sys.executable).with_name(MATURIN[0])
    fresh = out / ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    subprocess.run([str(maturin), *MATURIN[1:], *options, "--out", str(fresh)], cwd=ROOT, check=True)
    (built,) = fresh.glob("*.whl")
    wheel = built.replace(out / built.name)
    shutil.rmtree(fresh)
    return wheel


def glibc(program: Path) -> int:
    """Second number of the oldest glibc that a program runs with: the newest version of a symbol that it asks for."""
    told = subprocess.run(
        ["readelf", "--version-info", "--wide", str(program)], check=True, capture_output=True, text=True
    ).stdout
    return max(int(minor) for minor in re.findall(r"\bGLIBC_2\.(\d+)", told))


def lock_lines(wheel: Path) -> Iterator[str]:
    """A requirements file for this wheel with exactly the packages that it was tested with, each file by its hash."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    tools = {re.match(r"[\w-]+", each)[0] for each in project["optional-dependencies"]["build"]}  # type: ignore[index]
    yield "# What quiclab was tested with, each file by its hash: pip install -r THIS_FILE\n"
    yield "--find-links .\n"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    yield f"quiclab=={project['version']} --hash=sha256:{digest}\n"
    for package in re.findall(r"(?m)^[A-Za-z0-9].*\n(?:[ ]+\S.*\n)*", (ROOT / "requirements.lock").read_text()):
        if package.partition("==")[0] not in tools:
            yield package


def release_folder() -> Path:
    """Folder of what cargo built."""
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release"


if __name__ == "__main__":
    sys.exit(main())
