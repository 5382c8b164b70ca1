# SPDX-License-Identifier: Apache-2.0
"""Tables of effect sizes and tails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.effects import effects, effects_table, tails, tails_table
from quiclab.compare.study import read_study

SHAPE = replace(Shape(), workloads=("5 MB",), paths=("loss", "clean"), blocks=12, voids=frozenset())


def test_a_clear_difference_has_a_large_effect_and_takes_few_pairs(tmp_path: Path) -> None:
    """22 % built in: h3's trials are better nearly always, by 22 % less time."""
    row = effects(analyse(read_study(write_study(tmp_path, replace(SHAPE, failures=frozenset()))))).row(0, named=True)
    assert (row["cell_id"], row["unit"], row["pairs"]) == ("5 MB/loss", "ms", 12)
    assert row["difference_pct"] == pytest.approx(-22, abs=3)
    assert row["interval_low_pct"] < row["difference_pct"] < row["interval_high_pct"]
    assert row["interval_confidence_pct"] >= 95
    assert (row["cliffs_delta_within"], row["pairs_better"], row["pairs_worse"]) == (1, 12, 0)
    assert 0.4 < row["cliffs_delta_within_low"] < row["cliffs_delta_within_high"] == 1
    assert 6 <= row["pairs_to_matter"] < 1000
    assert row["matters_pct"] == 2


def test_where_higher_is_better_more_is_better(tmp_path: Path) -> None:
    """Goodput of the same trials: the difference is above zero, and delta keeps its sign."""
    study = read_study(write_study(tmp_path, replace(SHAPE, failures=frozenset())))
    row = effects(analyse(study, "goodput_bit_per_s")).row(0, named=True)
    assert row["difference_pct"] > 0
    assert row["cliffs_delta_within"] > 0.9


def test_delta_is_of_pairs_not_of_all_against_all(tmp_path: Path) -> None:
    """Blocks tenfold apart in which h3 is always the better: the arms overlap, their pairs do not."""
    write_study(tmp_path, replace(SHAPE, failures=frozenset()))
    blocks = pl.read_parquet(tmp_path / "tables" / "trials.parquet").select("trial_id", "block").unique("trial_id")
    metrics = pl.read_parquet(tmp_path / "metrics.parquet").join(blocks, on="trial_id")
    apart = metrics.with_columns(value=pl.col("value") * 10 ** (pl.col("block") % 3)).drop("block")
    apart.write_parquet(tmp_path / "metrics.parquet")
    row = effects(analyse(read_study(tmp_path))).row(0, named=True)
    assert (row["cell_id"], row["cliffs_delta_within"]) == ("5 MB/loss", 1)


def test_failed_trials_are_the_tail(tmp_path: Path) -> None:
    """Two of twelve of h2 failed: its p90 is a failure, and no end of it is bounded; its median is a time."""
    data = tails(analyse(read_study(write_study(tmp_path, SHAPE))))
    h2 = data.filter(cell_id="5 MB/loss", arm="h2")
    assert h2.filter(share=0.9)["value"].item() == float("inf")
    assert 4000 < h2.filter(share=0.5)["value"].item() < 10_000
    assert h2["trials"].to_list() == [12] * 4
    row = next(row for row in tails_table(data).rows if row[1] == "h2")
    assert row[5] == "failed"
    assert row[6].endswith(" … open (at 99.6 %)")  # of 12 values; 95 % were asked for


def test_the_tables_say_what_they_hold(tmp_path: Path) -> None:
    """A row per comparison, a row per cell and arm."""
    analysis = analyse(read_study(write_study(tmp_path, SHAPE)))
    assert [row[0] for row in effects_table(effects(analysis)).rows] == ["1 % loss, 5 MB", "nothing added, 5 MB"]
    assert len(tails_table(tails(analysis)).rows) == 4


@pytest.mark.parametrize("name", ["effects", "tails"])
def test_a_study_without_trials_has_empty_tables(tmp_path: Path, name: str) -> None:
    """Nothing to compare is said, not raised."""
    analysis = analyse(read_study(tmp_path))
    table = effects_table(effects(analysis)) if name == "effects" else tails_table(tails(analysis))
    assert table.rows == ()
    assert table.empty
