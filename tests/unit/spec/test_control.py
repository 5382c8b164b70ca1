# SPDX-License-Identifier: Apache-2.0
"""The A/A control of a spec that names no number of blocks."""

from __future__ import annotations

import pathlib

import pytest
from specs import SMALL, changed, study_of

from quiclab.plan.size import plan_size
from quiclab.spec.control import SHARE, least_blocks, usual_blocks


@pytest.mark.parametrize(("alpha", "pairs"), [(0.05, 6), (0.0625, 5), (0.01, 8), (0.5, 2)])
def test_least_blocks_are_those_whose_smallest_p_reaches_alpha(alpha: float, pairs: int) -> None:
    assert least_blocks(alpha) == pairs
    assert 2 / 2**pairs <= alpha < 2 / 2 ** (pairs - 1)


@pytest.mark.parametrize(
    ("cells", "blocks", "control"),
    [(9, 7, 7), (1, 10, 0), (1, 47, 0), (1, 48, 6), (2, 40, 10), (30, 20, 20), (9, 5, 0), (100, 5, 0)],
)
def test_the_control_has_a_fifth_of_the_trials_or_enough_or_nothing(cells: int, blocks: int, control: int) -> None:
    """No more blocks than the cells have, and none where an interval would be shorter than its level says."""
    assert usual_blocks(cells, blocks, 0.05) == control


@pytest.mark.parametrize("arms", [2, 3])
@pytest.mark.parametrize("blocks", [4, 40, 48, 90])
def test_it_takes_no_more_than_its_share_whatever_the_number_of_arms(
    tmp_path: pathlib.Path, arms: int, blocks: int
) -> None:
    third = SMALL[SMALL.rindex("[[arm]]") :].replace('name = "h3"', 'name = "h3-again"') if arms == 3 else ""
    size = plan_size(study_of(tmp_path, changed(("blocks = 4", f"blocks = {blocks}")) + third))
    assert SHARE * size.controls <= size.trials
    assert bool(size.controls) == (blocks >= 48)
