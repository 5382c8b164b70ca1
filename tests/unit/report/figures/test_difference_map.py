# SPDX-License-Identifier: Apache-2.0
"""The map of differences."""

from __future__ import annotations

import polars as pl
import pytest

from quiclab.report.figures import DifferenceMap


def cell(network: str, size: str, difference_pct: float | None, conclusion: str, text: str) -> dict[str, object]:
    """One row of the figure's table."""
    return {
        "path_title": network,
        "workload_title": size,
        "baseline_arm": "h2",
        "other_arm": "h3",
        "difference_pct": difference_pct,
        "conclusion": conclusion,
        "significant": conclusion.startswith("different"),
        "matters_pct": 2.0,
        "better_sign": "−",
        "cell_text": text,
        "details": f"{network}, {size}\nall numbers",
        "faster": "faster",
        "alpha": 0.05,
    }


CELLS = pl.DataFrame(
    [
        cell("clean", "1 MB", 0.4, "alike", "equivalent"),
        cell("clean", "5 MB", 1.0, "undecided", "inconclusive"),
        cell("<b>loss</b>", "1 MB", -21.6, "different", "−21.6 %"),
        cell("<b>loss</b>", "5 MB", None, "different", "h2 fails"),
        cell("far", "1 MB", 0.4, "different, but by less than matters", "+0.4 %, small"),
        cell("far", "5 MB", -1.4, "different, undecided whether it matters", "−1.4 %, small?"),
    ]
)


def test_conclusions_are_told_apart_by_colour_and_word() -> None:
    """Coloured only where a difference matters or perhaps does; green where none matters; grey where it is not known;
    a difference that is too small keeps its number and is no win."""
    plain, coloured = DifferenceMap().draw(CELLS).data
    assert [list(row) for row in coloured.z] == [[None, None], [21.6, None], [None, 1.4]]
    assert [list(row) for row in plain.z] == [[1, 0], [None, 0], [1, None]]
    assert plain.colorscale[0][1] != plain.colorscale[1][1]
    assert list(plain.text[0]) == ["equivalent", "inconclusive"]
    assert (plain.text[1][1], plain.text[2][0]) == ("h2 fails", "+0.4 %, small")
    assert coloured.text[2][1] == "<b><span style='color:#000000'>−1.4 %, small?</span></b>"
    assert "color:#ffffff" in coloured.text[1][0]  # white on the strongest colour


def test_hovering_shows_all_numbers_of_every_cell() -> None:
    """The details hang on every cell, blank ones too."""
    coloured = DifferenceMap().draw(CELLS).data[1]
    assert coloured.customdata[0][0] == "clean, 1 MB<br>all numbers"
    assert coloured.customdata[1][1].endswith("all numbers")


def test_the_sign_convention_stands_on_the_figure() -> None:
    """A copy of the figure alone still says which colour is whose, and what each word means that is on it."""
    title = DifferenceMap().draw(CELLS).layout.title.text
    assert "−, orange: h3 is faster" in title
    assert "+, blue: h2 is faster" in title
    assert "(−12 %: 12 % less time)" in title
    assert "green: no difference of 2 % or more" in title
    assert "small: a difference, but less than 2 %" in title
    assert "small?: a difference, perhaps less than 2 %" in title
    assert "grey: inconclusive, these trials cannot tell whether there is one of 2 %" in title
    assert "median alike" not in title
    few = DifferenceMap().draw(CELLS.filter(conclusion="different")).layout.title.text
    assert not any(word in few for word in ("green", "grey", "small"))


def test_red_is_the_other_arms_and_the_scale_is_symmetric() -> None:
    """Zero lies in the middle; the upper end is redder than blue, and holds less of a time, more of a rate."""
    coloured = DifferenceMap().draw(CELLS).data[1]
    assert coloured.z[1][0] == 21.6
    assert DifferenceMap().draw(CELLS.with_columns(better_sign=pl.lit("+"))).data[1].z[1][0] == -21.6
    assert coloured.zmin == -coloured.zmax
    red, blue = (int(coloured.colorscale[-1][1][i : i + 2], 16) for i in (1, 5))
    assert red > blue


@pytest.mark.parametrize("names", ["y", "x"])
def test_markup_in_names_is_escaped(names: str) -> None:
    """Plotly reads a subset of HTML, so a name with markup must reach it escaped."""
    frame = CELLS.with_columns(workload_title=pl.lit("<i>1 MB</i>"))
    assert all("<" not in name for name in DifferenceMap().draw(frame).data[0][names])
