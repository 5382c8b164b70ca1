# SPDX-License-Identifier: Apache-2.0
"""A study that was looked at before its end, or grew after a look, is told and decided in another way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse, analyse_study
from quiclab.compare.interim_analyses import looks_at, remember_look
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.study import read_study
from quiclab.report.page.write import write_report
from quiclab.store.look_records import FILE, read_looks

SHAPE = Shape(workloads=("1 MB",), paths=("clean", "loss"), blocks=14, failures=frozenset(), voids=frozenset())


class Course:
    """A study of which blocks are run, and which is looked at, as a person would."""

    def __init__(self, folder: Path, planned: int, **resolved: object) -> None:
        self.folder = write_study(folder, SHAPE)
        self._trials = pl.read_parquet(folder / "tables/trials.parquet")
        self._resolved = json.loads((folder / "resolved.json").read_text()) | {"matters_pct": 2.0}
        self.change(blocks=planned, **resolved)

    def change(self, **resolved: object) -> None:
        """Change the spec."""
        self._resolved |= resolved
        (self.folder / "resolved.json").write_text(json.dumps(self._resolved))

    def run(self, blocks: int) -> StudyAnalysis:
        """Run so many blocks in all, and look at nothing."""
        self._trials.filter(pl.col("block") < blocks).write_parquet(self.folder / "tables/trials.parquet")
        return analyse_study(self.folder)

    def look(self, blocks: int) -> StudyAnalysis:
        """Run so many blocks in all, and look at the result."""
        found = self.run(blocks)
        remember_look(read_study(self.folder), ["ttlb_ms"])
        return found


def said(analysis: StudyAnalysis, words: str) -> bool:
    """Whether a note holds these words."""
    return any(words in note for note in analysis.notes)


def test_a_study_that_ran_as_planned_is_tested_as_planned(tmp_path: Path) -> None:
    """Also when it is looked at again."""
    course = Course(tmp_path, 14)
    for found in (course.look(14), course.look(14)):
        assert not found.sequential
        assert not said(found, "blocks")
    assert len(read_looks(tmp_path)) == 1


def test_blocks_that_were_added_after_a_look_are_said_and_decided_by_the_sequence(tmp_path: Path) -> None:
    """With the number of looks, and what the usual test would do."""
    course = Course(tmp_path, 7)
    assert not course.look(7).sequential
    course.change(blocks=10)
    assert course.look(10).sequential
    course.change(blocks=14)
    found = course.look(14)
    assert found.sequential
    assert said(
        found, "7 were planned when the result was first seen, 14 have run, and the study was looked at 2 times"
    )
    assert said(found, "(with 7 and 10 blocks)")
    assert said(found, "12 to 23 %")
    for each in found.comparisons:
        assert each.interval_pct is not None
        assert each.interval_pct.confidence == 1 - 0.05 / 2
    page = write_report(tmp_path).read_text()
    assert "Blocks were added after an interim look" in page
    assert "sequential signed-rank test, Bonferroni" in page
    assert "exact signed-rank test of the pairs decides" not in page


def test_blocks_that_were_added_before_any_look_are_planned_blocks(tmp_path: Path) -> None:
    """`run --no-report`, or a run that was interrupted, shows no result."""
    course = Course(tmp_path, 7)
    course.run(7)
    course.change(blocks=14)
    found = course.look(14)
    assert not found.sequential
    assert not said(found, "look")


def test_a_look_before_the_end_costs_the_end_nothing(tmp_path: Path) -> None:
    """Seven of 14 blocks are decided by the sequence, as somebody may stop there; all 14 as it was planned."""
    course = Course(tmp_path, 14)
    early = course.look(7)
    assert early.sequential
    assert said(early, "Only 7 of the 14 blocks that were planned have run")
    found = course.look(14)
    assert not found.sequential
    assert not said(found, "blocks that were planned")


def test_a_study_that_is_ended_by_what_a_look_showed_does_not_become_a_planned_one(tmp_path: Path) -> None:
    """Writing the number of blocks that are there into the spec helps nobody."""
    course = Course(tmp_path, 14)
    course.look(8)
    course.change(blocks=8)
    found = course.look(8)
    assert found.sequential
    assert said(found, "Only 8 of the 14 blocks")


def test_a_plan_that_was_cut_before_any_look_is_a_plan(tmp_path: Path) -> None:
    """Twelve of 14 had run when the spec was changed to ten: nobody had seen a result."""
    course = Course(tmp_path, 14)
    course.run(12)
    course.change(blocks=10)
    assert not course.look(12).sequential


def test_void_blocks_that_are_tried_again_are_no_added_blocks(tmp_path: Path) -> None:
    """A block counts as run when it was tried: the laboratory's faults are not the result's."""
    course = Course(tmp_path, 14)
    file = tmp_path / "tables/trials.parquet"
    void = pl.read_parquet(file).with_columns(
        status=pl.when(pl.col("block") == 3).then(pl.lit("void")).otherwise("status")
    )
    void.write_parquet(file)
    first = analyse_study(tmp_path)
    remember_look(read_study(tmp_path), ["ttlb_ms"])
    assert {each.pairs for each in first.comparisons} == {13}
    assert not first.sequential
    again = course.look(14)
    assert {each.pairs for each in again.comparisons} == {14}
    assert not again.sequential


def test_a_cell_that_is_new_is_as_planned(tmp_path: Path) -> None:
    """Its result was never seen."""
    course = Course(tmp_path, 14)
    trials = pl.read_parquet(tmp_path / "tables/trials.parquet")
    trials.filter(pl.col("path") == "clean").write_parquet(tmp_path / "tables/trials.parquet")
    remember_look(read_study(tmp_path), ["ttlb_ms"])
    assert not course.look(14).sequential


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"alpha": 0.05}, {"alpha": 0.1}, "alpha was 0.05 when the result was first seen, and is 0.1 now"),
        ({"matters_pct": 2.0}, {"matters_pct": 5.0}, "mattered from 2 % on when the result was first seen"),
        ({}, {"metric": "ttfb_ms"}, "compared ttlb_ms when the result was first seen, and compares ttfb_ms now"),
    ],
)
def test_what_was_chosen_after_a_look_is_said(
    tmp_path: Path, before: dict[str, object], after: dict[str, object], words: str
) -> None:
    """The level, the size that matters, and the metric."""
    course = Course(tmp_path, 14, **before)
    assert not said(course.look(14), "first seen")
    course.change(**after)
    found = course.look(14)
    assert said(found, words)
    assert not found.sequential


def test_single_blocks_are_not_looked_at(tmp_path: Path) -> None:
    """A bundle is the same bytes again and again."""
    course = Course(tmp_path, 14, only_blocks=["x"])
    assert not course.look(1).sequential
    assert not (tmp_path / FILE).exists()
    assert looks_at(read_study(tmp_path), ["ttlb_ms"]) is None


def test_without_an_excluded_block_it_is_decided_by_the_same_test(tmp_path: Path) -> None:
    """Leaving a block out by hand does not make the study one that was stopped early."""
    course = Course(tmp_path, 14)
    study = read_study(course.folder)
    rest = replace(study, trials=study.trials.filter(pl.col("block") != 13))
    assert analyse(rest).sequential
    assert not analyse(rest, sequential=False).sequential


def test_looks_that_cannot_be_read_are_told_at_the_answer(tmp_path: Path) -> None:
    """Lost looks may have decided how many blocks there are, so the answer tells of them."""
    course = Course(tmp_path, 14)
    assert not said(course.look(14), FILE)
    file = tmp_path / FILE
    file.write_bytes(b"\xff\n" + b"[" * 5000 + b"\n" + file.read_bytes())
    assert said(course.run(14), f"{FILE} has 2 lines that cannot be read")
