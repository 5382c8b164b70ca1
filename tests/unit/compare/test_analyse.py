# SPDX-License-Identifier: Apache-2.0
"""From files to comparisons."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.model import Comparison, Outcome, StudyAnalysis
from quiclab.model.errors import DecodeError, SpecError
from quiclab.store.layout import BLOCK_VOID

QUIET = replace(Shape(), failures=frozenset(), voids=frozenset())
SMALL = replace(QUIET, workloads=("100 KB",), paths=("loss",))


def cell(analysis: StudyAnalysis, path: str, workload: str) -> Comparison:
    """The comparison of one main cell."""
    return next(c for c in analysis.comparisons if (c.path, c.workload) == (path, workload))


def test_finds_what_was_planted(tmp_path: Path) -> None:
    """h3 is faster with loss, slower in the cell made slower, and alike on the clean path."""
    analysis = analyse_study(write_study(tmp_path, QUIET))
    assert len(analysis.comparisons) == 9
    assert cell(analysis, "loss", "1 MB").outcome is Outcome.OTHER_BETTER
    assert cell(analysis, "far", "100 KB").outcome is Outcome.BASELINE_BETTER
    assert cell(analysis, "clean", "1 MB").outcome is Outcome.NOT_SIGNIFICANT


def test_the_difference_is_the_typical_ratio_within_pairs(tmp_path: Path) -> None:
    """The median of the means of every two log ratios of a block, computed here from the files alone."""
    found = cell(analyse_study(write_study(tmp_path, QUIET)), "loss", "5 MB")
    values = pl.read_parquet(tmp_path / "tables/trials.parquet").join(
        pl.read_parquet(tmp_path / "metrics.parquet").filter(pl.col("name") == "ttlb_ms"), on="trial_id"
    )
    h2, h3 = (
        values.filter((pl.col("cell_id") == "5 MB/loss") & (pl.col("arm") == arm)).sort("block")["value"].to_numpy()
        for arm in ("h2", "h3")
    )
    logs = np.log(h2 / h3)
    middle = np.median([(one + two) / 2 for at, one in enumerate(logs) for two in logs[at:]])
    assert found.difference_pct == pytest.approx(100 * (np.exp(-middle) - 1))
    assert found.interval_pct is not None
    assert found.interval_pct.low <= found.difference_pct <= found.interval_pct.high


def test_another_arm_may_be_the_baseline(tmp_path: Path) -> None:
    """The same pairs the other way round; controls keep their own arm."""
    study = write_study(tmp_path, QUIET)
    usual, turned = analyse_study(study), analyse_study(study, baseline="h3")
    one, other = (cell(each, "loss", "1 MB") for each in (usual, turned))
    assert (other.baseline.arm, other.other.arm, other.pairs) == ("h3", "h2", one.pairs)
    assert other.outcome is Outcome.BASELINE_BETTER
    assert [each.baseline.arm for each in turned.controls] == [each.baseline.arm for each in usual.controls]
    with pytest.raises(SpecError, match="the study has no arm 'h4'"):
        analyse_study(study, baseline="h4")


def test_failures_rank_worst_and_are_counted(tmp_path: Path) -> None:
    """Two failed trials of h2 stay in all nine pairs, open the interval downwards and leave Welch blank."""
    found = cell(analyse_study(write_study(tmp_path, replace(Shape(), voids=frozenset()))), "loss", "5 MB")
    assert (found.baseline.failures, found.other.failures, found.pairs) == (2, 0, 9)
    assert found.interval_pct is not None
    assert found.interval_pct.low == -math.inf
    assert found.welch_p is None
    assert found.mann_whitney_p is not None


def test_an_arm_that_always_fails_loses(tmp_path: Path) -> None:
    """Only failures on one side: no percentage, but the test still decides who is better."""
    shape = replace(SMALL, failures=frozenset({("loss/100 KB", "h2", block) for block in range(9)}))
    found = analyse_study(write_study(tmp_path, shape)).comparisons[0]
    assert found.difference_pct is None
    assert found.outcome is Outcome.OTHER_BETTER


def test_voids_are_replaced_and_no_number_of_them_refuses_a_cell(tmp_path: Path) -> None:
    """Their second attempts are used, and the voids are counted: one of ten attempts, and three of twelve."""
    analysis = analyse_study(write_study(tmp_path))
    one, two = cell(analysis, "clean", "1 MB"), cell(analysis, "far", "1 MB")
    assert (one.baseline.voids, one.baseline.attempts, one.pairs) == (1, 10, 9)
    assert (two.other.voids, two.other.attempts, two.pairs) == (3, 12, 9)
    assert two.outcome is Outcome.OTHER_BETTER


def test_a_block_void_counts_against_the_arm_that_caused_it(tmp_path: Path) -> None:
    """The sound trial that was run again with its block is no void of its arm."""
    write_study(tmp_path, replace(Shape(), failures=frozenset(), workloads=("1 MB",), paths=("far",)))
    trials = pl.read_parquet(tmp_path / "tables/trials.parquet")
    mates = trials.filter((pl.col("arm") == "h2") & pl.col("block").is_in([2, 5, 7]) & (pl.col("kind") == "main"))
    mates = mates.with_columns(status=pl.lit("void"), reason=pl.lit(BLOCK_VOID), attempt=0)
    pl.concat([trials, mates.select(trials.columns)], how="vertical_relaxed").write_parquet(
        tmp_path / "tables/trials.parquet"
    )
    found = analyse_study(tmp_path).comparisons[0]
    assert (found.baseline.voids, found.baseline.attempts) == (0, 12)
    assert found.other.voids == 3


def test_controls_stand_apart(tmp_path: Path) -> None:
    """A/A cells are not corrected with the others and give the noise floor."""
    analysis = analyse_study(write_study(tmp_path, SMALL))
    assert [c.baseline.arm for c in analysis.controls] == ["h2#1", "h3#1"]
    assert all(c.adjusted_p is None and c.p is not None for c in analysis.controls)
    assert analysis.noise_floor_pct is not None
    assert analysis.noise_floor_pct < 10


def test_too_few_pairs_are_said(tmp_path: Path) -> None:
    """With four pairs nothing can be significant over nine cells, and the notes say how many could."""
    analysis = analyse_study(write_study(tmp_path, replace(QUIET, blocks=4)))
    assert not any(c.outcome.significant for c in analysis.comparisons)
    assert any("4 pairs per cell are few" in note and "takes 9 pairs" in note for note in analysis.notes)


def test_an_unknown_value_is_left_out_and_told(tmp_path: Path) -> None:
    """A verified trial without the metric loses its pair; NaN counts as unknown."""
    write_study(tmp_path, SMALL)
    metrics = pl.read_parquet(tmp_path / "metrics.parquet")
    first = pl.read_parquet(tmp_path / "tables/trials.parquet")["trial_id"][0]
    unknown = (pl.col("trial_id") == first) & (pl.col("name") == "ttlb_ms")
    metrics.with_columns(value=pl.when(unknown).then(math.nan).otherwise("value")).write_parquet(
        tmp_path / "metrics.parquet"
    )
    analysis = analyse_study(tmp_path)
    assert analysis.comparisons[0].pairs == 8
    assert any(note.startswith("No time to last byte of 1 verified trial:") for note in analysis.notes)


def test_where_higher_is_better_more_is_better(tmp_path: Path) -> None:
    """Goodput: the sign is that of the value, and the outcome says who is better."""
    analysis = analyse_study(write_study(tmp_path, SMALL), "goodput_bit_per_s")
    assert (analysis.comparisons[0].difference_pct or 0) > 0
    assert analysis.comparisons[0].outcome is Outcome.OTHER_BETTER


@pytest.mark.parametrize("content", [b"", b"not parquet"])
def test_a_broken_table_is_a_note(tmp_path: Path, content: bytes) -> None:
    """A damaged file is named, and there is an analysis all the same."""
    (write_study(tmp_path, SMALL) / "metrics.parquet").write_bytes(content)
    analysis = analyse_study(tmp_path)
    assert any(note.startswith("metrics.parquet cannot be read") for note in analysis.notes)
    assert analysis.comparisons[0].outcome is Outcome.NOT_MEASURED


def test_an_empty_directory_is_analysed_and_no_directory_is_an_error(tmp_path: Path) -> None:
    """Nothing to compare is a result; a path that is no directory is a mistake of the caller."""
    assert "No cell was compared." in analyse_study(tmp_path).notes
    with pytest.raises(DecodeError, match="does not exist"):
        analyse_study(tmp_path / "absent")
