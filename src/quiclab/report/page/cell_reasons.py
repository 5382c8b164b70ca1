# SPDX-License-Identifier: Apache-2.0
"""The reason why a cell of a map has no answer, in the cell itself: the head of the sentence that stands below, or the
interval that leaves it open."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any

import polars as pl

from quiclab.compare.model import Conclusion
from quiclab.model import number_text
from quiclab.report import figures

_LINE, _NAME = 10, 17
"""Characters of a line: in a cell of three on a phone, and before it."""


def with_reasons(maps: list[dict[str, Any]], differences: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the maps with a reason below the word of every cell that has one, and with names of rows that leave room
    for cells on a phone; `maps` are in the order of the arms."""
    if not maps:
        return []
    arms = differences.filter(pl.col("kind") == "main").group_by("other_arm", maintain_order=True)
    for spec, (_, arm) in zip(maps, arms, strict=True):
        reasons = {
            (figures.text(cell["path_title"]), figures.text(cell["workload_title"])): _reason(cell)
            for cell in arm.iter_rows(named=True)
        }
        for trace in spec["data"]:
            words = trace["text"]
            trace["text"] = [
                [_told(words[y][x], reasons.get((row, column), "")) for x, column in enumerate(trace["x"])]
                for y, row in enumerate(trace["y"])
            ]
            trace["y"] = [_lines(row) for row in trace["y"]]
    return maps


def _lines(name: str) -> str:
    """Name of a row in lines: it is broken after commas alone, so that `1 % loss` stays together."""
    parts = name.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", ")
    return "<br>".join(textwrap.wrap(parts, _NAME, break_long_words=False, break_on_hyphens=False)) or name


def _told(word: str | None, reason: str) -> str | None:
    """Words of a cell in lines that fit a phone, with the reason below them."""
    for at, broken in ((", small", ",<br>small"), (", not", ",<br>not"), ("median alike", "median<br>alike")):
        word = word and word.replace(at, broken)
    return f"{word}<br><span style='font-size:10px'>{reason}</span>" if word and reason else word


def _reason(cell: Mapping[str, Any]) -> str:
    """Lines of a few words: `too few<br>pairs` for `Too few pairs: 3 cannot show …`."""
    if cell["conclusion"] == Conclusion.NOT_JUDGED.value:
        return ""  # its number stands there, and the word
    head = re.split(r"[:.;]", cell["why"], maxsplit=1)[0]
    low, high = cell["interval_low_pct"], cell["interval_high_pct"]
    if not head and cell["cell_text"] == "undecided" and None not in (low, high):
        ends = (number_text.percent(end).replace(" ", "\N{NO-BREAK SPACE}") for end in (low, high))
        head = "\N{NO-BREAK SPACE}… ".join(ends)
    lines = textwrap.wrap(head[:1].lower() + head[1:], _LINE, max_lines=3, placeholder=" …")
    return "<br>".join(map(figures.text, lines))
