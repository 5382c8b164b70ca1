# SPDX-License-Identifier: Apache-2.0
"""The pair selector's data."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import numpy as np
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.rows import distributions
from quiclab.report.page.pair_selector import bytes_acknowledged, selector, thinned

SMALL = replace(Shape(), workloads=("100 KB",), paths=("clean", "loss"), voids=frozenset())


def test_opens_on_the_largest_difference_and_its_median_trials(tmp_path: Path) -> None:
    """The first view of the opened cell holds each arm's median trial; the next ones are its blocks."""
    analysis = analyse_study(write_study(tmp_path, SMALL))
    found = selector(analysis, bytes_acknowledged(tmp_path, distributions(analysis)))
    opened = found["cells"][found["open"]]
    comparison = next(c for c in analysis.comparisons if c.path == "loss")
    assert opened["cell_id"] == comparison.cell_id
    assert comparison.baseline.median_trial is not None
    assert opened["views"][0]["trials"]["h2"] == comparison.baseline.median_trial.trial_id
    assert [view["block"] for view in opened["views"]] == [None, *range(9)]


def test_a_curve_survives_packing(tmp_path: Path) -> None:
    """The packed numbers are little-endian 32-bit floats of the table's own."""
    analysis = analyse_study(write_study(tmp_path, SMALL))
    acknowledged = bytes_acknowledged(tmp_path, distributions(analysis))
    trial_id, packed = next(iter(selector(analysis, acknowledged)["curves"].items()))
    assert packed["of"] == acknowledged.filter(acknowledged["trial_id"] == trial_id).height
    values = np.frombuffer(base64.b64decode(packed["y"]), dtype="<f4")
    assert values.tolist() == acknowledged.filter(acknowledged["trial_id"] == trial_id)["bytes"].to_list()


def test_a_failed_trial_leaves_a_block_with_one_curve(tmp_path: Path) -> None:
    """The block stays selectable and shows the arm that has a curve."""
    analysis = analyse_study(write_study(tmp_path, replace(SMALL, failures=frozenset({("loss/100 KB", "h2", 3)}))))
    found = selector(analysis, bytes_acknowledged(tmp_path, distributions(analysis)))
    cell = next(cell for cell in found["cells"] if cell["cell_id"] == "100 KB/loss")
    assert list(next(view for view in cell["views"] if view["block"] == 3)["trials"]) == ["h3"]


def test_thinning_keeps_ends_and_stalls() -> None:
    """Of 10,000 points at most the limit remain, among them the first, the last and both sides of a long wait."""
    x = np.arange(10_000.0)
    x[7_123:] += 5_000
    kept = thinned(x, 200)
    assert kept.size <= 200
    assert {0, 9_999, 7_122, 7_123} <= set(kept.tolist())


def test_no_tables_no_selector(tmp_path: Path) -> None:
    """Without any curve there is nothing to select."""
    analysis = analyse_study(tmp_path)
    assert selector(analysis, bytes_acknowledged(tmp_path, distributions(analysis))) is None
