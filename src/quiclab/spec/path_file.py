# SPDX-License-Identifier: Apache-2.0
"""One path of a spec, or of a file that has nothing but paths, by itself."""

from __future__ import annotations

import pathlib

from quiclab.model.errors import SpecError
from quiclab.model.study import Path
from quiclab.spec import grid
from quiclab.spec.live_path import LivePath
from quiclab.spec.nodes import FAILED, Node, closest, read_or_report
from quiclab.spec.paths import PATH
from quiclab.spec.read import check_problems, load_toml


def read_path_of(text: str) -> tuple[Path, LivePath]:
    """Read `FILE` or `FILE:NAME`: a `[[path]]` of a TOML file, which a file with several needs a name for, and the same
    as it is written. A list of values in it makes several, each with a name of its own, as in a spec.

    Raises SpecError where there is no such file or path, or with all problems of that path; the rest of the file is
    not looked at.
    """
    file, name = _split(text)
    source = grid.expanded(load_toml(file), {"path": PATH.form})
    tables = source.document.get("path")
    if not isinstance(tables, list) or not tables:
        raise SpecError(
            f"{file} has no path.", "Write a [[path]] in it, such as one of a spec (docs/reference/spec.md)."
        )
    top = Node(source.document, (), source).child("path")
    known = [str(table.get("name", "")) if isinstance(table, dict) else "" for table in tables]
    asked = known if name is None else [name]
    if len(asked) > 1:
        raise SpecError(f"{file} has {len(known)} paths.", f"Name one behind a colon: {', '.join(known)}.")
    chosen = [node for node, its in zip(top.elements(), known, strict=True) if its == asked[0]]
    if not chosen:
        hint = closest(asked[0], known)
        raise SpecError(f'{file} has no path "{name}".', f"{hint[0].upper()}{hint[1:]}")
    if len(chosen) > 1:
        raise SpecError(f'{file} has {len(chosen)} paths "{asked[0]}".', "Give each a name of its own.")
    path = read_or_report(chosen[0], PATH)
    check_problems(file, source, "docs/reference/spec.md describes every key")
    assert path is not FAILED
    return path, LivePath(chosen[0].value, source.folder)


def _split(text: str) -> tuple[pathlib.Path, str | None]:
    """File and name: a colon may be part of the name of a file that is there."""
    before, colon, name = text.rpartition(":")
    if not colon or pathlib.Path(text).exists():
        return pathlib.Path(text), None
    return pathlib.Path(before), name
