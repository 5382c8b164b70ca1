# SPDX-License-Identifier: Apache-2.0
"""Finding a program, and starting it from there.

A prefix is a folder with programs in it or in one of the usual folders below it. One that brings the C library's own
loader (a Debian release unpacked beside the machine's) is run with that loader and those libraries, and so needs
nothing of the machine but the kernel. Nothing here starts a process.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quiclab.project import stacks_folder

STAMP = ".quiclab.json"
"""File in every installed tree that says what it was made from. It is the last one to be written."""

# Before `usr/bin`, where browsers leave a script that knows only their usual place.
_PROGRAM_FOLDERS = ("", "bin", "sbin", "usr/lib/{name}", "usr/bin", "usr/sbin")
LIBRARY_FOLDERS = ("usr/lib/*-linux-gnu*", "lib/*-linux-gnu*", "usr/lib", "usr/lib64", "lib", "lib64")


@dataclass(frozen=True)
class Launch:
    """Start of a program: its command and environment."""

    argv: tuple[str, ...]
    """Beginning of the command, to which the program's own arguments are appended; every path in it is absolute."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that the program needs in its environment, which is otherwise empty."""
    path: str = ""
    """File of the program itself."""


def find_program(name: str, prefix: str | None = None) -> Launch | None:
    """Find a program: below `prefix` and nowhere else, if one is given; otherwise the installed one, or else the
    machine's."""
    if prefix is not None:
        return find_below(Path(prefix).absolute(), name)
    stacks = stacks_folder().resolve()
    if _is_program(link := stacks / "bin" / name):
        path = link.resolve()
        below = path.relative_to(stacks).parts[0] if path.is_relative_to(stacks) else "bin"
        return Launch((str(path),), path=str(path)) if below == "bin" else launch(stacks / below, path, name)
    # Programs from wheels lie beside Python.
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if _is_program(beside) else shutil.which(name)
    return None if found is None else Launch((str(Path(found).absolute()),), path=found)


def why_absent(name: str, found: Launch | None) -> str:
    """Say why a program cannot be asked anything: it is not here, or it is and does not run."""
    return f"{name} is not installed" if found is None else f"{found.path or name} is here and does not run"


def find_python(prefix: str | None) -> Launch | None:
    """Find the Python that runs our small programs around Python packages: this one, or that of an environment."""
    return Launch((sys.executable,), path=sys.executable) if prefix is None else find_program("python3", prefix)


def python_argv(prefix: str | None) -> tuple[str, ...]:
    """Beginning of the command that starts that Python."""
    python = find_python(prefix)
    return python.argv if python else ("python3",)


def find_below(prefix: Path, name: str) -> Launch | None:
    """Find a program in one of the usual folders below a prefix."""
    for folder in _PROGRAM_FOLDERS:
        if _is_program(path := prefix / folder.format(name=name) / name):
            return launch(prefix, path, name)
    return None


def launch(prefix: Path, path: Path, name: str) -> Launch:
    """Describe the start of `path` as `name`, with the libraries of its prefix and, where that has one, with its
    loader."""
    libraries = ":".join(str(folder) for folder in _library_folders(prefix))
    loader = _loader(prefix)
    if loader is None or _is_script(path):
        # Set by a command rather than in `env`, so that it also applies where only the version is asked for.
        lent = ("/usr/bin/env", f"LD_LIBRARY_PATH={libraries}") if libraries else ()
        return Launch((*lent, str(path)), path=str(path))
    # The machine's own list of libraries is not used: a library of another release would be worse than none.
    argv = (str(loader), "--inhibit-cache", "--argv0", name, "--library-path", libraries, str(path))
    return Launch(argv, _openssl_settings(prefix), str(path))


def package_version(started: Launch, package: str) -> str | None:
    """Version of the Debian package that an installed program came from, for programs that do not tell their own."""
    for folder in Path(started.path).parents:
        if (stamp := folder / STAMP).is_file():
            entries = (entry.split("_") for entry in json.loads(stamp.read_text())["packages"])
            return next((_upstream(entry[1]) for entry in entries if entry[0] == package), None)
    return None


def _upstream(debian: str) -> str:
    """Version 3.87.1, which Debian calls `2:3.87.1-1+deb12u1`, and in a file name `2%3a3.87.1-1+deb12u1`."""
    return debian.rpartition("%3a")[2].rpartition("-")[0] or debian


def _openssl_settings(prefix: Path) -> dict[str, str]:
    """Variables that keep OpenSSL from reading the machine's configuration and loading the machine's modules."""
    own = prefix / "etc" / "ssl" / "openssl.cnf"
    settings = {"OPENSSL_CONF": str(own) if own.is_file() else "/dev/null"}
    for modules in sorted(prefix.glob("usr/lib/*/ossl-modules")):
        settings["OPENSSL_MODULES"] = str(modules)
    return settings


def _library_folders(prefix: Path) -> list[Path]:
    """Folders with shared libraries, and those one level below, where some packages hide the libraries of their own."""
    outer = [folder for pattern in LIBRARY_FOLDERS for folder in sorted(prefix.glob(pattern)) if folder.is_dir()]
    inner = [folder for pattern in LIBRARY_FOLDERS[:2] for folder in sorted(prefix.glob(f"{pattern}/*/"))]
    return [folder for folder in (*outer, *inner) if any(folder.glob("lib*.so*"))]


def _loader(prefix: Path) -> Path | None:
    for folder in LIBRARY_FOLDERS:
        for loader in sorted(prefix.glob(f"{folder}/ld-linux*.so.*")):
            if loader.is_file():
                return loader
    return None


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"
