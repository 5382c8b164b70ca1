# SPDX-License-Identifier: Apache-2.0
"""Lines of a TOML text: key path → line.

`tomllib` forgets lines. This scanner walks text that `tomllib` has already accepted, so it only has to know where
strings, comments and brackets end, and never has to judge.
"""

from __future__ import annotations

import bisect
import re
import tomllib

KeyPath = tuple[str | int, ...]
"""Keys from the top of the document down; elements of arrays are numbered from 0."""

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'  # up to two quotes may stand directly before the closing three
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'",
    re.DOTALL,
)
_OTHER_VALUE = re.compile(r"[^,\]}\n#]*")


def line_index(text: str) -> dict[KeyPath, int]:
    """Line (from 1) of every key, table and array element of a valid TOML document; the document itself is `()`."""
    return _Scanner(text).scan()


def line_of(index: dict[KeyPath, int], path: KeyPath) -> int:
    """Line of a key path, or of the nearest enclosing one that is written down."""
    while path not in index:
        path = path[:-1]
    return index[path]


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.newlines = [match.start() for match in re.finditer("\n", text)]
        self.lines: dict[KeyPath, int] = {(): 1}
        self.last_element: dict[KeyPath, int] = {}
        """Element of each array of tables that headers now refer to, by its number."""

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self.blank()
        while self.at < len(self.text):
            if self.text.startswith("[[", self.at):
                table = self.array_header()
            elif self.text[self.at] == "[":
                table = self.table_header()
            else:
                self.pair(table)
            self.blank()
        return self.lines

    def line(self) -> int:
        return bisect.bisect_left(self.newlines, self.at) + 1

    def blank(self) -> None:
        self.at = self.end_of(_BLANK)

    def end_of(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        return self.at if match is None else match.end()

    def skip(self, text: str) -> bool:
        """Step over `text` and the blanks behind it, if it is next."""
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        self.blank()
        return True

    def key(self) -> list[str]:
        """A key, dotted or not, and the blanks behind it."""
        parts = []
        while True:
            start, quoted = self.at, self.text[self.at] in "\"'"
            self.at = self.end_of(_STRING if quoted else _BARE_KEY)
            part = self.text[start : self.at]
            parts.append(str(tomllib.loads(f"key = {part}")["key"]) if quoted else part)
            self.blank()
            if not self.skip("."):
                return parts

    def key_path(self, parent: KeyPath, keys: list[str], line: int) -> KeyPath:
        """The path of `keys` below `parent`; tables on the way that have no line of their own get this one."""
        path = parent
        for key in keys:
            path = (*path, key)
            self.lines.setdefault(path, line)
            if path in self.last_element:
                path = (*path, self.last_element[path])
        return path

    def table_header(self) -> KeyPath:
        line = self.line()
        self.skip("[")
        path = self.key_path((), self.key(), line)
        self.at += 1
        self.lines[path] = line
        return path

    def array_header(self) -> KeyPath:
        line = self.line()
        self.skip("[[")
        *outer, name = self.key()
        self.at += 2
        array = (*self.key_path((), outer, line), name)
        self.lines.setdefault(array, line)
        self.last_element[array] = self.last_element.get(array, -1) + 1
        path = (*array, self.last_element[array])
        self.lines[path] = line
        return path

    def pair(self, table: KeyPath) -> None:
        path = self.key_path(table, self.key(), self.line())
        self.skip("=")
        self.value(path)

    def value(self, path: KeyPath) -> None:
        self.lines.setdefault(path, self.line())
        if self.skip("["):
            element = 0
            while not self.skip_close("]"):
                self.value((*path, element))
                self.blank()
                self.skip(",")
                element += 1
        elif self.skip("{"):
            while not self.skip_close("}"):
                self.pair(path)
                self.blank()
                self.skip(",")
        else:
            self.at = self.end_of(_STRING if self.text[self.at] in "\"'" else _OTHER_VALUE)

    def skip_close(self, bracket: str) -> bool:
        """Step over a closing bracket only: what follows may be the next line's key."""
        if self.text[self.at] != bracket:
            return False
        self.at += 1
        return True
