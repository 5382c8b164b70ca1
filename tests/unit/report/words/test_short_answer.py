# SPDX-License-Identifier: Apache-2.0
"""The three sentences of an answer, and their bars."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from synthetic_study import Shape, write_study
from unit.report.words.test_account import waterfall

from quiclab.compare.analyse import analyse_study
from quiclab.compare.model import Comparison, Conclusion, StudyAnalysis
from quiclab.compare.statistics import Interval
from quiclab.report.words.short_answer import because, verdict
from quiclab.report.words.wait_bars import WaitBars, shared_out
from quiclab.why.account import Why
from quiclab.why.explanation import Explanation


@pytest.fixture
def analysis(tmp_path: Path) -> StudyAnalysis:
    """One cell."""
    return analyse_study(write_study(tmp_path, replace(Shape(), workloads=("1 MB",), paths=("loss",))))


def _told(analysis: StudyAnalysis, conclusion: Conclusion, low: float, high: float) -> str:
    """The first sentence about an interval of the difference."""
    middle = (low + high) / 2
    found: Comparison = replace(
        analysis.comparisons[0],
        conclusion=conclusion,
        difference_pct=middle,
        interval_pct=Interval(low, high, 0.95),
        leans=-middle,
        pairs=12,
    )
    return verdict(found, analysis)


def test_faster_and_slower_have_an_interval_of_what_they_say(analysis: StudyAnalysis) -> None:
    """− is faster in the numbers; the words have no sign, and neither has their interval."""
    faster = _told(analysis, Conclusion.DIFFERENT, -20.0, -10.0)
    assert faster.startswith(
        "h3 is faster than h2: 15.0 % less time (10.0 to 20.0 %, 95 % confidence, 12 pairs). Medians: h3 "
    )
    slower = _told(analysis, Conclusion.DIFFERENT, 10.0, 20.0)
    assert slower.startswith("h3 is slower than h2: 15.0 % more time (10.0 to 20.0 %, 95 % confidence, 12 pairs).")
    assert "at least 10.0 %" in _told(analysis, Conclusion.DIFFERENT, float("-inf"), -10.0)


def test_alike_and_inconclusive_are_not_the_same(analysis: StudyAnalysis) -> None:
    """Each in its own word."""
    assert _told(analysis, Conclusion.ALIKE, -1.0, 0.5).startswith("h3 and h2 are equivalent to within 2 %")
    open_ = _told(analysis, Conclusion.UNDECIDED, -9.0, 3.0)
    assert open_.startswith("Inconclusive: 12 pairs do not tell which of h3 and h2 is faster.")
    assert "(−9.0 … +3.0 %, − is faster" in open_
    assert "by less than 2 %" in _told(analysis, Conclusion.SMALL, 0.5, 1.5)
    spoiled = _told(analysis, Conclusion.NOT_JUDGED, -15.0, 1.0)
    assert spoiled.startswith("Not judged: ")
    assert "Measured: h3 takes 7.0 % less time (−15.0 … +1.0 %, − is faster" in spoiled


def test_causes_that_go_with_the_difference_come_first() -> None:
    """Those that work against it stand behind a but; what is not shown is not told as a cause."""
    found = waterfall(-20.0, link_busy=5.0, set_up=-25.0)
    found = replace(found, comparison=replace(found.comparison, conclusion=Conclusion.DIFFERENT))
    told = because(Explanation(found, (), 0.05))
    less, more = Why("set_up").heading, Why("link_busy").heading
    assert told == f"Because on average h3 spends 25.0 ms less on {less}, but 5.00 ms more on {more}."
    undecided = replace(found, comparison=replace(found.comparison, conclusion=Conclusion.UNDECIDED))
    assert because(Explanation(undecided, (), 0.05)).startswith("On average h3 spends")
    steps = tuple(replace(each, adjusted_p=0.5) for each in found.steps)
    assert because(Explanation(replace(found, steps=steps), (), 0.05)).startswith("No cause is clear yet from 8 pairs.")
    assert because(None).startswith("No cause is known")


def test_bars_have_one_scale_and_add_up() -> None:
    """The arm that takes half of the time has half of the columns."""
    found = waterfall(-50.0, link_busy=-50.0)
    found = replace(found, total=replace(found.total, baseline_ms=100.0, other_ms=50.0))
    step = replace(found.steps[0], label=Why.LINK_BUSY, baseline_ms=99.0, other_ms=49.9)
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(WaitBars(replace(found, steps=(step,))))
    heading, first, second, legend, rest = capture.get().splitlines()
    assert heading == "Mean time of 8 pairs:"
    assert first.startswith("h2 █")
    assert abs(first.count("█") - 2 * second.count("█")) <= 1
    assert legend.endswith("h2 99.0 ms, h3 49.9 ms")
    assert rest.endswith("too short to be drawn: h2 1.00 ms, h3 0.100 ms")
    assert max(map(len, (heading, first, second))) <= 80


def test_columns_add_up_to_the_width() -> None:
    """Whatever is rounded."""
    assert shared_out([1.0, 1.0, 1.0], 10) == [4, 3, 3]
    assert sum(shared_out([0.01, 3.3, 7.7], 57)) == 57
    assert shared_out([0.0, 0.0], 9) == [0, 0]
