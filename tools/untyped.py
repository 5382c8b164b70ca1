# SPDX-License-Identifier: Apache-2.0
"""Count the lines that hold a mapping of anything, and fail where they are more than there were.

usage: untyped.py [ROOT]      the project, by default

A reader of `dict[str, Any]` learns its keys and types nowhere, and mypy checks none of them: what crosses a border is a
record of `model`, and an object that is only written or shown is `dict[str, object]`. The number goes down: a change
that makes it smaller writes it here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = Path("src", "quiclab")
MOST = 46
"""Lines that there are."""

UNTYPED = re.compile(r"\b(dict|Mapping)\[str, Any\]|\b(dict|Mapping)\[Any, Any\]")


def untyped_lines(root: Path) -> Iterator[str]:
    """One line for each line of a source that holds such a mapping, with its place."""
    for path in sorted((root / SOURCES).rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if UNTYPED.search(line):
                yield f"{path.relative_to(root)}:{number}: {line.strip()}"


def problem(number: int) -> str | None:
    """Sentence about a number of lines that is not the one that is declared; None where it is."""
    if number > MOST:
        return (
            f"{number} lines hold a mapping of anything, and there were {MOST}: read a record (model), or write object"
        )
    if number < MOST:
        return f"{number} lines hold a mapping of anything: write MOST = {number} into tools/untyped.py"
    return None


def main(arguments: list[str]) -> int:
    """Print every such line where their number is not the declared one; 1 then, else 0."""
    root = Path(arguments[0]) if arguments else ROOT
    found = list(untyped_lines(root))
    told = problem(len(found))
    if told is not None:
        print(*(found if len(found) > MOST else ()), told, sep="\n")
    return int(told is not None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
