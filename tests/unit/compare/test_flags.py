# SPDX-License-Identifier: Apache-2.0
"""Drift and outliers of a study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.flags import drift_table, outlier_table
from quiclab.compare.study import read_study

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("clean",), blocks=20, failures=frozenset(), voids=frozenset())


def _changed(directory: Path, factor: pl.Expr) -> Path:
    """The study with every time multiplied by a function of `number`, the trial's place."""
    trials = pl.read_parquet(directory / "tables/trials.parquet").with_row_index("number")
    trials.with_columns(position=pl.col("number").cast(pl.Int64)).drop("number").write_parquet(
        directory / "tables/trials.parquet"
    )
    metrics = pl.read_parquet(directory / "metrics.parquet").join(trials.select("trial_id", "number"), on="trial_id")
    scaled = pl.when(pl.col("name") == "ttlb_ms").then(pl.col("value") * factor).otherwise("value")
    metrics.with_columns(value=scaled).drop("number").write_parquet(directory / "metrics.parquet")
    return directory


def test_a_study_that_slows_down_drifts(tmp_path: Path) -> None:
    """Ten per cent slower at its end: both arms drift, by about that much."""
    study = read_study(_changed(write_study(tmp_path, replace(SHAPE, aa_blocks=0)), 1 + pl.col("number") / 400))
    rows = drift_table(study, analyse(study)).rows
    assert [row[0] for row in rows] == ["h2", "h3"]
    assert {row[4] for row in rows} == {"drifts"}
    assert all(7 < float(row[2].removesuffix(" %")) < 13 for row in rows)


def test_a_steady_study_is_called_steady(tmp_path: Path) -> None:
    """Noise alone is no drift, and the A/A trials count for their arm."""
    study = read_study(_changed(write_study(tmp_path, SHAPE), pl.lit(1.0)))
    rows = drift_table(study, analyse(study)).rows
    assert {row[4] for row in rows} == {"steady"}
    assert [row[1] for row in rows] == ["38", "38"]


def test_a_trial_far_out_is_named(tmp_path: Path) -> None:
    """One trial takes three times as long: its row says where it is."""
    study = read_study(_changed(write_study(tmp_path, SHAPE), pl.when(pl.col("number") == 6).then(3.0).otherwise(1.0)))
    rows = outlier_table(study, analyse(study)).rows
    assert [(row[0], row[1]) for row in rows] == [("00000006", "nothing added, 100 KB")]


def test_too_few_trials_tell_nothing(tmp_path: Path) -> None:
    """Two blocks: neither table has a row, each says why."""
    study = read_study(write_study(tmp_path, replace(SHAPE, blocks=2, aa_blocks=0)))
    for table in (drift_table(study, analyse(study)), outlier_table(study, analyse(study))):
        assert table.rows == ()
        assert table.empty
