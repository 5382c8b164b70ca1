# SPDX-License-Identifier: Apache-2.0
"""The measuring and the analysing side may not import each other, but must say the same about power."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from quiclab.compare.statistics import pairs_needed, smallest_p
from quiclab.plan.power import attainable
from quiclab.study.specs import load_study

DEMO = Path(__file__).parents[2] / "experiments" / "demo" / "spec.toml"


@pytest.mark.parametrize("blocks", [1, 5, 9, 20])
def test_plan_and_report_agree(blocks: int) -> None:
    """The smallest p, and how many pairs one cell needs by itself."""
    study = replace(load_study(DEMO), blocks=blocks)
    power = attainable(study)
    assert power.smallest_p == smallest_p(blocks)
    assert power.blocks_alone == pairs_needed(study.alpha, power.comparisons)
