# SPDX-License-Identifier: Apache-2.0
"""Numbers and answers in words."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.report import wording
from quiclab.report.analyse import analyse_study
from quiclab.statistics import Interval


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (164.4, "ms", "164 ms"),
        (4312.0, "ms", "4.31 s"),
        (0.08414, "ms", "0.0841 ms"),
        (9_997_000.0, "bit/s", "10.0 Mbit/s"),
        (0.0, "bytes", "0 bytes"),
        (-2.5, "%", "−2.50 %"),
        (math.inf, "ms", "failed"),
        (None, "ms", "–"),
    ],
)
def test_quantities_have_three_digits_and_a_unit(value: float | None, unit: str, expected: str) -> None:
    """Large times turn into seconds, unknown and failed values into words."""
    assert wording.quantity(value, unit) == expected


@pytest.mark.parametrize(
    ("p", "expected"), [(None, ""), (0.00001, "<.0001"), (0.0059, ".0059"), (0.0421, ".042"), (1.0, "1")]
)
def test_p_values_are_short(p: float | None, expected: str) -> None:
    """Two digits that count and no leading zero."""
    assert wording.p_text(p) == expected


def test_open_intervals_show_infinity() -> None:
    """A side that the data do not bound is infinite, in words too."""
    assert wording.interval_text(Interval(-1.25, math.inf, 0.95)) == "−1.2 … ∞"


def test_answers_cover_every_cell_of_each_network(tmp_path: Path) -> None:
    """One sentence a network: who is faster where, where nothing differs, and where nothing can be said."""
    answers = dict(wording.answers(analyse_study(write_study(tmp_path))))
    assert answers["nothing added"] == "no significant difference between h2 and h3."
    assert answers["1 % loss"].startswith("h3 is faster for 100 KB (+")
    assert answers["100 ms more RTT"].endswith("h2 is faster for 100 KB (−8.0 %); undecided for 1 MB.")


def test_cells_without_an_answer_stand_together_by_reason(tmp_path: Path) -> None:
    """One sentence a reason, with its cells; all of them are called every cell."""
    analysis = analyse_study(write_study(tmp_path / "voids"))
    assert wording.whys(analysis) == [
        "Machine too slow: 2 of 11 attempts of h3 were void, more than 5 %. (100 ms more RTT, 1 MB)"
    ]
    few = analyse_study(write_study(tmp_path / "few", replace(Shape(), blocks=2, voids=frozenset())))
    assert wording.whys(few) == ["Too few pairs: 2 cannot show any difference at 0.05. (every cell)"]
