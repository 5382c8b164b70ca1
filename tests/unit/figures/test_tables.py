# SPDX-License-Identifier: Apache-2.0
"""Tables as figures."""

from __future__ import annotations

from quiclab.figures import _tables


def test_long_texts_wrap_and_make_room() -> None:
    """A row of two lines makes the figure taller, a number stays with its per cent sign, markup is escaped."""
    short = _tables.draw(["a", "b"], [["x", "1"]], [8, 4], "note")
    long = _tables.draw(["a", "b"], [["<b>10 Mbit/s, 1 % loss", "1"]], [12, 4], "note")
    assert long.layout.height > short.layout.height
    assert list(long.data[0].cells.values[0]) == ["&lt;b&gt;10<br>Mbit/s, 1\u00a0%<br>loss"]
