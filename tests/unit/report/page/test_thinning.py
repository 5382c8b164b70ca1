# SPDX-License-Identifier: Apache-2.0
"""Thinned curves look like the whole ones."""

from __future__ import annotations

import numpy as np

from quiclab.report.page.standalone_figure import THINNED_FROM, kept, thinned


def test_a_single_spike_among_a_million_points_stays() -> None:
    """The least and the greatest of each pixel are kept, and both ends."""
    x, y = np.arange(1_000_000.0), np.sin(np.arange(1_000_000.0))
    y[123_456], y[654_321] = 99.0, -99.0
    places = kept(x, y)
    assert {0, 123_456, 654_321, 999_999} <= set(places)
    assert len(places) <= 5 * 2000
    assert places == sorted(places)


def test_a_gap_stays_a_gap() -> None:
    """An unknown value breaks the line where it did."""
    y = np.ones(10_000)
    y[5_000] = np.nan
    assert 5_000 in kept(np.arange(10_000.0), y)


def test_a_line_that_turns_back_is_left_whole() -> None:
    """Without rising times there are no pixels to sort points into."""
    assert len(kept(np.array([0.0, 2.0, 1.0]), np.zeros(3))) == 3


def test_columns_stay_together() -> None:
    """What belongs to a point stays with it; marks without lines and short lines are untouched."""
    x = [float(i) for i in range(THINNED_FROM * 5)]
    line = {"type": "scatter", "mode": "lines", "x": x, "y": list(x), "customdata": list(x)}
    marks = {"type": "scatter", "mode": "markers", "x": x, "y": list(x)}
    drawn = thinned({"data": [line, marks]})["data"]
    assert drawn[0]["x"] == drawn[0]["y"] == drawn[0]["customdata"]
    assert len(drawn[0]["x"]) < len(x) == len(drawn[1]["x"])
