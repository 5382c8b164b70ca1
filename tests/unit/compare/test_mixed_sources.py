# SPDX-License-Identifier: Apache-2.0
"""Arms of one cell whose values come from different sources."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("loss", "far"), failures=frozenset(), voids=frozenset())
NOTE = "by somebody's word"


def noted(study: Path, which: pl.Expr) -> list[str]:
    """What the study says of sources, once these values of its metric bear a note."""
    trials = pl.read_parquet(study / "tables" / "trials.parquet").filter(which)["trial_id"].to_list()
    metrics = pl.read_parquet(study / "metrics.parquet")
    note = pl.when((pl.col("name") == "ttlb_ms") & pl.col("trial_id").is_in(trials)).then(pl.lit(NOTE)).alias("note")
    metrics.with_columns(note).write_parquet(study / "metrics.parquet")
    return [note for note in analyse_study(study).notes if NOTE in note]


def test_a_pair_that_two_sources_time_is_told(tmp_path: Path) -> None:
    """Whichever arm it is, with the cells in which it is so."""
    study = write_study(tmp_path, SHAPE)
    assert noted(study, (pl.col("arm") == "h3") & (pl.col("path") == "far")) == [
        f"In 1 cell the time to last byte of h3 comes from another source than that of the arm beside it ({NOTE}): "
        "part of the difference may be that of the sources."
    ]
    (told,) = noted(study, pl.col("arm") == "h2")
    assert told.startswith("In 2 cells the time to last byte of h2 comes")


@pytest.mark.parametrize("which", [pl.lit(value=True), pl.lit(value=False)], ids=["all", "none"])
def test_arms_with_the_same_source_are_compared_without_a_word(which: pl.Expr, tmp_path: Path) -> None:
    """However unusual it is."""
    assert noted(write_study(tmp_path, SHAPE), which) == []
