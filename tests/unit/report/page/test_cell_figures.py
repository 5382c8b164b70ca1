# SPDX-License-Identifier: Apache-2.0
"""The drawings of a cell's trials."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.rows import distributions
from quiclab.report.page.write import cell_figures


def test_a_share_counts_what_the_box_shows(tmp_path: Path) -> None:
    """Every trial is a step, those that failed are missing at the top; a mark leads where that of the box does."""
    shape = replace(Shape(), workloads=("5 MB",), paths=("loss",), voids=frozenset())
    analysis = analyse_study(write_study(tmp_path, shape))
    (cell,) = cell_figures(analysis, distributions(analysis), ["other", "5 MB/loss"])
    boxes = [trace for trace in cell.box["data"] if trace["type"] == "box"]
    assert [sorted(trace["x"]) for trace in boxes] == [trace["x"] for trace in cell.share["data"]]
    h2, h3 = cell.share["data"]
    assert max(h2["y"]) == 100 * 7 / 9
    assert max(h3["y"]) == 100
    assert {trace["meta"]["cell"] for trace in (*boxes, h2, h3)} == {1}
    assert {tuple(mark) for mark in h2["customdata"]} == {tuple(mark) for mark in boxes[0]["customdata"]}
