# SPDX-License-Identifier: Apache-2.0
"""How often independent and coupled studies are called dependent, with enough of them for a level."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from disturbed_rates import spells

from quiclab.compare.statistics import independence

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("arms", [1, 3])
@pytest.mark.parametrize(
    ("pairs", "coupling", "least", "most"),
    [(20, 0.0, 0, 0.07), (7, 0.0, 0, 0.07), (20, 0.3, 0.8, 1), (20, 0.6, 0.99, 1), (7, 0.6, 0.6, 1)],
)
def test_the_level_and_the_power(pairs: int, coupling: float, least: float, most: float, arms: int) -> None:
    """Nine cells; several arms share their baseline, which must not raise the level."""
    rng = np.random.default_rng(8)

    def courses(number: int) -> npt.NDArray[np.float64]:
        values = rng.standard_normal((number, pairs))
        for at in range(1, pairs):
            values[:, at] = coupling * values[:, at - 1] + math.sqrt(1 - coupling**2) * values[:, at]
        return values

    called = 0
    for _ in range(600):
        found = independence([list(courses(1) - courses(arms)) for _ in range(9)])
        assert found is not None
        called += found.neighbours_depend or found.moves
    assert least <= called / 600 <= most


def test_spells_of_a_busy_machine_are_no_dependence() -> None:
    """A trial that counts is disturbed by at most 1 %: in spells of several blocks, in one arm, beside noise of
    3 %, it raises no more alarms than there are anyhow."""
    rng, called = np.random.default_rng(9), 0
    for _ in range(600):
        found = independence([list(rng.normal(0, 0.03, (1, 20)) - spells(rng, 20, 1)) for _ in range(9)])
        assert found is not None
        called += found.neighbours_depend or found.moves
    assert called / 600 <= 0.07
