# SPDX-License-Identifier: Apache-2.0
"""Doses of a setting that a confirming run tries: those in which the mechanism still has time."""

from __future__ import annotations

import pytest

from quiclab.study.confirm.variants import nearest_doses


@pytest.mark.parametrize(
    ("present", "found"),
    [
        ("48 KB", ("64 KB", "128 KB")),
        ("64 KB", ("128 KB", "256 KB")),
        ("200 KB", ("256 KB",)),
        (None, ("128 KB", "256 KB")),
        ("none", ("128 KB", "256 KB")),
        ("2 MB", ()),
    ],
)
def test_doses_follow_on_the_present_value(present: str | None, found: tuple[str, ...]) -> None:
    """Without one that can be held against them the last are taken."""
    doses = [each for each in ("64 KB", "128 KB", "256 KB") if each != present]
    assert nearest_doses(doses, present, "1 MB") == found


def test_doses_may_fall() -> None:
    """A delay of acknowledgments is taken away by shorter ones; numbers of packets count too."""
    assert nearest_doses(["200 ms", "100 ms", "25 ms"], "150 ms", "0 ms") == ("100 ms", "25 ms")
    assert nearest_doses([10, 16, 32], 4, 64) == (10, 16)
    assert nearest_doses(["15 %", "30 %", "60 %"], "20 %", "100 %") == ("30 %", "60 %")
