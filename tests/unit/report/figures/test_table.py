# SPDX-License-Identifier: Apache-2.0
"""Tables as figures."""

from __future__ import annotations

from quiclab.report.figures import _table


def test_long_texts_wrap_and_make_room() -> None:
    """A row of two lines makes the figure taller; markup is escaped."""
    short = _table.draw(["a", "b"], [["x", "1"]])
    long = _table.draw(["a", "b"], [["<b>10 Mbit/s, 1 % loss, 100 ms added", "1"]])
    assert long.layout.height > short.layout.height
    assert long.data[0].cells["values"][0] == ["&lt;b&gt;10 Mbit/s, 1 % loss, 100 ms<br>added"]


def test_a_number_stays_with_its_unit() -> None:
    """Words may break, and stand at the left; a number may not, and stands at the right."""
    table = _table.draw(["a", "b"], [["x y", "1 %"]]).data[0]
    assert table.cells["values"] == [["x y"], ["1\u00a0%"]]
    assert table.cells["align"] == ["left", "right"]


def test_a_table_may_be_empty() -> None:
    """Its headings are there."""
    assert _table.draw(["a", "b"], [], note="nothing").data[0].header["values"] == ["<b>a</b>", "<b>b</b>"]
