# SPDX-License-Identifier: Apache-2.0
"""Lines of reasons at the end of a run."""

from __future__ import annotations

from dataclasses import replace

from unit.report.words.test_account import waterfall

from quiclab.report.words.because_lines import line
from quiclab.statistics import Interval


def test_the_largest_reasons_that_are_shown_come_with_their_numbers() -> None:
    """Largest first; what is small is left out."""
    found = waterfall(-1153.0, window_after_loss=-1208.0, link_busy=74.0, set_up=-19.0)
    assert line(found, "1 % loss, 5MB", 0.05) == (
        "1 % loss, 5MB: mean of h3 − h2 −1.15 s, because of window reduced after a loss (−1.21 s) and link busy (+74.0 "
        "ms)."
    )


def test_a_mean_that_is_not_shown_to_differ_says_what_the_pairs_do() -> None:
    """The interval of the mean reaches across zero, and the test of pairs finds a difference."""
    found = waterfall(-173.0, window_after_loss=-180.0)
    wide = replace(found.total, interval_ms=Interval(-400, 20, 0.95), p_adjusted=0.004)
    told = line(replace(found, total=wide), "cell", 0.05)
    assert told.startswith(
        "cell: mean of h3 − h2 −173 ms, not shown to differ, though the pairs lean one way (p = .0040); "
    )


def test_without_a_reason_that_is_shown_the_line_says_so() -> None:
    """And still names what is largest, as undecided."""
    found = waterfall(40.0, link_busy=40.0)
    found = replace(found, steps=tuple(replace(step, p_adjusted=0.4) for step in found.steps))
    told = line(found, "cell", 0.05)
    assert told == "cell: mean of h3 − h2 +40.0 ms; 8 pairs show no reason. Largest on average: link busy (+40.0 ms)."
