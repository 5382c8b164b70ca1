# SPDX-License-Identifier: Apache-2.0
"""The small variant of each cell: fewer pairs, and the same trials otherwise."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from quiclab.plan.make import make_plan
from quiclab.plan.power import attainable
from quiclab.spec.fewer_pairs import fewest_pairs, small_spec, small_study
from quiclab.spec.headlines import HEADLINES
from quiclab.spec.read import read_study

CELLS = sorted(spec.parent.name for spec in HEADLINES.glob("*/spec.toml"))


@pytest.mark.parametrize("cell", CELLS)
def test_only_the_number_of_pairs_differs(cell: str, tmp_path: Path) -> None:
    """The spec that is written reads as what is foretold; its trials are the first ones of the whole, seeds too."""
    file = HEADLINES / cell / "spec.toml"
    whole, small = read_study(file), tmp_path / "spec.toml"
    small.write_text(small_spec(file, whole))
    found = read_study(small)
    assert found == small_study(whole)
    assert dataclasses.replace(found, name=whole.name, blocks=whole.blocks, aa=whole.aa) == whole
    first = {row.trial_id: row.seed for row in make_plan(whole) if row.kind == "main" and row.block < found.blocks}
    assert {row.trial_id: row.seed for row in make_plan(found)} == first


@pytest.mark.parametrize("cell", CELLS)
def test_no_fewer_pairs_could_decide_anything(cell: str) -> None:
    """All comparisons of a cell together can be significant with these; with one pair less none ever is. One arm alone
    is compared with nothing: its numbers are held against the paper's."""
    study = read_study(HEADLINES / cell / "spec.toml")
    pairs = fewest_pairs(study)
    assert pairs == 6 < study.blocks
    assert (attainable(study, pairs).together is None) is (len(study.measured_arms) == 1)
    assert attainable(study, pairs - 1).together is None
