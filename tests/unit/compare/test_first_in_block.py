# SPDX-License-Identifier: Apache-2.0
"""What it is worth to run first in a block."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.first_in_block import first_in_block_table
from quiclab.compare.study import read_study

SHAPE = replace(Shape(), blocks=16, aa_blocks=0, failures=frozenset(), voids=frozenset(), paths=("clean", "far"))


def test_a_slow_first_trial_is_measured_and_called_out(tmp_path: Path) -> None:
    """Each first trial takes 10 % longer: about that much, above zero."""
    folder = write_study(tmp_path, SHAPE)
    first = pl.read_parquet(folder / "tables/trials.parquet").filter(pl.col("position") == 0)["trial_id"].to_list()
    metrics = pl.read_parquet(folder / "metrics.parquet")
    slower = pl.when(pl.col("trial_id").is_in(first)).then(1.1).otherwise(1.0)
    metrics.with_columns(value=pl.col("value") * slower).write_parquet(folder / "metrics.parquet")
    study = read_study(folder)
    (row,) = first_in_block_table(study, analyse(study)).rows
    assert row[:2] == ("h3", "h2")
    assert int(row[2]) + int(row[3]) == 6 * 16
    assert 8 < float(row[4].removesuffix(" %")) < 12
    assert row[-1] == "the order matters"


def test_a_block_that_was_run_again_counts_only_if_its_order_is_known(tmp_path: Path) -> None:
    """A second attempt has an order of its own, which trial.json tells by when each trial began."""
    study = read_study(write_study(tmp_path, SHAPE))
    again = replace(study, trials=study.trials.with_columns(attempt=pl.lit(2, pl.Int64)))
    assert first_in_block_table(again, analyse(again)).rows == ()
