# SPDX-License-Identifier: Apache-2.0
"""Groups with a CPU limit, which this process makes below its own control group, of either version (cgroups(7)).

Version 2 allows no process beside the groups that it divides processor time among, except in a threaded subtree: so
ours is threaded, and no other process has to be moved. The cpu controller stays switched on for groups below our own,
because another run may need it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_CGROUP, _MOUNTS = Path("/proc/self/cgroup"), Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class OwnCgroup:
    """The group that this process is in."""

    version: int
    path: Path

    def make_child(self, name: str) -> Path:
        """A new group in which CPU time can be limited. Raises OSError."""
        child = self.path / name
        child.mkdir()
        try:
            if self.version == 2:
                (child / "cgroup.type").write_text("threaded")
                (self.path / "cgroup.subtree_control").write_text("+cpu")
        except OSError:
            child.rmdir()
            raise
        return child


def own_cgroup() -> OwnCgroup | None:
    """The group of the cpu controller; None where there is no such controller."""
    try:
        groups, mounts = _CGROUP.read_text(), _MOUNTS.read_text()
    except OSError:
        return None
    found = find_cgroup(groups, mounts)
    if found is None or (found.version == 2 and "cpu" not in _read(found.path / "cgroup.controllers").split()):
        return None
    return found if os.access(found.path, os.X_OK) else None


def find_cgroup(groups: str, mounts: str) -> OwnCgroup | None:
    """Find the cgroup in the texts of /proc/self/cgroup and /proc/self/mountinfo: a version 1 cpu hierarchy, else
    version 2."""
    paths: dict[str, str] = {}
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path)
    for controller, kind, version in (("cpu", "cgroup", 1), ("", "cgroup2", 2)):
        for line in mounts.splitlines():
            before, _, after = line.partition(" - ")
            root, point = before.split()[3:5]
            fstype, _, options = after.split(maxsplit=2)
            inside = paths.get(controller)
            if fstype != kind or inside is None or (version == 1 and "cpu" not in options.split(",")):
                continue
            if Path(inside).is_relative_to(root):
                return OwnCgroup(version, Path(point, Path(inside).relative_to(root)))
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
