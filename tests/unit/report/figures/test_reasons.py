# SPDX-License-Identifier: Apache-2.0
"""The waterfall of reasons, from steps that were written by hand."""

from __future__ import annotations

import polars as pl
import pytest
from unit.report.words.test_account import waterfall

from quiclab.report.figures import reason_name
from quiclab.report.figures.reasons import Reasons, steps_of


def test_bars_float_from_sum_to_sum_and_end_at_the_whole() -> None:
    """Each begins where the one before ends; what is small is one bar, and the last is the whole from 0."""
    rows = steps_of(waterfall(55.5, link_busy=74.0, set_up=-18.7, request=0.2), "cell", 0.05)
    assert [(row["reason"], row["from_ms"], row["difference_ms"]) for row in rows] == [
        ("handshake", 0.0, -18.7),
        ("transmitting", -18.7, 74.0),
        ("all else", pytest.approx(55.3), pytest.approx(0.2)),
        ("time to last byte", 0.0, 55.5),
    ]
    assert [row["shown_to_differ"] for row in rows] == [True, True, False, True]


def test_what_is_drawn_is_what_was_gathered() -> None:
    """Bases and lengths of the bars; the words of each stand above it; two cells have names of their own."""
    one = pl.DataFrame(steps_of(waterfall(55.5, link_busy=74.0, set_up=-18.5), "one", 0.05))
    figure = Reasons().draw(one)
    bars = {
        name: (base, x) for trace in figure.data for name, base, x in zip(trace.y, trace.base, trace.x, strict=True)
    }
    assert bars[reason_name("transmitting")] == (-18.5, 74.0)
    low, high = figure.layout.xaxis.range
    assert low < -18.5
    assert high > 55.5
    words = {note.y: note.text for note in figure.layout.annotations}
    assert words[reason_name("transmitting")].startswith(f"{reason_name('transmitting')}: +74.0 ms")
    assert list(words) == figure.layout.yaxis.categoryarray
    both = pl.concat([one, one.with_columns(pl.lit("two").alias("cell_title"))])
    drawn = Reasons().draw(both)
    assert f"two: {reason_name('transmitting')}" in {name for trace in drawn.data for name in trace.y}
    assert [note.text for note in drawn.layout.annotations if note.text.startswith("<b>")] == [
        "<b>one</b>",
        "<b>two</b>",
    ]


def test_numbers_are_in_the_unit_that_suits_them() -> None:
    """Seconds from a second on; what rounds to nothing has no sign."""
    rows = pl.DataFrame(steps_of(waterfall(1555.5, link_busy=1574.0, set_up=-18.54), "one", 0.05))
    words = " ".join(note.text for note in Reasons().draw(rows).layout.annotations)
    assert "+1.57 s" in words
    assert "−18.5 ms" in words
    assert "all else: 0.0 ms" in words
