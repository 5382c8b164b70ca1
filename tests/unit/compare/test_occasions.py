# SPDX-License-Identifier: Apache-2.0
"""What one occasion leaves open, and what several show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse, analyse_study
from quiclab.compare.occasion_table import occasion_tables
from quiclab.compare.study import read_study
from quiclab.report.page.write import write_report

SHAPE = replace(
    Shape(),
    workloads=("1 MB",),
    paths=("clean", "loss"),
    blocks=24,
    aa_blocks=0,
    failures=frozenset(),
    voids=frozenset(),
)


def on_occasions(folder: Path, blocks_each: int, factors: tuple[float, ...] = (), hours: float = 24) -> Path:
    """A study with so many blocks on each occasion; the times of h3 over the path `loss` are multiplied by the
    occasion's factor."""
    write_study(folder, SHAPE)
    file = folder / "tables/trials.parquet"
    occasion = pl.col("block") // blocks_each + 1
    began = pl.datetime(2026, 3, 1) + pl.duration(minutes=60 * hours * (occasion - 1)) + pl.duration(minutes="block")
    trials = pl.read_parquet(file).with_columns(
        occasion=occasion, began_utc=began.dt.strftime("%Y-%m-%dT%H:%M:%S+00:00")
    )
    trials.write_parquet(file)
    slow = trials.filter((pl.col("arm") == "h3") & (pl.col("path") == "loss"))
    factor = {row["trial_id"]: factors[row["occasion"] - 1] for row in slow.iter_rows(named=True)} if factors else {}
    metrics = pl.read_parquet(folder / "metrics.parquet")
    by = pl.Series([factor.get(trial, 1.0) for trial in metrics["trial_id"]])
    metrics.with_columns(value=pl.col("value") * by).write_parquet(folder / "metrics.parquet")
    return folder


@pytest.mark.parametrize(("hours", "words"), [(0.0, "in this hour"), (0.2, "in these 5 hours")])
def test_one_occasion_is_said_to_be_one(tmp_path: Path, hours: float, words: str) -> None:
    """With how long it took; there is no table of one."""
    folder = on_occasions(tmp_path, 1, hours=hours)
    file = folder / "tables/trials.parquet"
    pl.read_parquet(file).with_columns(occasion=pl.lit(1, pl.Int64)).write_parquet(file)
    analysis = analyse_study(folder)
    assert any(f"in one session on one machine, {words}: another day" in note for note in analysis.notes)
    assert occasion_tables(read_study(folder), analysis) == []


def test_tables_of_an_earlier_version_say_nothing(tmp_path: Path) -> None:
    """They do not tell when trials ran."""
    analysis = analyse_study(write_study(tmp_path, SHAPE))
    assert not any("session" in note for note in analysis.notes)
    assert occasion_tables(read_study(tmp_path), analysis) == []


def test_occasions_that_agree_are_shown_without_an_alarm(tmp_path: Path) -> None:
    """Four of six blocks, with the mean over them and what varies between and within."""
    study = read_study(on_occasions(tmp_path, 6))
    analysis = analyse(study)
    (note,) = (note for note in analysis.notes if "session" in note)
    assert note.startswith("The trials ran in 4 sessions")
    assert "the result also holds for other sessions like these in 2 cells: each that has one" in note
    (table,) = occasion_tables(study, analysis)
    clean, loss = table.rows
    assert loss[5] == "yes"
    assert (clean[1], clean[2]) == ("h3", "6, 6, 6, 6")
    assert len(loss[3].split(", ")) == 4
    low, high = (float(end.replace("−", "-")) for end in loss[4].partition("(")[2].rstrip(")").split(" … "))
    assert low < 100 * np.log(1 - 0.22) < high
    assert "Sessions" in write_report(tmp_path).read_text()


def test_occasions_that_do_not_agree_are_told_at_the_answer(tmp_path: Path) -> None:
    """Where they do not, and by how much they differ beside the blocks of one."""
    study = read_study(on_occasions(tmp_path, 6, (1.0, 1.3, 0.8, 1.1)))
    analysis = analyse(study)
    (note,) = (note for note in analysis.notes if "not the same in each session" in note)
    assert "1 MB/loss (p = " in note
    assert "1 MB/clean" not in note
    (table,) = occasion_tables(study, analysis)
    between, within = (float(table.rows[1][at]) for at in (7, 8))
    assert between > 2 * within
    assert float(table.rows[0][7]) < 2 * float(table.rows[0][8])


def test_a_difference_that_varies_with_the_occasion_is_not_shown_for_others(tmp_path: Path) -> None:
    """Of 24 pairs it is certain; of four occasions that disagree by as much, it is not."""
    study = read_study(on_occasions(tmp_path, 6, (1.0, 1.0, 0.6, 1.5)))
    analysis = analyse(study)
    loss = next(each for each in analysis.comparisons if each.path == "loss")
    assert loss.conclusion.found
    assert any("like these in 1 MB/clean; elsewhere it is about these alone" in note for note in analysis.notes)
    (table,) = occasion_tables(study, analysis)
    assert table.rows[1][5] == "not shown"


def test_two_occasions_are_too_few_for_others(tmp_path: Path) -> None:
    """From two an interval over them would hold nearly everything."""
    study = read_study(on_occasions(tmp_path, 12))
    analysis = analyse(study)
    (note,) = (note for note in analysis.notes if "session" in note)
    assert "The answer is about these 2: what another day or machine would show takes at least 3 sessions" in note
    (table,) = occasion_tables(study, analysis)
    assert {row[5] for row in table.rows} == {"–"}


def test_a_block_of_two_occasions_is_of_neither(tmp_path: Path) -> None:
    """A run that was interrupted within it went on the next day."""
    folder = on_occasions(tmp_path, 6)
    file = folder / "tables/trials.parquet"
    split = (pl.col("block") == 5) & (pl.col("arm") == "h3")
    pl.read_parquet(file).with_columns(occasion=pl.when(split).then(2).otherwise("occasion")).write_parquet(file)
    study = read_study(folder)
    (table,) = occasion_tables(study, analyse(study))
    assert table.rows[0][2] == "5, 6, 6, 6"


def test_failures_leave_the_difference_without_a_deviation_and_not_without_a_row(tmp_path: Path) -> None:
    """A failed trial ranks worst, and has no logarithm."""
    folder = on_occasions(tmp_path, 6)
    file = folder / "tables/trials.parquet"
    failed = (pl.col("block") < 6) & (pl.col("arm") == "h3")
    status = pl.when(failed).then(pl.lit("failed")).otherwise("status")
    pl.read_parquet(file).with_columns(status=status).write_parquet(file)
    study = read_study(folder)
    (table,) = occasion_tables(study, analyse(study))
    assert table.rows[0][3].startswith("by failures, ")
    assert table.rows[0][4] == "–"
