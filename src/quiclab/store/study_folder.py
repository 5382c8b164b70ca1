# SPDX-License-Identifier: Apache-2.0
"""The place of a study: a folder that quiclab has made, or an empty one. In any other folder files of the user's could
have the names that a study's files have, and would be overwritten or removed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from quiclab.model.errors import DecodeError, SpecError
from quiclab.store.disk import disk_errors, read_object, shown_names
from quiclab.store.folder_lock import LOCK
from quiclab.store.layout import BUILDS, FOLDERS, StudyDir
from quiclab.store.ledger import is_ledger
from quiclab.store.own_files import is_own_file

_OF_RESOLVED = frozenset({"name", "arms", "paths", "workloads"})
"""Members that every resolved spec has."""
_BEFORE_ANYTHING_RAN = frozenset({*FOLDERS, LOCK, ".work", "tls", "requests.json", "host-nat.json", BUILDS})
"""Names in a study whose first run was ended before anything in it tells that it is one."""
_OF_NOBODY = frozenset({"lost+found"})
"""Names that a file system puts into its uppermost folder."""


def is_study(root: Path) -> bool:
    """True if quiclab has made this folder: by its ledger, its resolved spec, the four things that are made first, or a
    trial."""
    if is_ledger(root / "ledger.sqlite"):
        return True
    try:
        if read_object(root / "resolved.json").keys() >= _OF_RESOLVED:
            return True
    except DecodeError:
        pass
    begun = all((root / name).is_dir() for name in FOLDERS) and (root / LOCK).is_file()
    return begun or any(is_own_file(each, root) for each in (root / "trials").glob("*/trial.json"))


def begin_in(study_dir: StudyDir, beside: Collection[str] = ()) -> None:
    """Make the folders of a study that begins or goes on.

    Raises SpecError for a folder that has something in it and is no study, apart from the names `beside`; HostError
    where the disk refuses.
    """
    root = study_dir.root
    with disk_errors(root):
        names = {each.name for each in root.iterdir()} if root.is_dir() else set()
    foreign = sorted(names - _BEFORE_ANYTHING_RAN - _OF_NOBODY - set(beside))
    if foreign and not is_study(root):
        raise SpecError(
            f"{root} has files in it and is no study: a study might overwrite them",
            "name a new or an empty directory",
            shown_names(foreign),
        )
    study_dir.create()
