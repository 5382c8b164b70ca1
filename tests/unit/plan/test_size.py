# SPDX-License-Identifier: Apache-2.0
"""The size of a plan by arithmetic is that of the plan."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest
from specs import SMALL, WITH_CONTROL, changed, study_of, with_path

from quiclab.model.study import Study
from quiclab.model.units import Duration
from quiclab.plan.duration import expected_duration
from quiclab.plan.make import make_plan
from quiclab.plan.size import plan_size


def agree(study: Study) -> bool:
    """Whether counts and time are those of the rows."""
    rows, size = make_plan(study), plan_size(study)
    assert size.trials == len(rows)
    assert size.controls == sum(row.kind == "aa" for row in rows)
    assert size.blocks == len({row.block_id for row in rows})
    assert len(size.cells) == len({row.cell_id for row in rows})
    assert {(row.cell_id, row.arm) for row in size.samples} == {(row.cell_id, row.arm) for row in rows}
    assert size.expected(study) == Duration(sum(expected_duration(row, study).ns for row in rows))
    return True


@pytest.mark.parametrize(
    "text",
    [
        SMALL,
        with_path('loss = "1 %"'),
        changed(("blocks = 4", "blocks = 9\naa = {blocks = 2}")),
        changed(("[[path]]", '[[workload]]\nname = "x"\nsize = "1 MB"\n\n[[path]]')),
    ],
)
def test_the_size_is_that_of_the_plan(tmp_path: pathlib.Path, text: str) -> None:
    """Cells of several lengths, controls of fewer blocks, several arms."""
    assert agree(study_of(tmp_path, text))


def test_also_of_a_plan_that_runs_only_some_blocks(tmp_path: pathlib.Path) -> None:
    """Blocks that are left out count nowhere."""
    study = study_of(tmp_path, WITH_CONTROL)
    some = tuple(sorted({row.block_id for row in make_plan(study)}))[:5]
    assert agree(dataclasses.replace(study, only_blocks=some))
    assert plan_size(dataclasses.replace(study, only_blocks=some)).blocks == 5
