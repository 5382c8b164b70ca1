# SPDX-License-Identifier: Apache-2.0
"""Which files are a study's own. A study may come from a stranger: no symbolic link in it is followed, to read or to
write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def is_own_file(file: Path, root: Path) -> bool:
    """Whether `file` is a regular file below `root`, with no symbolic link between."""
    return _is_below(file, root) and file.is_file()


def own_files(folder: Path, root: Path) -> list[Path]:
    """Regular files directly in `folder`, sorted; none where a symbolic link leads there from `root`."""
    if not (_is_below(folder, root) and folder.is_dir()):
        return []
    with os.scandir(folder) as entries:
        return sorted(folder / entry.name for entry in entries if entry.is_file(follow_symlinks=False))


def links_below(root: Path) -> Iterator[Path]:
    """Every symbolic link below `root`; none of them is followed."""
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            if (path := Path(folder, name)).is_symlink():
                yield path


def _is_below(path: Path, root: Path) -> bool:
    below = path.relative_to(root)
    return not any((root / part).is_symlink() for part in (below, *below.parents) if part.parts)
