# SPDX-License-Identifier: Apache-2.0
"""Trials without their logs are counted, and that is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.run_notes import raw_file_notes
from quiclab.compare.study import read_study

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("loss",), failures=frozenset(), voids=frozenset())


def test_what_was_not_kept_is_told_with_its_rule(tmp_path: Path) -> None:
    """Nothing is told where all is kept, or where the tables are older than the rule."""
    directory = write_study(tmp_path, SHAPE)
    file = directory / "tables" / "trials.parquet"
    trials = pl.read_parquet(file)
    assert raw_file_notes(read_study(directory)) == []
    rule = pl.when(pl.col("block") < 2).then(None).otherwise(pl.lit("pairs:2")).cast(pl.String)
    trials.with_columns(logs_left_out=rule).write_parquet(file)
    without = trials.filter(pl.col("block") >= 2).height
    (note,) = raw_file_notes(read_study(directory))
    assert note.startswith(f"Logs and captures of {without} of {trials.height} attempts were not kept (--keep-raw pair")
    assert note in analyse(read_study(directory)).notes
    failed = pl.when(pl.col("block") == 2).then(pl.lit("failed")).otherwise("status")
    trials.with_columns(logs_left_out=rule, status=failed).write_parquet(file)
    (note,) = raw_file_notes(read_study(directory))
    assert f"or trial.json alone of {trials.filter(pl.col('block') == 2).height} that failed" in note
    trials.with_columns(logs_left_out=pl.lit(None, pl.String)).write_parquet(file)
    assert raw_file_notes(read_study(directory)) == []
