# SPDX-License-Identifier: Apache-2.0
"""Run unit tests: those that send no packets and need no quiet machine, on all processors.

usage: unit_tests.py [ROOM …]      all, or those of rooms: why, report/figures, decoders, tools
       unit_tests.py --changed     those of the rooms that changed since main (origin/main, where there is one)

A room's tests stand in the folder of its name below tests/unit. A module changes the tests of its room, a helper in
tests/ those that import it, and everything else (docs, tools, experiments) the tests of tools and the loose ones in
tests/unit. Rooms that only use what changed are left to `make test`, and so are Rust and Go.
"""

from __future__ import annotations

import difflib
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
EXPRESSION = "not packets and not alone and not nightly and not matrix"
OPTIONS = ("-n", "auto", "--maxprocesses", "8", "--dist", "loadfile")
UNIT, DECODERS = PurePosixPath("tests/unit"), PurePosixPath("tests/decoders")
BESIDE = {UNIT / "logs": DECODERS, UNIT / "logs" / "decoders": DECODERS}
"""Tests of a room that stand in a folder of their own."""
CRATES = {"log-decode": UNIT / "logs", "py-core": UNIT / "logs"}
"""Rooms that call a crate, by its name."""
BASES = ("origin/main", "main")


class UnknownRoomError(Exception):
    """A name that no folder of tests has."""


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Run the tests that are asked for; the exit code is that of pytest, or 2 where there is no such room."""
    try:
        paths = _changed(root) if arguments == ["--changed"] else _asked(root, arguments)
    except UnknownRoomError as error:
        print(f"unit_tests.py: {error}", file=sys.stderr)
        return 2
    if not paths:
        return 0
    print(f"unit tests: {' '.join(map(str, paths))}", flush=True)
    command = [sys.executable, "-m", "pytest", "-m", EXPRESSION, *OPTIONS, *map(str, paths)]
    return subprocess.run(command, cwd=root, check=False).returncode


def _asked(root: Path, rooms: list[str]) -> list[PurePosixPath]:
    return _once(each for room in rooms for each in folders_of_room(root, room)) if rooms else [UNIT, DECODERS]


def folders_of_room(root: Path, room: str) -> list[PurePosixPath]:
    """Folders whose path ends with the name of a room. Raises UnknownRoomError."""
    parts = PurePosixPath(room).parts
    known = [*_folders(root, UNIT), *_folders(root, DECODERS)]
    found = [folder for folder in known if parts and folder.parts[-len(parts) :] == parts]
    if found:
        return _once(found + [BESIDE[folder] for folder in found if folder in BESIDE])
    start = 2 if "/" in room else -1
    near = difflib.get_close_matches(room, {"/".join(folder.parts[start:]) for folder in known})
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(_wings(root))}"
    raise UnknownRoomError(f"no room {room!r}: {hint}")


def _folders(root: Path, below: PurePosixPath) -> list[PurePosixPath]:
    """Folders with tests in them or below them, the outermost without a name of its own left out."""
    files = [PurePosixPath(file.relative_to(root)) for file in (root / below).rglob("test_*.py")]
    around = {folder for file in files for folder in file.parents if folder.is_relative_to(below)}
    return sorted(around - {UNIT})


def _wings(root: Path) -> list[str]:
    return [folder.name for folder in _folders(root, UNIT) if folder.parent == UNIT]


def _once(paths: Iterable[PurePosixPath]) -> list[PurePosixPath]:
    """Paths in order, without those that another one holds."""
    kept = sorted(set(paths))
    return [path for path in kept if not any(other in path.parents for other in kept)]


def _changed(root: Path) -> list[PurePosixPath]:
    base = next((each for each in BASES if _git(root, "rev-parse", "--verify", "--quiet", f"{each}^{{commit}}")), None)
    if base is None:
        print("no main to compare with: all unit tests")
        return [UNIT, DECODERS]
    files = changed_files(root, base)
    for crate in sorted(
        {file.parts[1] for file in files if file.parts[0] in ("crates", "programs") and file.parts[1:]}
    ):
        print(f"{crate} changed: its own tests run in `make test`")
    paths = _once(each for file in files for each in tests_of_file(root, file))
    if not paths:
        print(f"nothing that unit tests look at changed since {base}")
    return paths


def changed_files(root: Path, base: str) -> list[PurePosixPath]:
    """Files that differ from where this branch left another, committed or not, removed ones among them."""
    since = _git(root, "merge-base", "HEAD", base) or [base]
    named = _git(root, "diff", "--name-only", "--no-renames", since[0])
    return sorted({PurePosixPath(line) for line in (*named, *_git(root, "ls-files", "--others", "--exclude-standard"))})


def _git(root: Path, *words: str) -> list[str]:
    """Lines of what git prints; none where it fails."""
    command = ["git", "-c", "core.quotePath=false", *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout.splitlines()


def tests_of_file(root: Path, file: PurePosixPath) -> list[PurePosixPath]:
    """Folders and files of tests that a changed file concerns."""
    match file.parts:
        case ("src", "quiclab", *rooms, module):
            return _mirror_of_module(root, rooms, module)
        case ("tests", "unit", _) if (root / file).exists():
            return [file]
        case ("tests", "unit" | "decoders", *rooms, _) if rooms:
            folder = next(each for each in file.parents if (root / each).is_dir())
            return [folder] if folder not in (UNIT, UNIT.parent) else []
        case ("tests", helper):
            return list(_importing(root, PurePosixPath(helper).stem))
        case ("crates", crate, *_) if crate in CRATES:
            return [CRATES[crate], DECODERS]
        case ("tests" | "crates" | "programs" | "benches", *_):
            return []
    return [UNIT / "tools", *_loose(root)]


def _mirror_of_module(root: Path, rooms: list[str], module: str) -> list[PurePosixPath]:
    """Tests of the innermost room around a module that has any; a loose module has a test of its name."""
    own = UNIT / f"test_{PurePosixPath(module).stem}.py"
    if not rooms:
        return [own] if (root / own).exists() else _loose(root)
    folders = [UNIT.joinpath(*rooms[:depth]) for depth in range(len(rooms), 0, -1)]
    found = [folder for folder in folders if (root / folder).is_dir()][:1]
    return found + [BESIDE[folder] for folder in found if folder in BESIDE]


def _loose(root: Path) -> list[PurePosixPath]:
    return sorted(PurePosixPath(file.relative_to(root)) for file in (root / UNIT).glob("test_*.py"))


def _importing(root: Path, helper: str) -> Iterator[PurePosixPath]:
    """Files of unit tests that import a module of tests/; for what pytest itself reads, all."""
    if helper == "conftest":
        yield from (UNIT, DECODERS)
    imports = re.compile(rf"^(from|import) {re.escape(helper)}\b", re.MULTILINE)
    for folder in (UNIT, DECODERS):
        for file in sorted((root / folder).rglob("*.py")):
            if imports.search(file.read_text(encoding="utf-8")):
                yield PurePosixPath(file.relative_to(root))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
