# SPDX-License-Identifier: Apache-2.0
"""An arm that differs from itself is said at the answer and marked in its table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.control_alarms import control_table

SHAPE = replace(Shape(), workloads=("1 MB",), paths=("clean",), voids=frozenset(), failures=frozenset())


def test_an_alarm_of_a_control_is_said_with_what_to_do(tmp_path: Path) -> None:
    """The second twin of h3 takes a tenth longer each time."""
    folder = write_study(tmp_path, SHAPE)
    twins = pl.read_parquet(folder / "tables/trials.parquet").filter(pl.col("arm") == "h3#2")["trial_id"].to_list()
    metrics = pl.read_parquet(folder / "metrics.parquet")
    slower = pl.when(pl.col("trial_id").is_in(twins) & (pl.col("name") == "ttlb_ms")).then(1.1).otherwise(1.0)
    metrics.with_columns(value=pl.col("value") * slower).write_parquet(folder / "metrics.parquet")
    analysis = analyse_study(folder)
    (note,) = [note for note in analysis.notes if "A/A" in note]
    assert note.startswith("False alarm in the A/A control: h3 differs from itself (interval ")
    assert "about 10 % of studies" in note
    assert "another seed" in note
    assert [row[-1] for row in control_table(analysis).rows] == ["", "differs from itself: a false alarm"]


def test_controls_that_agree_are_no_news(tmp_path: Path) -> None:
    """Neither a note nor a mark."""
    analysis = analyse_study(write_study(tmp_path, replace(SHAPE, seed=2)))
    assert not any("False alarm" in note for note in analysis.notes)
    assert {row[-1] for row in control_table(analysis).rows} == {""}
