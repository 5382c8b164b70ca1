# SPDX-License-Identifier: Apache-2.0
"""The jails of one trial: one a role, and one for each program of a competing flow. What programs leave in them is
brought to the laboratory's own logs when all have ended."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from quiclab.lab.runner.commands import Part
from quiclab.lab.testbed.confinement import Confinement
from quiclab.lab.testbed.jail import FOLDER, Jail, View
from quiclab.model import study
from quiclab.store.left_files import excess, is_of_laboratory, remove_tree

_NAMES: dict[study.Role, tuple[str, ...]] = {
    "client": ("client", "keys.log", "first-visit", "warm-up"),
    "server": ("server",),
    "proxy": ("proxy",),
}
"""Beginnings of the names of each role's files."""
_MOST_PRINTED_BYTES = 512 << 20
_LAST_BYTES = 64 << 10


def role_of(part: Part) -> study.Role:
    """The role whose jail a part of a trial is in: throw-away clients are in the client's."""
    return part if part in ("server", "proxy") else "client"


class Jails:
    """Context manager around the programs of a trial: it lets go of their namespaces."""

    def __init__(self, confinement: Confinement, work_dir: Path, kept: Path, trial: Path) -> None:
        """`trial` is the trial's folder in `work_dir`. The client may change `kept`, which outlives a trial."""
        self._confinement = confinement
        self._work_dir = work_dir
        self._kept = kept
        self._trial = trial
        self._jails: dict[str, Jail] = {}
        self._roles: dict[str, study.Role] = {}
        self._targets: dict[str, Path] = {}
        self._open: list[Jail] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._open:
            self._open.pop().__exit__(kind, error, trace)

    def jail(self, role: study.Role) -> Jail:
        """The jail of a role, with its folders; the namespaces are there after `build`."""
        return self._jail(role, role, "")

    def flow_jail(self, label: str, role: study.Role) -> Jail:
        """The jail of a program of a competing flow."""
        return self._jail(f"{label}-{role}", role, label)

    def build(self) -> None:
        """Make the namespaces of all jails that have none; programs then own what was written into their folders."""
        for jail in self._jails.values():
            if jail not in self._open:
                jail.__enter__()
                self._open.append(jail)

    def gather(self) -> str | None:
        """Bring what all have left to the logs of the trial, once the programs have ended. What has no name of the
        role's own goes into a folder that has. Returns why the files of a role are not kept, in words."""
        problem = None
        for name, jail in self._jails.items():
            target = self._targets[name]
            target.mkdir(parents=True, exist_ok=True)
            if (told := excess(jail.raw)) is not None:
                problem = problem or f"the {name} left {told}"
                continue
            for entry in sorted(jail.raw.iterdir()):
                if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
                    continue
                others = target / f"{self._roles[name]}-files"
                place = target if _is_own(entry.name, self._roles[name]) and entry.name != others.name else others
                place.mkdir(exist_ok=True)
                if not os.path.lexists(place / entry.name):
                    entry.rename(place / entry.name)
            for printed in sorted(target.glob("*.out")):
                if printed.stat().st_size > _MOST_PRINTED_BYTES:
                    problem = problem or f"the {printed.stem} printed more than {_MOST_PRINTED_BYTES >> 20} MiB"
                    _keep_the_end(printed)
        return problem

    def remove(self) -> None:
        """Remove what the programs left in their jails."""
        remove_tree(self._trial / FOLDER)

    def _jail(self, name: str, role: study.Role, label: str) -> Jail:
        if name not in self._jails:
            raw, home = self._trial / "raw", self._trial / "home"
            if label:
                raw, home = raw / "competitors" / label, home / label
            kept = (self._kept,) if role == "client" and self._kept.is_dir() else ()
            self._jails[name] = Jail(name, self._confinement, View(self._work_dir, self._trial, raw, home, kept))
            self._roles[name], self._targets[name] = role, raw
        return self._jails[name]


def _is_own(name: str, role: study.Role) -> bool:
    """True if the beginning of a name says that the file is of a program in this role."""
    return not is_of_laboratory(name) and name.startswith(_NAMES[role])


def _keep_the_end(printed: Path) -> None:
    with printed.open("r+b") as opened:
        opened.seek(-_LAST_BYTES, os.SEEK_END)
        end = opened.read()
        opened.seek(0)
        opened.truncate()
        opened.write(end)
