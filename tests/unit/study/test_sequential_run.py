# SPDX-License-Identifier: Apache-2.0
"""How a study goes on: which cells grow, and by how much."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from specs import SMALL, study_of

from quiclab.plan.make import grow_plan, make_plan
from quiclab.study.sequential_run import more_blocks


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
