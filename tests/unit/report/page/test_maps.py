# SPDX-License-Identifier: Apache-2.0
"""Reasons in the cells of a map."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from quiclab.report.page.maps import with_reasons

CELL: dict[str, Any] = {
    "kind": "main", "other_arm": "h3", "path_title": "a & b", "workload_title": "1 MB", "why": "",
    "cell_text": "inconclusive", "conclusion": "undecided", "interval_low_pct": -3.14, "interval_high_pct": 4.0,
}  # fmt: skip


def _map(name: str, text: str) -> dict[str, Any]:
    """A map of one cell."""
    return {"data": [{"x": ["1 MB"], "y": [name], "text": [[text]]}], "layout": {"height": 200, "title": {"y": 0.25}}}


def text_of(**changes: Any) -> str:
    """Text in the one cell of a map."""
    cell = CELL | changes
    spec = _map("a &amp; b", cell["cell_text"])
    ((spec,)) = with_reasons([spec], pl.DataFrame([cell]))
    return str(spec["data"][0]["text"][0][0])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"why": "Too few pairs: 3 cannot show any difference at 0.05."}, "too few<br>pairs"),
        ({"why": "The <b> and the differences within pairs point apart."}, "the &lt;b&gt;<br>and the"),
        ({}, "−3.1\u00a0%\u00a0…<br>+4.0\u00a0%"),
    ],
)
def test_a_cell_without_an_answer_says_why(changes: dict[str, Any], reason: str) -> None:
    """Lines fit a cell on a phone."""
    found = text_of(**changes)
    assert found.startswith("inconclusive<br><span")
    assert reason in found


@pytest.mark.parametrize(
    "changes",
    [
        {"cell_text": "+12.0 %", "conclusion": "different"},
        {"cell_text": "", "why": ""},
        {"interval_low_pct": None},
        {"cell_text": "not judged", "conclusion": "not judged", "why": "Disturbed: 3 of 7 pairs count."},
    ],
)
def test_other_cells_stay_as_they_are(changes: dict[str, Any]) -> None:
    """A number needs no reason; nor does a cell of which nothing more is known."""
    assert text_of(**changes) == (CELL | changes)["cell_text"]


def test_long_names_of_rows_take_several_lines() -> None:
    """Cells need the width on a phone."""
    cell = CELL | {"path_title": "10 Mbit/s, 20 ms, 1 % loss"}
    spec = _map(cell["path_title"], "inconclusive")
    ((spec,)) = with_reasons([spec], pl.DataFrame([cell]))
    assert spec["data"][0]["y"] == ["10\u00a0Mbit/s, 20\u00a0ms,<br>1\u00a0%\u00a0loss"]
    assert "…" in spec["data"][0]["text"][0][0]


@pytest.mark.parametrize(
    ("word", "lines"), [("−0.3 %, small", "−0.3 %,<br>small"), ("median equivalent", "median<br>equivalent")]
)
def test_long_words_take_two_lines(word: str, lines: str) -> None:
    """A cell of three on a phone has room for ten characters."""
    assert text_of(cell_text=word, conclusion="alike") == lines


def test_a_map_has_room_for_the_lines_of_its_cells() -> None:
    """Width follows the words, height their lines where a row has too few; what stands below stays."""
    cell = CELL | {"why": "Too few pairs: 3 cannot show any difference at 0.05."}
    ((spec,)) = with_reasons([_map("a &amp; b", "+24.0 %, inconclusive")], pl.DataFrame([cell]))
    layout = spec["layout"]
    assert layout["height"] == 200 + 4 * 16 + 10 - 58
    assert layout["title"]["y"] * layout["height"] == pytest.approx(0.25 * 200)
    assert layout["meta"]["least_px"] >= 7 * (len("inconclusive") + len("a & b"))
