# SPDX-License-Identifier: Apache-2.0
"""The maps of differences on the page, what a click on a cell opens, and the reason why a cell has no answer."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from quiclab.compare.model import Conclusion
from quiclab.model import number_text
from quiclab.model.tables import Row
from quiclab.report import figures
from quiclab.report.figures._canvas import Spec
from quiclab.report.page.column_packing import packed
from quiclab.report.page.pairs import Cell


@dataclass(frozen=True)
class Map:
    """The map of one arm against its baseline."""

    title: str
    """Arms of the map, and their programs where these vary from map to map; empty where there is one map."""
    spec: Spec


def titled_maps(differences: pl.DataFrame, cells: list[Cell], titles: Mapping[str, str]) -> list[Map]:
    """Return a map for each arm that is compared with a baseline, with the reasons of cells without an answer; `titles`
    are by arm."""
    specs = with_reasons(maps(differences, cells), differences)
    if len(specs) < 2:
        return [Map("", spec) for spec in specs]
    arms = differences.filter(pl.col("kind") == "main")["other_arm"].unique(maintain_order=True)
    return [Map(titles.get(arm, arm), spec) for arm, spec in zip(arms, specs, strict=True)]


def maps(differences: pl.DataFrame, cells: list[Cell]) -> list[dict[str, object]]:
    """Return a map for each arm that is compared with the baseline.

    Each has the pages of its cells' pairs.
    """
    if not differences.height:
        return []
    opens = {cell.cell_id: cell.pairs[0].file for cell in cells}
    drawn = []
    for _, arm in differences.filter(pl.col("kind") == "main").group_by("other_arm", maintain_order=True):
        spec = packed(figures.spec(figures.DifferenceMap().draw(arm)))
        rows, columns = (arm[name].unique(maintain_order=True) for name in ("path_title", "workload_title"))
        places = {(cell["path_title"], cell["workload_title"]): cell for cell in arm.iter_rows(named=True)}
        grid = [[places.get((row, column), {}) for column in columns] for row in rows]
        meta = {
            "opens": [[opens.get(cell.get("cell_id", "")) for cell in row] for row in grid],
        }
        for trace in spec["data"]:
            trace["meta"] = meta
        drawn.append(spec)
    return drawn


# The reason why a cell of a map has no answer, in the cell itself: the head of the sentence that stands below, or the
# interval that leaves it open.
_LINE, _NAME = 10, 17
"""Characters of a line: in a cell of three on a phone, and before it."""


def with_reasons(maps: list[Spec], differences: pl.DataFrame) -> list[Spec]:
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
                [_broken_lines(words[y][x], reasons.get((row, column), "")) for x, column in enumerate(trace["x"])]
                for y, row in enumerate(trace["y"])
            ]
            trace["y"] = [_lines(row) for row in trace["y"]]
        figures.fit_map(spec)
    return maps


def _lines(name: str) -> str:
    """Name of a row in lines: it is broken after commas alone, so that `1 % loss` stays together."""
    parts = name.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", ")
    return "<br>".join(textwrap.wrap(parts, _NAME, break_long_words=False, break_on_hyphens=False)) or name


def _broken_lines(word: str | None, reason: str) -> str | None:
    """Words of a cell in lines that fit a phone, with the reason below them."""
    word = word and word.replace(", ", ",<br>").replace("median equivalent", "median<br>equivalent")
    return f"{word}<br><span style='font-size:10px'>{reason}</span>" if word and reason else word


def _reason(cell: Row) -> str:
    """Lines of a few words: `too few<br>pairs` for `Too few pairs: 3 cannot show …`."""
    if cell["conclusion"] == Conclusion.NOT_JUDGED.value:
        return ""  # its number stands there, and the word
    head = re.split(r"[:.;]", cell["why"], maxsplit=1)[0]
    low, high = cell["interval_low_pct"], cell["interval_high_pct"]
    if not head and cell["conclusion"] == Conclusion.UNDECIDED.value and None not in (low, high):
        ends = (number_text.percent(end).replace(" ", "\N{NO-BREAK SPACE}") for end in (low, high))
        head = "\N{NO-BREAK SPACE}… ".join(ends)
    lines = textwrap.wrap(head[:1].lower() + head[1:], _LINE, max_lines=3, placeholder=" …")
    return "<br>".join(map(figures.text, lines))
