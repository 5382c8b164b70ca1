# SPDX-License-Identifier: Apache-2.0
"""Files that are a study's own. A study may come from a stranger: no symbolic link in it is followed, for reading or
for writing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from quiclab.errors import DecodeError

_SHOWN = 10


def is_own_file(file: Path, root: Path) -> bool:
    """Whether `file` is a regular file below `root`, with no symbolic link between."""
    return _is_below(file, root) and file.is_file()


def own_files(folder: Path, root: Path) -> list[Path]:
    """Regular files directly in `folder`, sorted; none where a symbolic link is on the way there from `root`."""
    if not (_is_below(folder, root) and folder.is_dir()):
        return []
    with os.scandir(folder) as entries:
        return sorted(folder / entry.name for entry in entries if entry.is_file(follow_symlinks=False))


def refuse_links(root: Path) -> None:
    """Refuse a study with symbolic links, before anything of it is written or packed. Raises DecodeError with the links
    below `root`."""
    found = tuple(str(path) for path in _links_below(root))
    if found:
        raise DecodeError(
            "a study must not have symbolic links: what they lead to would be overwritten, or packed for others",
            "remove them; where a folder of yours lies elsewhere, mount it here (mount --bind)",
            found[:_SHOWN] + ((f"and {len(found) - _SHOWN} more",) if len(found) > _SHOWN else ()),
        )


def _links_below(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield Path(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                yield from _links_below(Path(entry.path))


def _is_below(path: Path, root: Path) -> bool:
    below = path.relative_to(root)
    return not any((root / part).is_symlink() for part in (below, *below.parents) if part.parts)
