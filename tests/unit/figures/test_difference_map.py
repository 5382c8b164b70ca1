# SPDX-License-Identifier: Apache-2.0
"""The map of differences."""

from __future__ import annotations

import polars as pl
import pytest

from quiclab.figures import DifferenceMap


def cell(network: str, size: str, difference_pct: float | None, significant: bool, text: str) -> dict[str, object]:
    """One row of the figure's table."""
    return {
        "path_title": network,
        "workload_title": size,
        "baseline_arm": "h2",
        "other_arm": "h3",
        "difference_pct": difference_pct,
        "significant": significant,
        "cell_text": text,
        "details": f"{network}, {size}\nall numbers",
        "faster": "faster",
        "alpha": 0.05,
    }


CELLS = pl.DataFrame(
    [
        cell("clean", "1 MB", 0.4, False, ""),
        cell("clean", "5 MB", 1.0, False, "undecided"),
        cell("<b>loss</b>", "1 MB", 21.6, True, "+21.6 %"),
        cell("<b>loss</b>", "5 MB", None, True, "h2 fails"),
    ]
)


def test_only_significant_cells_have_a_colour_and_a_number() -> None:
    """The coloured layer is empty where the test does not decide; the number stands only where it does."""
    blank, coloured = DifferenceMap().draw(CELLS).data
    assert [list(row) for row in coloured.z] == [[None, None], [21.6, None]]
    assert [list(row) for row in blank.z] == [[0, 0], [None, 0]]
    assert blank.text[0][0] == ""
    assert (blank.text[0][1], blank.text[1][1]) == ("undecided", "h2 fails")


def test_hovering_shows_all_numbers_of_every_cell() -> None:
    """The details hang on every cell, blank ones too."""
    coloured = DifferenceMap().draw(CELLS).data[1]
    assert coloured.customdata[0][0] == "clean, 1 MB<br>all numbers"
    assert coloured.customdata[1][1].endswith("all numbers")


def test_the_sign_convention_stands_on_the_figure() -> None:
    """A copy of the figure alone still says which colour is whose."""
    title = DifferenceMap().draw(CELLS).layout.title.text
    assert "+, red: h3 is faster" in title
    assert "−, blue: h2 is faster" in title
    assert "not significant at 0.05" in title


def test_red_is_positive_and_the_scale_is_symmetric() -> None:
    """Zero lies in the middle; the upper end is redder than blue."""
    coloured = DifferenceMap().draw(CELLS).data[1]
    assert coloured.zmin == -coloured.zmax
    red, blue = (int(coloured.colorscale[-1][1][i : i + 2], 16) for i in (1, 5))
    assert red > blue


@pytest.mark.parametrize("names", ["y", "x"])
def test_markup_in_names_is_escaped(names: str) -> None:
    """Plotly reads a subset of HTML, so a name with markup must reach it escaped."""
    frame = CELLS.with_columns(workload_title=pl.lit("<i>1 MB</i>"))
    assert all("<" not in name for name in DifferenceMap().draw(frame).data[0][names])
