# SPDX-License-Identifier: Apache-2.0
"""`quiclab doctor --install` and `--uninstall`: one line a step, the same again changes nothing."""

from __future__ import annotations

import difflib
import fcntl
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from quiclab.endpoints._stacks import Launch, launch, package_version
from quiclab.errors import BusyError, HostError, SpecError
from quiclab.stacks import tree as trees
from quiclab.stacks.apt import Apt, Source, mirror, own_sources, require_apt
from quiclab.stacks.catalogue import PREFERRED, TREES, Binary, Tree

Say = Callable[[str], None]


def names() -> list[str]:
    """Everything that can be asked for by name: folders and programs."""
    return sorted({tree.name for tree in TREES} | {binary.name for tree in TREES for binary in tree.binaries})


def install(stacks: Path, wanted: Sequence[str], say: Say) -> bool:
    """Install what is named, everything if nothing is. True when all that is not optional is there and runs."""
    unknown = [name for name in wanted if name not in names()]
    if unknown:
        problems = tuple(f"{name}: {_closest(name)}" for name in unknown)
        raise SpecError("no such program can be installed", f"there are: {' '.join(names())}", problems)
    require_apt()
    if ":" in str(stacks):
        raise HostError(f"{stacks} has a colon in its name, which lists of folders cannot hold", "set QUICLAB_STACKS")
    good = True
    with _held(stacks):
        say(f"into {stacks}")
        for tree in TREES:
            named = {tree.name, *(binary.name for binary in tree.binaries)} & set(wanted)
            if wanted and not named:
                continue
            try:
                good &= _install_tree(stacks, tree, say)
            except HostError as error:
                say(f"{tree.name}: {'not installed (optional)' if tree.optional else 'failed'}: {error.message}")
                if error.hint:
                    say(f"  hint: {error.hint}")
                good &= tree.optional
        _link_programs(stacks)
    return good


def uninstall(stacks: Path, say: Say) -> None:
    """Remove everything that was installed."""
    if not stacks.exists():
        say(f"nothing is installed in {stacks}")
        return
    if not (stacks / _MARK).is_file():
        raise HostError(
            f"{stacks} was not made by quiclab doctor --install: it stays", "remove it by hand if it may go"
        )
    with _held(stacks):
        size = trees.size_bytes(stacks)
        shutil.rmtree(stacks)
    say(f"removed {stacks} ({_megabytes(size)})")


def _install_tree(stacks: Path, tree: Tree, say: Say) -> bool:
    folder = stacks / tree.name
    if trees.is_whole(folder, tree):
        say(f"{tree.name}: here already")
    else:
        sources = tuple(Source(mirror(), suite) for suite in tree.suites) or own_sources()
        apt = Apt(stacks / "apt", sources, on_top_of_machine=not tree.suites)
        say(f"{tree.name}: reading {', '.join(source.suite for source in sources)} at {sources[-1].mirror}")
        apt.update()
        packages = apt.download(tree.packages)
        fetched = sum(package.stat().st_size for package in packages)
        say(f"{tree.name}: fetched {len(packages)} packages, {_megabytes(fetched)}, verified by apt")
        part = folder.with_name(f".{folder.name}.part")
        trees.unpack(packages, part)
        trees.finish(part, folder, tree, packages)
        apt.clean()
        say(f"{tree.name}: unpacked, {_megabytes(trees.size_bytes(folder))}")
    problems = [_tell(binary, launch(folder, folder / binary.path, binary.name), say) for binary in tree.binaries]
    return not any(problems)


def _tell(binary: Binary, started: Launch, say: Say) -> str:
    """Run it once; say its version, or why it does not run."""
    problem = ""
    try:
        done = subprocess.run(
            [*started.argv, *binary.version],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**started.env, "HOME": "/nonexistent"},
            timeout=60,
            check=False,
        )
        printed = done.stdout.strip()
        problem = "" if done.returncode == 0 else (printed.splitlines() or [f"exit code {done.returncode}"])[0]
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem:
        say(f"  {binary.name:<12} does not run: {problem}")
    elif binary.package:
        say(f"  {binary.name:<12} {package_version(started, binary.package)}")
    else:
        found = re.search(r"\d+\.\d+[\w.+~-]*", printed)
        say(f"  {binary.name:<12} {found.group() if found else 'runs'}")
    return problem


def _link_programs(stacks: Path) -> None:
    """`bin` holds the programs to use when none is named by prefix."""
    folder = stacks / "bin"
    folder.mkdir(exist_ok=True)
    for tree in TREES:
        for binary in tree.binaries:
            order = PREFERRED.get(binary.name, (tree.name,))
            best = next((name for name in order if (stacks / name / binary.path).is_file()), None)
            if best is not None:
                fresh = folder / f".{binary.name}.new"
                fresh.unlink(missing_ok=True)
                fresh.symlink_to(Path("..") / best / binary.path)
                fresh.replace(folder / binary.name)


_MARK = ".made-by-quiclab"


@contextmanager
def _held(stacks: Path) -> Iterator[None]:
    """One at a time, or two would unpack into the same folder."""
    try:
        stacks.mkdir(mode=0o755, parents=True, exist_ok=True)
        lock = (stacks / _MARK).open("w")
    except OSError as error:
        raise HostError(
            f"{stacks} cannot be written: {error.strerror}", "set QUICLAB_STACKS to a folder of yours"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"another quiclab doctor is at work in {stacks}", "wait for it") from None
        yield


def _closest(name: str) -> str:
    near = difflib.get_close_matches(name, names(), 1)
    return f"did you mean {near[0]}?" if near else "unknown"


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
