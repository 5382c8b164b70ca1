# SPDX-License-Identifier: Apache-2.0
"""Line numbers of keys: traps by hand, then random documents against what tomllib reads."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from quiclab.spec.lines import KeyPath, line_index, line_of


def every_path(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """All key paths of a document as tomllib reads it, with their values."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from every_path(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from every_path(inner, (*path, number))


TRICKY = '''\
# a = 1
title = "x = 1 # no comment"
"quoted key" = 'single # quote'
text = """
fake = 1
[fake]
\\""" not the end
ends with two quotes"""""
raw = \'\'\'
[[fake]]
'\'\'\'\'
list = [ # a comment with ]
  1,
  "]", [2,
  3], # , [
]
a.b."c.d" = 7
point = {x = 1, y = {z = [1, "}"]}, "k=l" = 2}
when = 1979-05-27 07:32:00
[table] # comment
key = "v"
  [table.'sub table']
  key=1
[[array]]
name = "first"
  [array.inner]
  deep = true
  [[array.list]]
  k = 1
  [[array.list]]
  k = 2
[[ array ]]
name = "second"
  [[array.list]]
  k = 3
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("quoted key",), 3),
        (("text",), 4),
        (("raw",), 9),
        (("list",), 12),
        (("list", 0), 13),
        (("list", 1), 14),
        (("list", 2, 0), 14),
        (("list", 2, 1), 15),
        (("a",), 17),
        (("a", "b", "c.d"), 17),
        (("point", "y", "z", 1), 18),
        (("point", "k=l"), 18),
        (("when",), 19),
        (("table",), 20),
        (("table", "sub table"), 22),
        (("table", "sub table", "key"), 23),
        (("array", 0), 24),
        (("array", 0, "inner", "deep"), 27),
        (("array", 0, "list", 1, "k"), 31),
        (("array", 1), 32),
        (("array", 1, "name"), 33),
        (("array", 1, "list", 0, "k"), 35),
    ],
)
def test_strings_comments_and_brackets_do_not_fool_it(path: KeyPath, line: int) -> None:
    """Every construct that looks like another one."""
    tomllib.loads(TRICKY)
    assert line_index(TRICKY)[path] == line


def test_it_finds_exactly_the_keys_that_tomllib_reads() -> None:
    """Nothing is invented and nothing is missed."""
    assert set(line_index(TRICKY)) == {path for path, _ in every_path(tomllib.loads(TRICKY))}


def test_a_path_that_is_not_written_has_the_line_of_what_encloses_it() -> None:
    """A missing key is shown at its table."""
    index = line_index("[a]\n\n[a.b]\nc = 1\n")
    assert line_of(index, ("a", "b", "missing", 3, "x")) == 3
    assert line_of(index, ("nowhere",)) == 1


def test_a_table_that_is_written_after_its_inner_one_has_its_own_line() -> None:
    """[a.b] may stand before [a]."""
    assert line_index("[a.b]\nx = 1\n[a]\ny = 2\n")[("a",)] == 3


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "a = 1", "a = 1\r\n[b]\r\nc = 2\r\n", "a=[]\nb={}"])
def test_small_documents(text: str) -> None:
    """Empty files, missing final newlines and carriage returns."""
    assert set(line_index(text)) == {path for path, _ in every_path(tomllib.loads(text))}


class Writer:
    """Writes random TOML whose numbers are all different, so that each number's line is known."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.text = ""
        self.number = 100_000

    def key(self) -> str:
        self.number += 1
        name = f"k{self.number}"
        return self.draw.choice([name, f'"{name} ="', f"'{name} ['", f"{name}.x", f'{name} . "y.#" . z'])

    def blank(self) -> str:
        return self.draw.choice(["", " ", "\t"])

    def lines(self, inline: bool) -> str:
        return "" if inline else self.draw.choice(["", " ", "\n", " # ] } = [[x]]\n", "\n\n  "])

    def value(self, depth: int, *, inline: bool = False) -> str:
        kind = self.draw.randrange(8 if depth < 3 else 3)
        if kind < 3:
            self.number += 1
            return str(self.number)
        if kind == 3:
            return self.draw.choice(['"a # \\" [b"', "'c = \\'", '""', "1979-05-27 07:32:00Z", "true", "-1.5e3"])
        if kind == 4 and not inline:
            return self.draw.choice(['"""\n[x]\ny = 1\n\\""" """', "'''\n[[x]]\n# \"\n'''", '"""a""""', "''''''"])
        if kind < 7:
            inner = [
                f"{self.lines(inline)}{self.value(depth + 1, inline=inline)}" for _ in range(self.draw.randrange(4))
            ]
            comma = "," + self.lines(inline) if inner and self.draw.random() < 0.5 else self.lines(inline)
            return "[" + ",".join(inner) + comma + "]"
        pairs = [
            f"{self.blank()}{self.key()} = {self.value(depth + 1, inline=True)}" for _ in range(self.draw.randrange(3))
        ]
        return "{" + ",".join(pairs) + " }"

    def pairs(self) -> None:
        for _ in range(self.draw.randrange(4)):
            self.text += f"{self.blank()}{self.key()}{self.blank()}={self.blank()}{self.value(0)}"
            self.text += self.draw.choice(["\n", " # [c]\n", "\n\n# x = 1\n"])

    def document(self) -> str:
        self.pairs()
        for table in range(self.draw.randrange(5)):
            if self.draw.random() < 0.5:
                self.text += f"[t{table}.'in ]ner']{self.blank()}\n"
                self.pairs()
                continue
            for _ in range(self.draw.randrange(1, 4)):
                self.text += f"[[{self.blank()}a{table} ]] # [[x]]\n"
                self.pairs()
                if self.draw.random() < 0.5:
                    self.text += f"[a{table}.sub]\n"
                    self.pairs()
                for _ in range(self.draw.randrange(3)):
                    self.text += f'[[a{table}."l i s t"]]\n'
                    self.pairs()
        return self.text


@pytest.mark.parametrize("seed", range(300))
def test_random_documents(seed: int) -> None:
    """The keys are those that tomllib reads, and each number stands in the line that its path is said to have."""
    text = Writer(seed).document()
    document = tomllib.loads(text)
    index = line_index(text)
    assert set(index) == {path for path, _ in every_path(document)}
    lines = text.split("\n")
    for path, value in every_path(document):
        if type(value) is int:
            assert str(value) in lines[index[path] - 1], (path, text)
