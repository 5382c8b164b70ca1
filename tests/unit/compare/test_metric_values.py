# SPDX-License-Identifier: Apache-2.0
"""Values of a metric, grouped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.metric_values import by_cell_and_arm, by_path_and_arm, mean, middle, worst
from quiclab.compare.study import read_study

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("clean", "loss"), failures=frozenset({("loss/100 KB", "h2", 3)}))


def test_only_verified_main_trials_count(tmp_path: Path) -> None:
    """Failed trials and A/A cells are left out; paths come in the order of the spec."""
    study = read_study(write_study(tmp_path, SHAPE))
    groups = [(path, arm, len(values)) for path, arm, values in by_path_and_arm(study, "setup_ms")]
    assert groups == [("clean", "h2", 9), ("clean", "h3", 9), ("loss", "h2", 8), ("loss", "h3", 9)]
    assert len(by_cell_and_arm(study, "setup_ms")["100 KB/loss", "h2"]) == 8
    assert by_cell_and_arm(study, "no_such_metric") == {}


def test_summaries() -> None:
    """Median, mean and largest, and 0 of nothing."""
    values = pl.Series([1.0, 2.0, 9.0])
    assert (middle(values), mean(values), worst(values)) == (2.0, 4.0, 9.0)
    assert middle(pl.Series([], dtype=pl.Float64)) == 0.0
