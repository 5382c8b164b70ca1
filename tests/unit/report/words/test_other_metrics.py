# SPDX-License-Identifier: Apache-2.0
"""The table of every metric."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.study import read_study
from quiclab.report.words.other_metrics import metric_medians, other_metrics

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("loss",), failures=frozenset(), voids=frozenset())


def test_one_row_per_cell_and_arm_with_medians(tmp_path: Path) -> None:
    """Headings follow the metrics that are there, and a value is the median in a fitting unit."""
    study = read_study(write_study(tmp_path, SHAPE))
    table = other_metrics(metric_medians(study, analyse(study)))
    assert table.headings[:4] == ("cell", "arm", "handshake", "first byte")
    assert [row[:3] for row in table.rows] == [
        ("1 % loss, 100 KB", "h2", "41.0 ms"),
        ("1 % loss, 100 KB", "h3", "41.0 ms"),
    ]


def test_an_unknown_metric_is_a_dash(tmp_path: Path) -> None:
    """One arm lacks its set-up times: a dash there, a number beside it."""
    metrics = write_study(tmp_path, SHAPE) / "metrics.parquet"
    h3 = pl.read_parquet(tmp_path / "tables/trials.parquet").filter(pl.col("arm") == "h3")["trial_id"]
    gone = pl.col("trial_id").is_in(h3.to_list()) & (pl.col("name") == "setup_ms")
    pl.read_parquet(metrics).with_columns(value=pl.when(gone).then(None).otherwise("value")).write_parquet(metrics)
    study = read_study(tmp_path)
    assert [row[2] for row in other_metrics(metric_medians(study, analyse(study))).rows] == ["41.0 ms", "–"]


def test_nothing_measured_is_an_empty_table(tmp_path: Path) -> None:
    """Without metrics there is no row."""
    (write_study(tmp_path, SHAPE) / "metrics.parquet").unlink()
    study = read_study(tmp_path)
    assert other_metrics(metric_medians(study, analyse(study))).rows == ()


def test_the_data_beside_the_table_name_the_metrics(tmp_path: Path) -> None:
    """A row per metric, cell and arm, with unit and number of trials."""
    study = read_study(write_study(tmp_path, SHAPE))
    rows = metric_medians(study, analyse(study)).filter(metric="setup_ms")
    assert rows.select("arm", "unit", "median", "trials").rows() == [("h2", "ms", 41.0, 9), ("h3", "ms", 41.0, 9)]
