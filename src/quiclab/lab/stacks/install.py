# SPDX-License-Identifier: Apache-2.0
"""`quiclab doctor --install` and `--uninstall`: they print one line per step; doing the same again changes nothing."""

from __future__ import annotations

import difflib
import fcntl
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from quiclab.lab.endpoints._stacks import Launch, launch, package_version
from quiclab.lab.stacks import build as builds
from quiclab.lab.stacks import environment, npm, wheels
from quiclab.lab.stacks import tree as trees
from quiclab.lab.stacks.apt import Apt, IndexExpiredError, require_apt
from quiclab.lab.stacks.catalogue import (
    ITEMS,
    PREFERRED,
    RELEASE_ITEMS,
    Binary,
    Build,
    Environment,
    Item,
    Script,
    Tree,
)
from quiclab.lab.stacks.kept import kept_folder
from quiclab.lab.stacks.sources import Source, mirror, own_sources
from quiclab.model.errors import BusyError, HostError, SpecError
from quiclab.processes import NO_HOME
from quiclab.project import SUPPLIES
from quiclab.store.own_files import open_private

_MARK = ".made-by-quiclab"
"""Name of the file that marks the folder, so that no other is ever removed; a process that works in the folder holds a
lock on it."""


def install(stacks: Path, wanted: Sequence[str], say: Callable[[str], None]) -> bool:
    """Install what is named, or everything but releases if nothing is. True if nothing failed and nothing that was
    named is missing."""
    offered: tuple[Item, ...] = (*ITEMS, *RELEASE_ITEMS) if wanted else ITEMS
    known = sorted(frozenset[str]().union(*(item.names for item in offered)))
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SpecError(
            "there is no such program to install",
            f"there are {', '.join(known)}",
            tuple(f"{name}: {_closest(name, known)}" for name in unknown),
        )
    if ":" in str(stacks):
        raise HostError(
            f"{stacks} has a colon in its name, which separates the folders of a list", "set QUICLAB_STACKS"
        )
    good = True
    with _held(stacks):
        say(f"into {stacks}")
        installer = _Installer(stacks, say)
        items = [item for item in offered if not wanted or item.names & set(wanted)]
        with _in_background() as pool:
            # Compilers need processors, downloads do not.
            compiled = [
                pool.submit(installer.install, item, by_name=bool(wanted)) for item in items if isinstance(item, Build)
            ]
            for item in items:
                if not isinstance(item, Build):
                    good &= installer.install(item, by_name=bool(wanted))
                    installer.link_programs()
            outcomes = [each.result() for each in compiled]
            good &= all(outcomes)
    return good


