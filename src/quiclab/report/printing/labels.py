# SPDX-License-Identifier: Apache-2.0
"""Labels of figures: the few tags that they have, and the width of their letters."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from quiclab.model.errors import SpecError

INSTEAD = "write it as .html, a page that a browser draws"
_TAG = re.compile(r"<(/?)(b|br|span)\b([^<>]*)>")
_WORD = re.compile(r"(?:[^ ]|(?<=[0-9]) (?=[%A-Za-zµ]))+ ?| ")
"""Letters up to where a line may end: a number and its unit stay together."""
_COLOUR = re.compile(r"color:\s*([#\w]+)")
_SIZE = re.compile(r"font-size:\s*([0-9.]+)px")
LINE = 1.3
"""Distance of two lines, as a multiple of the size of their letters."""
ASCENT, DESCENT = 0.95, 0.35
"""Parts of a line above and below the foot of its letters, which together are `LINE`."""


@dataclass(frozen=True)
class Run:
    """Letters of one look."""

    text: str
    size_px: float
    colour: str
    bold: bool = False

    @property
    def width_px(self) -> float:
        """Room that the letters take."""
        return self.size_px * sum(_advance(letter, self.bold) for letter in self.text)


@dataclass(frozen=True)
class Label:
    """Lines of letters."""

    lines: tuple[tuple[Run, ...], ...]

    @property
    def width_px(self) -> float:
        """Width of the widest line."""
        return max((line_width_px(line) for line in self.lines), default=0.0)

    @property
    def height_px(self) -> float:
        """Height of all lines."""
        return sum(map(line_height_px, self.lines))

    @property
    def text(self) -> str:
        """The letters alone."""
        return " ".join("".join(run.text for run in line) for line in self.lines).strip()

    def wrapped(self, width_px: float) -> Label:
        """The label with lines that are longer broken at spaces."""
        return Label(tuple(part for line in self.lines for part in _broken(line, width_px)))


def line_width_px(line: Sequence[Run]) -> float:
    """Room that a line takes across."""
    return sum(run.width_px for run in line)


def line_height_px(line: Sequence[Run]) -> float:
    """Room that a line takes down."""
    return LINE * max((run.size_px for run in line), default=0.0)


def label(markup: object, size_px: float, colour: str) -> Label:
    """Read a label of plotly's. Raises SpecError for a letter or a tag that no picture can have."""
    lines: list[list[Run]] = [[]]
    looks = [Run("", size_px, colour)]
    at, text = 0, str(markup)
    for tag in _TAG.finditer(text):
        _append(lines[-1], looks[-1], text[at : tag.start()])
        at = tag.end()
        closes, name, style = tag.groups()
        if name == "br":
            lines.append([])
        elif closes:
            looks = looks[:-1] or looks
        else:
            looks.append(_styled(looks[-1], name, style))
    _append(lines[-1], looks[-1], text[at:])
    return Label(tuple(tuple(line) or (Run("", size_px, colour),) for line in lines))


def _styled(around: Run, name: str, style: str) -> Run:
    if name == "b":
        return replace(around, bold=True)
    colour, size = _COLOUR.search(style), _SIZE.search(style)
    return replace(
        around,
        colour=colour[1] if colour else around.colour,
        size_px=float(size[1]) if size else around.size_px,
    )


def _append(line: list[Run], look: Run, markup: str) -> None:
    if re.search(r"<[a-z/]", markup):
        raise SpecError(f"no picture can have this in a label: {markup.strip()[:60]}", INSTEAD)
    text = re.sub(r"[ \t\n]+", " ", html.unescape(markup))
    if not line:
        text = text.lstrip(" ")
    if text:
        missing = next((letter for letter in text if not _has(letter, look.bold)), None)
        if missing is not None:
            told = f"the font of pictures lacks {missing!r} (U+{ord(missing):04X}), which {text.strip()[:60]!r} has"
            raise SpecError(told, INSTEAD)
        line.append(replace(look, text=text))


def _broken(line: tuple[Run, ...], width_px: float) -> list[tuple[Run, ...]]:
    if line_width_px(line) <= width_px:
        return [line]
    words = [replace(run, text=word) for run in line for word in _WORD.findall(run.text)]
    lines: list[list[Run]] = [[]]
    for word in words:
        room = width_px - line_width_px(lines[-1])
        if lines[-1] and lines[-1][-1].text.endswith(" ") and replace(word, text=word.text.rstrip()).width_px > room:
            lines.append([])
        lines[-1].append(word)
    return [_joined(each) for each in lines]


def _joined(words: list[Run]) -> tuple[Run, ...]:
    """Words of one look as one run again, so that a search finds them together."""
    runs: list[Run] = []
    for word in [*words[:-1], *(replace(word, text=word.text.rstrip(" ")) for word in words[-1:])]:
        if runs and replace(runs[-1], text="") == replace(word, text=""):
            runs[-1] = replace(word, text=runs[-1].text + word.text)
        else:
            runs.append(word)
    return tuple(runs)


@cache
def _font(*, bold: bool) -> Any:
    from matplotlib import font_manager  # imported late: it takes a while, and the report has no pictures
    from matplotlib.ft2font import FT2Font

    wanted = font_manager.FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")
    font = FT2Font(font_manager.findfont(wanted))  # one of our own: matplotlib changes the size of its own
    font.set_size(100, 72)
    return font


@cache
def _has(letter: str, bold: bool) -> bool:
    return bool(_font(bold=bold).get_char_index(ord(letter)))


@cache
def _advance(letter: str, bold: bool) -> float:
    """Width of a letter of size one."""
    from matplotlib.ft2font import LoadFlags

    width: float = _font(bold=bold).load_char(ord(letter), flags=LoadFlags.NO_HINTING).linearHoriAdvance
    return width / 65536 / 100
