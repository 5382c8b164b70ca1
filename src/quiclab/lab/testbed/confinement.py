# SPDX-License-Identifier: Apache-2.0
"""Confinement of programs under test, which keeps them from what is not theirs. It must be made inside the sandbox.

All of them run in one user namespace, as uid 1000 without capabilities, and can gain no privileges. To the kernel they
are the caller, if that is a plain user, because nothing else is allowed. If it is root they are an unprivileged user:
the one who called sudo, else 65534. Such a user cannot reach what is below root's private folders, which may include
Python or the study. So the programs of root get a mount namespace in which every such folder has only what a trial
needs.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from quiclab.lab.testbed import _libc
from quiclab.model.errors import HostError

ORDINARY_ID = 1000
"""Uid and gid that endpoints see: none believes that it is root, and Chromium keeps its sandbox."""

_NOBODY = 65534
_FLAGS = _libc.MS_NOSUID | _libc.MS_NODEV


@dataclass(frozen=True)
class Owner:
    """Uid and gid, as the sandbox counts them."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Confinement:
    """Namespaces in which programs under test run."""

    owner: Owner | None
    """User that the programs are to the kernel; None is the caller, if that is not root."""
    user_namespace: int
    mount_namespace: int | None

    @property
    def fds(self) -> tuple[int, ...]:
        """File descriptors that `entry` needs open."""
        return tuple(fd for fd in (self.user_namespace, self.mount_namespace) if fd is not None)

    def entry(self) -> tuple[str, ...]:
        """Options of nsenter(1), and the commands behind it, to begin there in the root folder."""
        if self.mount_namespace is None:
            return self.as_user()
        return (f"--mount=/proc/self/fd/{self.mount_namespace}", "--", "nsenter", *self.as_user())

    def as_user(self) -> tuple[str, ...]:
        """Options of nsenter(1), and the command behind it, to become the ordinary user, without privileges."""
        user = f"--user=/proc/self/fd/{self.user_namespace}"
        ids = ("--setuid", str(ORDINARY_ID), "--setgid", str(ORDINARY_ID))
        return (user, *(ids if self.owner else ("--preserve-credentials",)), "--", "setpriv", "--no-new-privs", "--")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of both namespaces, which end with the last program in them."""
        for fd in self.fds:
            os.close(fd)

    def give(self, path: Path | int) -> None:
        """Let the programs own a file, or a folder with everything in it; nothing in it is followed elsewhere."""
        if self.owner is None:
            return
        if isinstance(path, int):
            os.fchown(path, self.owner.uid, self.owner.gid)
            return
        os.lchown(path, self.owner.uid, self.owner.gid)
        for folder, folders, files in os.walk(path):
            for name in (*folders, *files):
                os.lchown(Path(folder, name), self.owner.uid, self.owner.gid)


def mount_work_dir(folder: Path) -> None:
    """Mount a file system in memory over `folder`, in which root follows no symbolic link, because programs under test
    can write there. Must run inside the sandbox."""
    folder.mkdir(exist_ok=True)
    follow = 0 if _unprivileged() is None else _libc.MS_NOSYMFOLLOW
    _libc.mount("tmpfs", str(folder), "tmpfs", _FLAGS | follow, "mode=0755")


def confine(work_dir: Path | None, shown: Iterable[Path]) -> Confinement:
    """Make the namespaces. `shown` must be reachable for the programs beside `work_dir`, if there is one, which
    `mount_work_dir` made; what is not there is left out.

    Raises HostError.
    """
    owner = _unprivileged()
    user_namespace = _user_namespace(owner or Owner(0, 0))
    if owner is None:
        return Confinement(None, user_namespace, None)
    with ThreadPoolExecutor(1) as thread:  # of its own: it moves into the namespace that it makes
        mounts = thread.submit(_mount_namespace, work_dir, tuple(shown), owner).result()
    return Confinement(owner, user_namespace, mounts)


def _unprivileged() -> Owner | None:
    """An unprivileged user of this sandbox that is not its root; None where a plain user made it."""
    for uid, gid in ((os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")), (str(_NOBODY), str(_NOBODY))):
        if uid.isdecimal() and gid.isdecimal() and 0 not in (int(uid), int(gid)):
            found = Owner(int(uid), int(gid))
            if _is_mapped("uid", found.uid) and _is_mapped("gid", found.gid):
                return found
    return None


def _is_mapped(kind: str, number: int) -> bool:
    extents = (line.split() for line in Path(f"/proc/self/{kind}_map").read_text().splitlines())
    return any(int(first) <= number < int(first) + int(count) for first, _, count in extents)


def _user_namespace(owner: Owner) -> int:
    """A file descriptor of a new user namespace in which `owner` is the ordinary user, and nobody is root."""
    with subprocess.Popen(["unshare", "--user", "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        if process.stdout.read(1) != b"\n":
            raise HostError("no user namespace can be made for programs under test")
        for kind, number in (("uid", owner.uid), ("gid", owner.gid)):
            Path(f"/proc/{process.pid}/{kind}_map").write_text(f"{ORDINARY_ID} {number} 1\n")
        return os.open(f"/proc/{process.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)


def _mount_namespace(work_dir: Path | None, shown: tuple[Path, ...], owner: Owner) -> int:
    """A file descriptor of a new mount namespace for `owner`. The calling thread ends up in it."""
    _libc.unshare(_libc.CLONE_NEWNS, "a mount namespace")
    if work_dir is not None:  # programs may follow their own symbolic links
        _libc.mount("none", str(work_dir), None, _libc.MS_REMOUNT | _libc.MS_BIND | _FLAGS)
        shown = (work_dir, *shown)
    barriers = barriers_before(shown, owner)
    with contextlib.ExitStack() as stack:
        kept = {}
        for path in barriers:
            kept[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)
            stack.callback(os.close, kept[path])
        for barrier in sorted(set(barriers.values())):
            _libc.mount("tmpfs", str(barrier), "tmpfs", _FLAGS, "mode=0755,size=1m")
        for path, barrier in barriers.items():
            _make_mount_point(path, barrier, is_folder=Path(f"/proc/self/fd/{kept[path]}").is_dir())
            _libc.mount(f"/proc/self/fd/{kept[path]}", str(path), None, _libc.MS_BIND | _libc.MS_REC)
    return os.open("/proc/thread-self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)


def barriers_before(paths: Iterable[Path], owner: Owner) -> Mapping[Path, Path]:
    """Paths that `owner` cannot reach, outermost first, each with the first folder on the way that it may not search.

    A file is shown together with its folder, unless the folder is as private: then alone.
    """
    wanted: set[Path] = set()
    for path in paths:
        for each in {path, path.resolve()}:
            if each.exists():
                wanted.add(each if each.is_dir() or not _may_search(each.parent, owner) else each.parent)
    found: dict[Path, Path] = {}
    for path in sorted(wanted):
        barrier = next((each for each in reversed(path.parents) if not _may_search(each, owner)), None)
        if barrier is not None and not any(parent in found for parent in path.parents):
            found[path] = barrier
    return found


def _may_search(folder: Path, owner: Owner) -> bool:
    status = folder.stat()
    if status.st_uid == owner.uid:
        return bool(status.st_mode & 0o100)
    return bool(status.st_mode & (0o010 if status.st_gid == owner.gid else 0o001))


def _make_mount_point(path: Path, barrier: Path, *, is_folder: bool) -> None:
    """An empty folder or file where `path` is to be mounted, below a barrier that is empty now."""
    folder = barrier
    for part in path.relative_to(barrier).parts[: None if is_folder else -1]:
        folder /= part
        if not folder.is_dir():
            folder.mkdir()
            folder.chmod(0o755)  # whatever the umask
    if not is_folder:
        path.touch()
