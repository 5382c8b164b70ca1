# SPDX-License-Identifier: Apache-2.0
"""A study held against its spec: trials and attempts that should be there, and how far it grew."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from specs import SMALL, study_of

from quiclab.model.bounds import MOST_BLOCKS
from quiclab.model.study import Study
from quiclab.store.layout import BLOCK_CUT, BLOCK_VOID, SEQUENTIAL, Attempt, StudyDir
from quiclab.store.look_records import InterimLook, keep_look
from quiclab.study.as_specified import doubts_by_growth, growth_differences, what_lacks
from quiclab.study.sequential_run import Goal, keep_growth, more_blocks

BLOCKS = {"a": "one", "b": "one", "c": "two"}
LATE = "the server waited for a processor"


def tried(trial: str, **reasons: str) -> list[Attempt]:
    """Attempts at a trial by their numbers, `_1` for the first: void for a reason, or verified without one."""
    return [Attempt(trial, int(name[1:]), "void" if why else "verified", why) for name, why in reasons.items()]


def test_an_attempt_at_a_block_ends_with_its_first_void_trial() -> None:
    """So a trial may lack some, as long as another one of its block was void in them, or the block was cut short."""
    attempts = {
        "a": tried("a", _1=LATE, _2=BLOCK_VOID, _3=BLOCK_CUT, _4=""),
        "b": tried("b", _2=LATE, _4=""),
        "c": tried("c", _1=""),
    }
    assert what_lacks([*BLOCKS], attempts, BLOCKS.__getitem__) == []


def test_what_was_taken_out_is_told() -> None:
    """An attempt after which nobody would have tried again, those that are not there, and a trial."""
    attempts = {"a": tried("a", _1="", _4=""), "b": tried("b", _2=BLOCK_VOID, _4="")}
    (lacking, earlier) = what_lacks([*BLOCKS], attempts, BLOCKS.__getitem__)
    assert "1 of 3 planned trials are missing" in lacking
    assert "The ledger lacks 3 attempts" in earlier


_CELL = "1MB/plain"


def _grown(folder: Path, looks: int = 3, effect_pct: float = 2.0) -> tuple[StudyDir, Study, dict[str, int]]:
    """A study that grew twice and was looked at, with its spec and the blocks of its ledger."""
    study = replace(study_of(folder, SMALL), blocks=8)
    study_dir = StudyDir(folder)
    blocks: dict[str, int] = {}
    for _ in range(2):
        blocks = more_blocks({_CELL}, blocks, study.blocks, 400)
    keep_growth(study_dir, study, Goal(effect_pct, 400), blocks, [{"pairs": {}, "states": {}}] * looks)
    keep_look(folder, InterimLook("2026-01-01T00:00:00+00:00", 8, {_CELL: 13}, study.alpha, ("ttlb_ms",), 2.0))
    return study_dir, study, blocks


def test_a_study_that_grew_by_its_rule_has_no_doubt(tmp_path: Path) -> None:
    """8, 10, 13 blocks, after three looks."""
    study_dir, study, blocks = _grown(tmp_path)
    assert blocks == {_CELL: 13}
    assert doubts_by_growth(study_dir, study, blocks) == []
    assert growth_differences(study_dir, study) == []


def test_a_level_that_was_changed_is_a_difference(tmp_path: Path) -> None:
    """The spec has it, too."""
    study_dir, study, _ = _grown(tmp_path)
    file = tmp_path / SEQUENTIAL
    file.write_text(json.dumps(json.loads(file.read_text()) | {"alpha": 0.5}))
    (found,) = growth_differences(study_dir, study)
    assert (found.place, found.what) == (SEQUENTIAL, "alpha")


def test_looks_that_were_removed_are_missed(tmp_path: Path) -> None:
    """Each look lets a study grow once."""
    study_dir, study, blocks = _grown(tmp_path, looks=1)
    (told,) = doubts_by_growth(study_dir, study, blocks)
    assert "1 look" in told
    assert "2 looks" in told


def test_a_margin_other_than_that_of_the_looks_is_told(tmp_path: Path) -> None:
    """Nothing else says what mattered."""
    study_dir, study, blocks = _grown(tmp_path, effect_pct=50.0)
    (told,) = doubts_by_growth(study_dir, study, blocks)
    assert "from 50 % on" in told


@pytest.mark.parametrize("content", [None, "[]", "{", json.dumps({"effect_pct": 2, "at_most": 9, "looks": [],
                                     "blocks": {_CELL: MOST_BLOCKS + 1}})])  # fmt: skip
def test_without_its_file_the_growth_is_not_explained(tmp_path: Path, content: str | None) -> None:
    """The file is named, and no trial is blamed."""
    study_dir, study, blocks = _grown(tmp_path)
    if content is None:
        (tmp_path / SEQUENTIAL).unlink()
    else:
        (tmp_path / SEQUENTIAL).write_text(content)
    told = doubts_by_growth(study_dir, study, blocks)
    assert all(SEQUENTIAL in each for each in told)
    assert any("13 blocks" in each for each in told)
    assert any("cannot be read" in each for each in told) == (content is not None)
