# SPDX-License-Identifier: Apache-2.0
"""List names that do not say what they hold, and names that stand for two things.

usage: names.py [ROOT]      the project, by default

A function or class is not called `told`, `of`, `place`, `named`, `shown`, `facts` or `look`, and none begins with
`of_`, with or without an underscore before it: such a name needs its module to be understood. Two modules of one wing
(a folder of `src/quiclab`) have different names, so that a name alone finds a file. Excepted are the files that every
room of plugins has (`__init__`, `_api`, `_registry`), plugins of different rooms, which are named after the same format
or program, `lab/endpoints`, where a program has its name as a client, a server and a proxy, and `model/tables`, where a
table has the name of what it describes. A headword stands once in GLOSSARY.md.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tools", "benches")
"""Folders whose functions and classes are looked at."""
WINGS = Path("src", "quiclab")
GLOSSARY = "GLOSSARY.md"

EMPTY = re.compile(r"_*(told|of|place|named|shown|facts|look|of_\w+)", re.IGNORECASE)
"""Names of functions and classes that say nothing by themselves."""
IN_EVERY_ROOM = {"__init__", "_api", "_registry"}
"""Modules that every room of plugins has."""
BY_SUBJECT = (Path("lab", "endpoints"), Path("model", "tables"))
"""Rooms below `WINGS` whose files are named after what others are about, too: programs, each perhaps in several roles,
and what tables hold."""


def empty_names(root: Path) -> Iterator[str]:
    """One line for each function or class with a name that says nothing."""
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            if named and EMPTY.fullmatch(node.name):
                yield f'{path.relative_to(root)}:{node.lineno}: "{node.name}" does not say what it gives or holds'


def shared_stems(root: Path) -> Iterator[str]:
    """One line for each name that several modules of a wing have."""
    modules = defaultdict[tuple[str, str], list[Path]](list)
    for path in sorted((root / WINGS).rglob("*.py")):
        place = path.relative_to(root / WINGS)
        named_after = any(place.is_relative_to(room) for room in BY_SUBJECT)
        if path.stem not in IN_EVERY_ROOM and not named_after and len(place.parts) > 1:
            modules[place.parts[0], path.stem.strip("_")].append(place)
    for (wing, stem), places in modules.items():
        if len(places) > 1 and not all(_is_plugin(root / WINGS / place) for place in places):
            yield f'{wing}: {len(places)} modules are called "{stem}": {", ".join(map(str, places))}'


def _is_plugin(path: Path) -> bool:
    return not path.stem.startswith("_") and (path.parent / "_registry.py").exists()


def repeated_headwords(root: Path) -> Iterator[str]:
    """One line for each headword that has several rows of the glossary."""
    rows = re.findall(r"^\| (.+?) \|", (root / GLOSSARY).read_text(encoding="utf-8"), re.MULTILINE)
    words = Counter(word.strip() for row in rows for word in re.sub(r"\(.*?\)", "", row).split(","))
    for word, number in words.items():
        if number > 1:
            yield f'{GLOSSARY}: "{word}" has {number} rows'


def main(asked: list[str]) -> int:
    """Print the complaints; 1 if there are any."""
    root = Path(asked[0]) if asked else ROOT
    found = [*empty_names(root), *shared_stems(root), *repeated_headwords(root)]
    print("\n".join(found)) if found else None
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
