# SPDX-License-Identifier: Apache-2.0
"""What a difference that matters takes, told before a study and by its own pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.effects import effects
from quiclab.compare.power import Needed, Power, power_to_see
from quiclab.compare.study import read_study

BEFORE = power_to_see(2.0, 7, 0.05, 9)


def test_before_a_study_it_is_told_over_a_range_of_noises() -> None:
    """More pairs for more noise, and for more comparisons."""
    assert list(BEFORE.by_noise) == [1, 3, 10]
    assert BEFORE.by_noise[1] < BEFORE.by_noise[3] < BEFORE.by_noise[10]
    assert power_to_see(2.0, 7, 0.05, 1).by_noise[3] < BEFORE.by_noise[3]
    assert f"A difference of 2 % (matters) is found in 4 of 5 studies with {BEFORE.by_noise[1]} pairs at 1 %" in (
        BEFORE.sentence
    )
    assert "7 are planned" in BEFORE.sentence


def test_a_study_tells_it_by_its_own_pairs(tmp_path: Path) -> None:
    """Its paths with loss are noisier, so they take more pairs."""
    folder = write_study(tmp_path, replace(Shape(), blocks=30, aa_blocks=0, failures=frozenset(), voids=frozenset()))
    found = power_to_see(2.0, 30, 0.05, 9, folder)
    assert len(found.by_cell) == 9
    pairs = {each.cell: each.pairs for each in found.by_cell}
    assert all(pairs[f"{size}/loss"] > 2 * pairs[f"{size}/clean"] for size in ("1 MB", "5 MB"))  # type: ignore[operator]
    assert "By the noise of the pairs that have run, 30 find a difference of 2 % (matters)" in found.sentence
    assert "rough guess" not in found.sentence
    shown = effects(analyse(read_study(folder)))
    assert dict(zip(shown["cell_id"], shown["pairs_to_matter"], strict=True)) == pairs  # the report says the same


def test_cells_that_take_more_are_named_the_worst_first() -> None:
    """Three of them; a cell without a known noise is not counted as enough."""
    cells = tuple(Needed(f"c{n}", "h3", 7, pairs) for n, pairs in enumerate((5, 6, 7, 8, 40, 30, 90, None)))
    sentence = Power(2.0, 7, {1.0: 6}, cells).sentence
    assert "in 3 of 8 cells; pairs that others take: c6 90, c4 40, c5 30, and 1 more cells take less" in sentence
    assert "rough guess" in sentence
    assert "c6 (h3) 90" in Power(2.0, 7, {1.0: 6}, (*cells, Needed("c1", "h4", 7, 5))).sentence


def test_a_study_that_tells_no_noise_is_as_one_that_has_not_run() -> None:
    """Too few pairs in every cell."""
    assert replace(BEFORE, by_cell=(Needed("c", "h3", 2, None),)).sentence == BEFORE.sentence
