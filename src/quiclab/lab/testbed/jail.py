# SPDX-License-Identifier: Apache-2.0
"""Jails: what one role of a trial sees of its folder, which is its own files alone.

Captures, the link's log and the files of other roles lie where no path of a jail leads, for root and for plain users,
who are one user with their programs. What the laboratory shares with programs is read-only there.

    on disk                              in the jail of the client
    TRIAL/raw/client.pcapng              -
    TRIAL/jails/client/raw/client.json   TRIAL/raw/client.json
    TRIAL/jails/client/home              TRIAL/home
    TRIAL/jails/server/raw/server-qlog   -

Every program in it is the first process of a PID namespace (`testbed.process`): it sees no other program, no other can
signal it, and it cannot stop or kill itself either, so that a program that was killed was killed from outside.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed.confinement import Confinement

FOLDER = "jails"
"""Name of the folder with the jails' own files, in the folder of a trial."""
_FLAGS = _libc.MS_NOSUID | _libc.MS_NODEV
_READ_ONLY = _libc.MS_REMOUNT | _libc.MS_BIND | _libc.MS_RDONLY | _FLAGS


@dataclass(frozen=True)
class View:
    """Folders as programs name them."""

    work_dir: Path
    """Folder that all trials share (`confinement.mount_work_dir`)."""
    trial: Path
    """Folder of the trial, below it."""
    raw: Path
    """Folder of the role's logs, below that."""
    home: Path
    """Folder of its other files."""
    writable: Collection[Path] = ()
    """Folders in `work_dir` that the role may change."""


class Jail:
    """Context manager: the mount namespace of a role, and its folders."""

    def __init__(self, name: str, confinement: Confinement, view: View) -> None:
        """Make the folders. The namespace is made on entry: then everything in `work_dir` must be mounted."""
        self.name = name
        self._confinement = confinement
        self._view = view
        folder = view.trial / FOLDER / name
        self.raw, self.home = folder / "raw", folder / "home"
        for each in (self.raw, self.home):
            each.mkdir(parents=True)
        self._fds: tuple[int, int] = (-1, -1)

    def __enter__(self) -> Self:
        self._confinement.give(self.raw.parent)
        with ThreadPoolExecutor(1) as thread:  # of its own: it moves into the namespace that it makes
            self._fds = thread.submit(self._make).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fd in self._fds:
            os.close(fd)

    def real(self, shown: Path) -> Path:
        """Path on disk of a file that programs of the jail know as `shown`."""
        for seen, own in ((self._view.raw, self.raw), (self._view.home, self.home)):
            if shown.is_relative_to(seen):
                return own / shown.relative_to(seen)
        return shown

    @property
    def fds(self) -> tuple[int, ...]:
        """File descriptors that `entry` needs open."""
        return (*self._fds, self._confinement.user_namespace)

    def give(self, file: Path | int) -> None:
        """Let the programs own a file, or a folder with everything in it."""
        self._confinement.give(file)

    def entry(self) -> tuple[str, ...]:
        """Options of nsenter(1), and the commands behind it, to begin in the jail's home, with a /proc of the PID
        namespace in which the command is started."""
        mounts, home = self._fds
        enter = (f"--mount=/proc/self/fd/{mounts}", f"--wd=/proc/self/fd/{home}", "--")
        own_proc = ("unshare", "--mount", "--ipc", "--mount-proc", "--")
        return (*enter, *own_proc, "nsenter", *self._confinement.as_user())

    def _make(self) -> tuple[int, int]:
        """File descriptors of the namespace and of the home in it. The calling thread ends up there."""
        view = self._view
        _libc.unshare(_libc.CLONE_NEWNS, "a mount namespace")
        if self._confinement.mount_namespace is not None:
            _libc.setns(self._confinement.mount_namespace, _libc.CLONE_NEWNS)
            _libc.unshare(_libc.CLONE_NEWNS, "a mount namespace")
        for folder in view.writable:
            _libc.mount(str(folder), str(folder), None, _libc.MS_BIND)
        own = {shown: os.open(self.real(shown), os.O_PATH | os.O_CLOEXEC) for shown in (view.raw, view.home)}
        _libc.mount("tmpfs", str(view.trial), "tmpfs", _FLAGS, "mode=0755,size=64k")
        for shown, fd in own.items():
            missing = [each for each in (shown, *shown.parents) if not each.exists()]
            for folder in reversed(missing):
                folder.mkdir()
                folder.chmod(0o755)  # whatever the umask
            _libc.mount(f"/proc/thread-self/fd/{fd}", str(shown), None, _libc.MS_BIND)
            os.close(fd)
        for folder in (view.trial, view.work_dir):
            _libc.mount("none", str(folder), None, _READ_ONLY)
        home = os.open(view.home, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        return os.open("/proc/thread-self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC), home
