# SPDX-License-Identifier: Apache-2.0
"""Long names in lines: of arms at the heads of columns, of cells and networks in tables."""

from __future__ import annotations

import re

_PARTS = re.compile(r".+?(?:(?<=\w)[-_](?=\w)|/(?=\w{2})|\s+|$)")
"""Parts of a name, each with what ends it: a hyphen, a space, the slash of a cell; not that of `Mbit/s`."""


def name_lines(name: str, width: int) -> str:
    """Return a name in lines of at most `width` characters, broken behind hyphens, slashes and spaces; a word that is
    longer has a line of its own, whole."""
    lines = [""]
    for part in _PARTS.findall(name):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def longest_word(name: str) -> int:
    """Return the characters of the longest part of a name that is never broken."""
    return max((len(part.rstrip()) for part in _PARTS.findall(name)), default=0)


def whole_words(text: str, width: int) -> str:
    """Return a text that a table breaks at its spaces, in lines where a word of it would not fit into `width`."""
    return name_lines(text, width) if any(len(word) > width for word in text.split()) else text
