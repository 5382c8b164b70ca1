# SPDX-License-Identifier: Apache-2.0
"""Comparisons in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.analysis import comparison_words
from quiclab.analysis.analyse import analyse_study


@pytest.mark.parametrize(("blocks", "expected"), [(1, ""), (3, "none (at most 75 %)"), (5, "none (at most 93.8 %)")])
def test_too_few_pairs_for_an_interval_tell_what_they_attain(tmp_path: Path, blocks: int, expected: str) -> None:
    """Of n pairs the widest interval holds 1 − 2 / 2ⁿ."""
    shape = replace(Shape(), workloads=("1 MB",), paths=("clean",), blocks=blocks, voids=frozenset())
    (cell,) = analyse_study(write_study(tmp_path, shape)).comparisons
    assert comparison_words.shift_interval(cell, 0.95) == expected


def test_cells_without_an_answer_stand_together_by_reason(tmp_path: Path) -> None:
    """One sentence a reason, with its cells; all of them are called every cell."""
    analysis = analyse_study(write_study(tmp_path / "voids"))
    assert comparison_words.whys(analysis) == [
        "Machine too slow: 3 of 12 attempts of h3 were void, significantly more than the 5 % that a cell may have. "
        "(100 ms more RTT, 1 MB)"
    ]
    few = analyse_study(write_study(tmp_path / "few", replace(Shape(), blocks=2, voids=frozenset())))
    assert comparison_words.whys(few) == ["Too few pairs: 2 cannot show any difference at 0.05. (every cell)"]
