# SPDX-License-Identifier: Apache-2.0
"""Comparisons in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.compare import comparison_words
from quiclab.compare.analyse import analyse_study
from quiclab.compare.model import Conclusion, Metric

TTLB = Metric("ttlb_ms", "time to last byte", "ms", lower_is_better=True)
GOODPUT = Metric("goodput_bit_per_s", "goodput", "bit/s", lower_is_better=False)
STALLS = Metric("stalls", "stalls", "", lower_is_better=True)


@pytest.mark.parametrize(("blocks", "expected"), [(1, ""), (3, "none (at most 75 %)"), (5, "none (at most 93.8 %)")])
def test_too_few_pairs_for_an_interval_tell_what_they_attain(tmp_path: Path, blocks: int, expected: str) -> None:
    """Of n pairs the widest interval holds 1 − 2 / 2ⁿ."""
    shape = replace(Shape(), workloads=("1 MB",), paths=("clean",), blocks=blocks, voids=frozenset())
    (cell,) = analyse_study(write_study(tmp_path, shape)).comparisons
    assert comparison_words.estimate_interval(cell, TTLB, 0.95) == expected


def test_cells_without_an_answer_stand_together_by_reason(tmp_path: Path) -> None:
    """One sentence a reason, with its cells; all of them are called every cell."""
    lost = frozenset(("far/1 MB", "h3", block) for block in range(5))
    (why,) = comparison_words.whys(analyse_study(write_study(tmp_path / "voids", Shape(lost=lost))))
    assert why.startswith("Disturbed (100 ms more RTT, 1 MB): 4 of 9 pairs")
    few = analyse_study(write_study(tmp_path / "few", replace(Shape(), blocks=2, voids=frozenset())))
    assert comparison_words.whys(few) == [
        "Too few pairs (every cell): with 2, even the clearest difference is not significant at 0.05; 6 are the least "
        "for one comparison, before any correction for several."
    ]


def test_a_percentage_has_one_meaning(tmp_path: Path) -> None:
    """What the other arm takes less or more of, in per cent of the baseline's, whichever side is better."""
    assert comparison_words.percent_words(-12.04, TTLB) == "12.0 % less time"
    assert comparison_words.percent_words(112.0, TTLB) == "112.0 % more time"
    assert comparison_words.percent_words(12.04, GOODPUT) == "12.0 % more"
    assert comparison_words.percent_words(12.04, STALLS) == "12.0 % more"
    assert comparison_words.difference_heading(TTLB) == "difference, − is faster"
    assert comparison_words.difference_heading(GOODPUT) == "difference, + is better"
    assert comparison_words.difference_heading(STALLS) == "difference, − is better"


def test_a_cell_of_the_map_tells_every_conclusion_apart(tmp_path: Path) -> None:
    """A number always, with a word where no difference that matters was found."""
    shape = replace(Shape(), workloads=("1 MB",), paths=("loss",), voids=frozenset())
    (cell,) = analyse_study(write_study(tmp_path, shape)).comparisons
    shown = {
        each: comparison_words.difference_text(replace(cell, conclusion=each, difference_pct=1.23), TTLB)
        for each in Conclusion
    }
    assert shown == {
        Conclusion.DIFFERENT: "+1.2 %",
        Conclusion.SMALL: "+1.2 %, small",
        Conclusion.PERHAPS_SMALL: "+1.2 %, small?",
        Conclusion.ALIKE: "+1.2 %, equivalent",
        Conclusion.MEDIAN_ALIKE: "+1.2 %, median equivalent",
        Conclusion.UNDECIDED: "+1.2 %, inconclusive",
        Conclusion.NOT_JUDGED: "+1.2 %, not judged",
        Conclusion.NOT_MEASURED: "+1.2 %, no data",
    }
    in_unit = replace(cell, conclusion=Conclusion.DIFFERENT, difference_pct=None, difference=4.0)
    assert comparison_words.difference_text(in_unit, STALLS) == "4.00 more"
    assert comparison_words.difference_text(in_unit, GOODPUT) == "4.00 bit/s more"