@contextmanager
def _in_background() -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of two threads, enough for compilers that run in several processes each. Trouble in the block, such
    as Ctrl-C, cancels what has not begun."""
    pool = ThreadPoolExecutor(2)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def uninstall(stacks: Path, say: Callable[[str], None]) -> None:
    """Remove everything that was installed."""
    if stacks.exists():
        with _held(stacks):
            size = trees.size_bytes(stacks)
            shutil.rmtree(stacks)
        say(f"removed {stacks}, {_megabytes(size)}")
    else:
        say(f"nothing is installed in {stacks}")
    if count := wheels.uninstall(SUPPLIES):
        say(f"removed {count} Python packages from {sys.prefix}")


@dataclass(frozen=True)
class _Installer:
    stacks: Path
    say: Callable[[str], None]
    apt_in_use: Lock = field(default_factory=Lock)
    """Held while apt's folder is worked in."""

    def install(self, item: Item, *, by_name: bool) -> bool:
        """Install one item; return whether all is well. Trouble with one item does not keep the others from being
        installed."""
        try:
            self._provide(item)
        except OSError as error:
            self.say(f"{item.name}: FAILED: {error}")
            return False
        except HostError as error:
            may_be_missing = not by_name and (item.optional or isinstance(error, builds.MissingToolError))
            self.say(f"{item.name}: {'not installed' if may_be_missing else 'FAILED'}: {error.message}")
            if error.hint:
                self.say(f"  hint: {error.hint}")
            return may_be_missing
        good = True
        for binary in item.binaries:
            try:
                self.say(f"  {binary.name:<16} {version(binary, self._launch(item, binary))}")
            except HostError as error:
                self.say(f"  {error.message}")
                good = item.optional and not by_name
        return good

    def link_programs(self) -> None:
        """Link in `bin` the programs to use if no prefix is given."""
        folder = self.stacks / "bin"
        folder.mkdir(exist_ok=True)
        for tree in (item for item in ITEMS if isinstance(item, Tree)):
            for binary in tree.binaries:
                order = PREFERRED.get(binary.name, (tree.name,))
                best = next((name for name in order if (self.stacks / name / binary.path).is_file()), None)
                if best is not None:
                    fresh = folder / f".{binary.name}.new"
                    fresh.unlink(missing_ok=True)
                    fresh.symlink_to(Path("..") / best / binary.path)
                    fresh.replace(folder / binary.name)

    def _provide(self, item: Item) -> None:
        if isinstance(item, Tree):
            with self.apt_in_use:
                self._unpack(item)
        elif isinstance(item, Build):
            self._compile(item)
        elif isinstance(item, Script):
            self._fetch(item)
        elif isinstance(item, Environment):
            self._make(item)
        elif wheels.are_current(SUPPLIES):
            self.say(f"{item.name}: here already")
        else:
            count = wheels.install(SUPPLIES)
            self.say(f"{item.name}: {count} Python packages into {sys.prefix}, checked against their hashes")

    def _fetch(self, script: Script) -> None:
        if npm.is_current(self.stacks, script):
            self.say(f"{script.name}: here already")
            return
        size = npm.install(self.stacks, script)
        self.say(f"{script.name}: version {script.version} from npm, {_megabytes(size)}, checked against its hash")

    def _make(self, item: Environment) -> None:
        folder, source = self.stacks / item.folder, SUPPLIES / item.source
        if environment.is_current(folder, source):
            self.say(f"{item.name}: here already")
            return
        count = environment.install(folder, source)
        self.say(f"{item.name}: {count} Python packages into {folder}, checked against their hashes")

    def _unpack(self, tree: Tree) -> Path:
        folder = self.stacks / tree.name
        if trees.is_whole(folder, tree) and all(_exists(folder, binary) for binary in tree.binaries):
            self.say(f"{tree.name}: here already")
            return folder
        require_apt()
        sources = tuple(Source(mirror(), suite) for suite in tree.suites) or own_sources()
        if not sources:
            raise HostError("this machine does not read Debian's own packages", f"install {' '.join(tree.packages)}")
        apt = Apt(self.stacks / "apt", sources, on_top_of_machine=not tree.suites)
        where = ", ".join(f"{source.mirror} {source.suite}" for source in sources)
        self.say(f"{tree.name}: reading {where}")
        try:
            apt.update()
        except IndexExpiredError as error:
            self.say(f"{tree.name}: {error.message}: used nevertheless, because its signature is good")
            apt.update(however_old=True)
        packages = apt.download(tree.packages)
        fetched = sum(package.stat().st_size for package in packages)
        if packages:
            self.say(f"{tree.name}: fetched {len(packages)} packages, {_megabytes(fetched)}, verified by apt")
        else:
            self.say(f"{tree.name}: all of it is installed on this machine")
        part = folder.with_name(f".{folder.name}.part")
        trees.unpack(packages, part)
        trees.finish(part, folder, tree, packages)
        apt.clean()
        if packages:
            self.say(f"{tree.name}: unpacked, {_megabytes(trees.size_bytes(folder))}")
        return folder

    def _compile(self, build: Build) -> None:
        source = SUPPLIES / build.source
        if not source.is_dir():
            raise builds.MissingToolError(f"{source} is missing", "it is part of the project's sources")
        stacks = self.stacks / build.folder
        if builds.is_current(stacks, build, source):
            self.say(f"{build.name}: here already")
            return
        if builds.take_kept(stacks, build, source):
            self.say(f"{build.name}: compiled from the same sources before, taken from {kept_folder()}")
            return
        self.say(f"{build.name}: building {build.source} with {build.compiler}")
        builds.compile_program(stacks, build, source, lambda: self._tools(build))

    def _tools(self, build: Build) -> Path | None:
        """Folder of unpacked tools; None if the machine's own have to do, because it is not a Debian."""
        if build.tools is None or not (build.tools.suites or own_sources()):
            return None
        with self.apt_in_use:
            return self._unpack(build.tools)

    def _launch(self, item: Item, binary: Binary) -> Launch:
        if isinstance(item, Build | Environment):
            folder = self.stacks / item.folder
        else:
            folder = self.stacks / item.name if isinstance(item, Tree) else Path(sys.prefix)
        path = folder / binary.path
        if not path.is_file():
            return Launch((shutil.which(binary.name) or str(path),), path=str(path))
        return launch(folder, path, binary.name) if isinstance(item, Tree) else Launch((str(path),), path=str(path))


def _exists(folder: Path, binary: Binary) -> bool:
    return (folder / binary.path).is_file() or shutil.which(binary.name) is not None


@contextmanager
def _held(stacks: Path) -> Iterator[None]:
    """Hold the folder: two processes must not unpack into it at once."""
    if stacks.is_dir() and any(stacks.iterdir()) and not (stacks / _MARK).is_file():
        raise HostError(f"{stacks} already holds something else", "set QUICLAB_STACKS to a folder that is new or empty")
    try:
        stacks.mkdir(mode=0o755, parents=True, exist_ok=True)
        lock = open_private(stacks / _MARK)
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


def _closest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean {near[0]}?" if near else "unknown"


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


# Run an installed program once: one that is unpacked but does not start is not installed.
def version(binary: Binary, started: Launch) -> str:
    """Version that the program prints, or else that of its package. Raises HostError with the reason if it does not
    run."""
    try:
        done = subprocess.run(
            [*started.argv, *binary.version],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**started.env, "HOME": NO_HOME},
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"{binary.name} does not run: {error}") from None
    printed = done.stdout.strip()
    # A program that cannot print its version complains about the option, which is proof enough that it runs.
    if done.returncode != 0 and not (binary.package and 0 < done.returncode < 126):
        raise HostError(f"{binary.name} does not run: {(printed.splitlines() or [f'exit code {done.returncode}'])[0]}")
    if binary.package:
        return package_version(started, binary.package) or "of this machine"
    found = re.search(r"\d+\.\d+[\w.+~-]*", printed)
    return found.group() if found else "runs"
