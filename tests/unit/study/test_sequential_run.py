# SPDX-License-Identifier: Apache-2.0
"""How a study goes on: which cells grow, and by how much."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from specs import SMALL, study_of

from quiclab.plan.make import grow_plan, make_plan
from quiclab.plan.size import plan_size
from quiclab.store.layout import StudyDir
from quiclab.study.sequential_run import Goal, keep_growth, more_blocks, planned_trials


def test_open_cells_grow_by_a_quarter_up_to_the_bound() -> None:
    """At least by two blocks; decided cells do not."""
    assert more_blocks({"a"}, {"b": 40}, 4, 100) == {"a": 6}
    assert more_blocks({"a", "b"}, {"b": 40}, 4, 45) == {"a": 6, "b": 45}
    assert more_blocks({"b"}, {"b": 45}, 4, 45) == {"b": 45}
    assert more_blocks({"b"}, {"b": 45}, 4, 20) == {"b": 45}, "blocks that were planned stay planned"


def test_a_grown_plan_begins_with_the_old_one(tmp_path: Path) -> None:
    """Identity follows from content: a block has the ids and the seed that it has in a plan of so many blocks."""
    study = study_of(tmp_path, SMALL)
    before = make_plan(study)
    cell = next(row.cell_id for row in before if row.kind == "main")
    grown = grow_plan(study, {cell: study.blocks + 3})
    assert grown[: len(before)] == before
    new = grown[len(before) :]
    assert {row.cell_id for row in new} == {cell}
    assert len({row.block for row in new}) == 3
    assert [row.position for row in grown] == list(range(len(grown)))
    larger = {row.trial_id: row.seed for row in make_plan(dataclasses.replace(study, blocks=study.blocks + 3))}
    assert all(larger[row.trial_id] == row.seed for row in new)


THREE = (
    SMALL
    + """
[[arm]]
name = "third"
protocol = "h3"
client = "aioquic"
server = "aioquic"
"""
)


def test_blocks_of_some_arms_are_those_blocks_without_the_others(tmp_path: Path) -> None:
    """Trials keep their identities, seeds and order; a mirrored pair of blocks stays one; blocks behind them are
    whole."""
    study = study_of(tmp_path, THREE)
    cell = next(row.cell_id for row in make_plan(study) if row.kind == "main")
    few = [study.measured_arms[number].name for number in (0, 2)]
    whole = [row for row in grow_plan(study, {cell: 8}) if row.cell_id == cell]
    grown = grow_plan(study, {cell: 8}, {cell: [few] * 6})
    narrow = [row for row in grown if row.cell_id == cell]
    assert [row.position for row in grown] == list(range(len(grown)))
    assert [row.trial_id for row in narrow] == [r.trial_id for r in whole if r.block >= 6 or r.arm in few]
    orders = [[row.arm for row in narrow if row.block == block] for block in range(8)]
    assert all(len(order) == (2 if block < 6 else 3) for block, order in enumerate(orders))
    assert all(orders[block] == orders[block + 1][::-1] for block in range(0, 8, 2))
    assert plan_size(study, {cell: 8}, {cell: [few] * 6}).trials == len(grown)


def test_arms_of_blocks_are_kept_when_a_study_grows(tmp_path: Path) -> None:
    """A run that goes on with the study, such as by --until, plans what has run as it ran."""
    study, place = study_of(tmp_path, THREE), StudyDir(tmp_path)
    cell = next(row.cell_id for row in make_plan(study) if row.kind == "main")
    few = [arm.name for arm in study.measured_arms[:2]]
    keep_growth(place, study, Goal(2, 60), {cell: 6}, [], {cell: [few] * 6})
    before = planned_trials(study, place)
    keep_growth(place, study, Goal(2, 60), {cell: 7}, [{}])
    after = planned_trials(study, place)
    assert [row for row in after if row.block < 6] == [row for row in before if row.block < 6]
    assert {row.arm for row in after if row.block == 6 and row.cell_id == cell} == {a.name for a in study.measured_arms}
