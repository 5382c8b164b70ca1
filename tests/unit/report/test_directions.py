# SPDX-License-Identifier: Apache-2.0
"""Every table with a signed difference says what the sign means: − is less, of a time faster, in per cent as in
milliseconds. And nothing on the page is told by a hue alone."""

from __future__ import annotations

import html
import io
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.builds.change import change
from quiclab.report.figures import FIGURES, Figure
from quiclab.report.figures._style import contrast
from quiclab.report.page.write import write_report
from quiclab.report.words.account import account_table, floor_table
from quiclab.report.words.change_text import HEADINGS, numbers
from quiclab.report.words.terminal import render
from quiclab.why.accounts import Waterfall, step_of

SIGNED = re.compile(r"^[+−]\d")
DIRECTION = re.compile(
    r"[+−] is \w|\([+−]\)|− less|−: (the arm has )?less|[+−]\d+ % (of|where)|\+1 is|\+ is more|positive"
)
"""Words that say what a sign means."""
LEAST_CONTRAST = 1.25


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with everything in it that a page tells of differences: two occasions are all that it lacks."""
    return write_study(tmp_path_factory.mktemp("study"), Shape())


@pytest.fixture(scope="module")
def page(study: Path) -> str:
    """The report of the study."""
    return Path(write_report(study)).read_text(encoding="utf-8")


def _texts(markup: str, tag: str) -> list[str]:
    found = re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", markup, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]*>", "", each)).strip() for each in found]


def _tables(page: str) -> Iterator[tuple[list[str], list[list[str]], str]]:
    """Headings, rows and the words before it, of each table."""
    for found in re.finditer(r"<table\b.*?</table>", page, re.DOTALL):
        head, _, body = found[0].partition("</thead>")
        before = page[max(0, found.start() - 6000) : found.start()]
        note = before[max(before.rfind("<h2"), before.rfind("<h3"), before.rfind("</table>"), 0) :]
        rows = [_texts(row, "td") for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)]
        yield _texts(head, "th"), rows, re.sub(r"<[^>]*>", "", note)


@pytest.mark.parametrize(
    "figure",
    [each for each in FIGURES if "difference" in " ".join(each.columns)],
    ids=lambda figure: type(figure).__name__,
)
def test_columns_of_data(figure: Figure) -> None:
    """A file of differences by a reader alone: its column says which way is minus."""
    told = [doc for name, doc in figure.columns.items() if name.startswith("difference")]
    assert told
    assert all(DIRECTION.search(each) for each in told), told


def test_tables_of_the_page(page: str) -> None:
    """The heading of the column has it, or that of the column before its interval, or the words above the table."""
    signed = 0
    for headings, rows, note in _tables(page):
        for at, heading in enumerate(headings):
            if not any(len(row) > at and SIGNED.match(row[at]) for row in rows):
                continue
            signed += 1
            told = " ".join((heading, headings[at - 1], note))
            assert DIRECTION.search(told), (heading, note[:300])
    assert signed >= 5


def test_tables_of_the_terminal(study: Path) -> None:
    """Each metric has one in the tables of a run and of a report."""
    printed = io.StringIO()
    render(analyse_study(study), Console(file=printed, width=100, color_system=None))
    lines = printed.getvalue().splitlines()
    (at,) = (number for number, line in enumerate(lines) if " − faster " in line)
    assert " difference " in lines[at - 1]
    assert any(re.search(r" [+−]\d", line) for line in lines[at + 1 :])


def test_tables_of_explain_and_of_compare(study: Path) -> None:
    """Times of the account say what they are longer by, wide or narrow; a change has the sign of NEW's value."""
    comparison = analyse_study(study).comparisons[0]
    total = step_of(None, *(_times(each) for each in (100.0, 110.0)), 0.95)
    waterfall = Waterfall(comparison, 6, 0, total, (replace(total),), (replace(total),), (), (0.0, 0.0))
    for table in (account_table(waterfall, 0.05), account_table(waterfall, 0.05, 40), floor_table(waterfall, 0.05)):
        assert any("− is faster" in _unfolded(column.header) for column in table.columns)
        assert any("+10.0" in str(cell) for cell in _cells(table))
    metric = analyse_study(study).metric
    found = change(("1 MB", "loss", "h3"), comparison.baseline, comparison.other, metric, 0.95, paired=True)
    told = dict(zip(HEADINGS, numbers(found, ()), strict=True))
    assert SIGNED.match(told["change, + is more"])


def _times(around: float) -> Any:
    import numpy as np

    return around + np.arange(6) / 10


def _unfolded(header: object) -> str:
    return " ".join(str(header).split())


def _cells(table: Table) -> list[object]:
    return [cell for column in table.columns for cell in column._cells]


def _specs(page: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, text in re.findall(r'<script type="application/json" id="([^"]+)">(.*?)</script>', page, re.DOTALL):
        spec = json.loads(text)
        if isinstance(spec, dict) and "data" in spec:
            yield name, spec


def _look(trace: dict[str, Any]) -> str:
    """Everything of a trace that a reader who sees no colours can tell it by, apart from where it lies."""
    marker, line = trace.get("marker") or {}, trace.get("line") or {}
    shape = (marker.get("symbol"), (marker.get("pattern") or {}).get("shape"), line.get("dash"))
    panel = (trace.get("xaxis"), trace.get("yaxis"), trace.get("type"), trace.get("mode"))
    return json.dumps([*shape, *panel, line.get("width")])


def _colour(trace: dict[str, Any]) -> str:
    marker, line = trace.get("marker") or {}, trace.get("line") or {}
    return json.dumps([marker.get("color"), line.get("color")])


def _words(trace: dict[str, Any]) -> set[str]:
    """Names beside or on its marks: of its rows, columns and bars."""
    values = itertools.chain.from_iterable(
        trace[axis] for axis in ("x", "y", "text") if isinstance(trace.get(axis), list)
    )
    return {each for each in values if isinstance(each, str) and each}


def _is_darker(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """True if two colours differ in lightness, too."""
    colours = [(each.get("marker") or {}).get("color") for each in (one, other)]
    if not all(isinstance(each, str) and re.fullmatch("#[0-9a-f]{6}", each) for each in colours):
        return False
    return contrast(*colours) >= LEAST_CONTRAST


def test_no_mark_of_a_figure_is_told_by_its_hue_alone(page: str) -> None:
    """Two of its traces in other colours have another shape, dash or pattern, other words or another lightness."""
    compared = 0
    for name, spec in _specs(page):
        traces = [each for each in spec["data"] if each.get("type") != "heatmap"]
        for one, other in itertools.combinations(traces, 2):
            if _colour(one) == _colour(other):
                continue
            compared += 1
            apart = _look(one) != _look(other) or (
                not _words(one) & _words(other) and bool(_words(one) or _words(other))
            )
            assert apart or _is_darker(one, other), (name, one.get("name"), other.get("name"))
        for each in spec["data"]:
            if each.get("type") == "heatmap":
                coloured = [cell for row in each["z"] for cell in row if cell is not None]
                assert not coloured or any(any(row) for row in each.get("text") or ()), name
    assert compared
