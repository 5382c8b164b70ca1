# SPDX-License-Identifier: Apache-2.0
"""The table of all numbers, and what it says of them."""

from __future__ import annotations

import json
import math
from pathlib import Path

from synthetic_study import write_study

from quiclab.compare.analyse import analyse_study
from quiclab.report.words.results import results_table


def test_what_stands_beside_an_interval_is_what_the_interval_is_of(tmp_path: Path) -> None:
    """The difference within pairs lies inside its interval, found or not; both tell what they are in."""
    analysis = analyse_study(write_study(tmp_path))
    table = results_table(analysis)
    at = table.headings.index("its 95 % interval")
    assert table.headings[at - 1] == "difference, − is faster"
    assert not any("difference of" in heading for heading in table.headings)
    for row in table.rows:
        estimate, told = row[at - 1].removesuffix(" %"), row[at].partition(" (")[0].removesuffix(" %").replace("−", "-")
        at_least, at_most = told.startswith("at least "), told.startswith("at most ")
        ends = told.removeprefix("at least ").removeprefix("at most ").split(" … ")
        low, high = (-math.inf if at_most else float(ends[0])), (math.inf if at_least else float(ends[-1]))
        assert low <= float(estimate.replace("−", "-")) <= high


def test_the_method_names_every_null_hypothesis(tmp_path: Path) -> None:
    """Of a fixed number of pairs, and of a sequential study, whose typical difference is another one."""
    folder = write_study(tmp_path)
    fixed = results_table(analyse_study(folder)).note
    assert "symmetric about zero" in fixed
    assert "both arms have the same distribution" in fixed
    rule = {"version": 1, "effect_pct": 5, "at_most": 60, "blocks": {}, "looks": [{}]}
    (folder / "sequential.json").write_text(json.dumps(rule))
    sequential = results_table(analyse_study(folder))
    assert "this median is zero" in sequential.note
    assert "The typical pair is the median one" in sequential.note
    assert "Hodges and Lehmann on the logarithms" in fixed
    assert "Hodges and Lehmann on the logarithms" not in sequential.note
