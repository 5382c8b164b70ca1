# SPDX-License-Identifier: Apache-2.0
"""A part of a plan is of the plan: nothing in it changes when the rest is run later."""

from __future__ import annotations

import pathlib

import pytest
from specs import WITH_CONTROL, study_of

from quiclab.model.errors import SpecError
from quiclab.plan.make import make_plan
from quiclab.plan.part import WHOLE, Part, check_part


def test_the_rows_are_those_of_the_whole_plan(tmp_path: pathlib.Path) -> None:
    """With their places, ids and seeds; A/A cells have as many blocks as the others."""
    rows = make_plan(study_of(tmp_path, WITH_CONTROL))
    two = Part(blocks=2).rows_of(rows)
    assert two == tuple(row for row in rows if row.block < 2)
    assert {row.kind for row in two} == {"main", "aa"}
    assert WHOLE.rows_of(rows) == rows


def test_a_cell_runs_without_the_control_unless_that_is_named(tmp_path: pathlib.Path) -> None:
    """A/A cells are cells of their own."""
    rows = make_plan(study_of(tmp_path, WITH_CONTROL))
    one = Part(blocks=1, cells=("100KB/plain",)).rows_of(rows)
    assert {(row.cell_id, row.block) for row in one} == {("100KB/plain", 0)}
    assert {row.kind for row in Part(cells=("100KB/plain/aa-h2",)).rows_of(rows)} == {"aa"}


def test_one_block_is_of_one_cell(tmp_path: pathlib.Path) -> None:
    """A worker of a cluster runs it, with a trial of each arm."""
    rows = make_plan(study_of(tmp_path))
    one = Part(block_id=rows[0].block_id)
    assert not one.is_whole
    assert one.rows_of(rows) == tuple(
        row for row in rows if (row.cell_id, row.block) == (rows[0].cell_id, rows[0].block)
    )


@pytest.mark.parametrize(
    ("part", "told", "hint"),
    [
        (Part(blocks=0), "--blocks 0: the spec plans 4 blocks of each cell", "give 1 to 4"),
        (Part(blocks=5), "--blocks 5: the spec plans 4 blocks of each cell", "change blocks in the spec"),
        (Part(cells=("100KB/plan",)), "--cell 100KB/plan: the spec has no such cell", "did you mean 100KB/plain?"),
        (Part(blocks=1, shard=(2, 2)), "--shard 2/2 has none of the 1 blocks", "leave this shard out"),
        (Part(cells=("x",)), "--cell x: the spec has no such cell", "it has 100KB/plain, 100KB/plain/aa-h2"),
    ],
)
def test_a_part_that_there_is_not(tmp_path: pathlib.Path, part: Part, told: str, hint: str) -> None:
    """With what there is instead."""
    with pytest.raises(SpecError, match=told) as caught:
        check_part(part, study_of(tmp_path, WITH_CONTROL))
    assert hint in caught.value.hint


def test_all_that_is_wrong_about_a_part_is_told_at_once(tmp_path: pathlib.Path) -> None:
    """Each with its hint; a cell that is named twice once, and a shard that is none is not counted for blocks too."""
    part = Part(blocks=9, cells=("100KB/plan", "x", "x"), shard=(3, 2))
    with pytest.raises(SpecError, match="no such part") as caught:
        check_part(part, study_of(tmp_path, WITH_CONTROL))
    words = ("--blocks 9: ", "--shard 3/2: ", "--cell 100KB/plan: ", "--cell x: ")
    assert all(told.startswith(word) for told, word in zip(caught.value.problems, words, strict=True))
    assert "did you mean 100KB/plain?" in caught.value.problems[2]


def test_what_the_spec_leaves_out_is_no_part(tmp_path: pathlib.Path) -> None:
    """A study of named blocks has only their cells."""
    block = next(row.block_id for row in make_plan(study_of(tmp_path, WITH_CONTROL)) if row.kind == "aa")
    text = WITH_CONTROL.replace("blocks = 4\n", f'blocks = 4\nonly_blocks = ["{block}"]\n')
    with pytest.raises(SpecError, match="no such cell"):
        check_part(Part(cells=("100KB/plain",)), study_of(tmp_path, text))
