# SPDX-License-Identifier: Apache-2.0
"""Independence of a study's pairs: said at the answer where it fails, and in a table always."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.pair_independence import independence_table

SHAPE = Shape(blocks=20, aa_blocks=0, failures=frozenset(), voids=frozenset())


def _with_a_course_of_h3(folder: Path) -> Path:
    """The study with the times of h3 in each cell swelling and ebbing over ten blocks."""
    trials = pl.read_parquet(folder / "tables/trials.parquet").unique("trial_id", keep="last")
    metrics = pl.read_parquet(folder / "metrics.parquet").join(trials.select("trial_id", "arm", "block"), on="trial_id")
    swell = 1 + 0.3 * (pl.col("block") * (2 * np.pi / 10)).sin()
    factor = pl.when((pl.col("arm") == "h3") & (pl.col("name") == "ttlb_ms")).then(swell).otherwise(1.0)
    metrics.with_columns(value=pl.col("value") * factor).drop("arm", "block").write_parquet(folder / "metrics.parquet")
    return folder


def test_pairs_that_depend_are_said_at_the_answer(tmp_path: Path) -> None:
    """The note has the statistic, what it means and what to do; the table has a verdict."""
    analysis = analyse_study(_with_a_course_of_h3(write_study(tmp_path, SHAPE)))
    (note,) = [note for note in analysis.notes if "not independent" in note]
    assert "lag-1 rank autocorrelation +0." in note
    assert "These 180 pairs tell about as much as" in note
    assert "run the study again" in note
    rows = independence_table(analysis).rows
    assert rows[0][0] == "all cells"
    assert rows[0][-1].startswith("neighbours depend")
    assert len(rows) == 10


def test_independent_pairs_are_no_news(tmp_path: Path) -> None:
    """No note; the table says so, and how strong a dependence would have shown."""
    analysis = analyse_study(write_study(tmp_path, SHAPE))
    assert not any("not independent" in note for note in analysis.notes)
    table = independence_table(analysis)
    assert table.rows[0][-1] == "no dependence seen"
    assert "autocorrelation of 0.21 in four studies of five" in table.note


def test_four_blocks_tell_nothing(tmp_path: Path) -> None:
    """No row and no note."""
    analysis = analyse_study(write_study(tmp_path, replace(SHAPE, blocks=4)))
    assert independence_table(analysis).rows == ()
