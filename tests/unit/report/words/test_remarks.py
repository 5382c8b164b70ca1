# SPDX-License-Identifier: Apache-2.0
"""Results both ways: with all trials, and without what was excluded by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study import read_study
from quiclab.report.page.write import write_report
from quiclab.report.words.remarks import both_ways, remark_lines, remark_tables, without
from quiclab.store.remarks import excluded, read_remarks, say, take_back, write_remarks

SMALL = Shape(workloads=("1 MB",), paths=("clean", "loss"), aa_blocks=0, voids=frozenset())


def _trial(folder: Path, cell: str, block: int) -> str:
    trials = pl.read_parquet(folder / "tables" / "trials.parquet")
    return str(trials.filter((pl.col("cell_id") == cell) & (pl.col("block") == block))["trial_id"][0])


def test_a_block_loses_the_pair_and_only_there(tmp_path: Path) -> None:
    """Of all cells, that of the excluded trial has one pair less; the answer itself counts all trials."""
    folder = write_study(tmp_path, SMALL)
    trial = _trial(folder, "1 MB/loss", 4)
    write_remarks(folder, say([], trial, "exclusion", "a <backup> ran"))
    study, analysis = read_study(folder), analyse_study(folder)
    assert {c.pairs for c in analysis.comparisons} == {9}
    rest = without(study, [trial])
    assert study.trials.height - rest.trials.height == 2
    table = both_ways(study, analysis)
    (row,) = table.rows
    assert (row[2], row[6]) == ("9", "8")
    assert any("a <backup> ran" in line for line in remark_lines(study, analysis))
    assert any("(9 pairs)" in line and "(8 pairs)" in line for line in remark_lines(study, analysis))
    page = write_report(folder).read_text()
    assert "a &lt;backup&gt; ran" in page
    assert "With and without the excluded trials" in page


def test_an_outcome_that_changes_is_said(tmp_path: Path) -> None:
    """Six pairs can show a difference that five cannot."""
    folder = write_study(tmp_path, Shape(workloads=("1 MB",), paths=("loss",), blocks=6, voids=frozenset()))
    write_remarks(folder, say([], _trial(folder, "1 MB/loss", 0), "exclusion", "odd"))
    study, analysis = read_study(folder), analyse_study(folder)
    assert [c.outcome.value for c in analysis.comparisons] == ["other_better"]
    assert both_ways(study, analysis).rows[0][-1] == "other better becomes undecided"


def test_undo_brings_the_trial_back_and_keeps_what_was_said(tmp_path: Path) -> None:
    """Nothing is deleted: what was taken back is still on record."""
    folder = write_study(tmp_path)
    trial = _trial(folder, "1 MB/loss", 4)
    remarks = say(say([], trial, "note", "look here"), trial, "exclusion", "odd")
    assert excluded(remarks) == {trial: "odd"}
    assert excluded(say(remarks, trial, "exclusion", "very odd")) == {trial: "very odd"}
    write_remarks(folder, take_back(remarks, trial, "exclusion"))
    assert excluded(read_remarks(folder)) == {}
    study, analysis = read_study(folder), analyse_study(folder)
    assert remark_lines(study, analysis) == []
    (table,) = remark_tables(study, analysis)
    assert [row[5] for row in table.rows] == ["look here", "odd"]
    assert [row[-1].split()[0] for row in table.rows] == ["holds", "taken"]


def test_a_damaged_file_is_told_and_the_rest_shown(tmp_path: Path) -> None:
    """The answer counts all trials, whatever anybody said of them."""
    folder = write_study(tmp_path, SMALL)
    (folder / "remarks.json").write_text('{"remarks": [')
    page = write_report(folder).read_text()
    assert "remarks.json cannot be read" in page
    assert "1 % loss" in page
    (line,) = remark_lines(read_study(folder), analyse_study(folder))
    assert "remarks.json cannot be read" in line
