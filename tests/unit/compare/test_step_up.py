# SPDX-License-Identifier: Apache-2.0
"""Which of several statements hold: against Benjamini and Hochberg's procedure on p-values."""

from __future__ import annotations

import numpy as np
import pytest

from quiclab.compare.statistics import adjusted_p_values
from quiclab.compare.step_up import step_up


@pytest.mark.parametrize("seed", range(20))
def test_it_is_benjamini_and_hochbergs(seed: int) -> None:
    """A statement that holds of the intervals at 1 − a wherever its p is at most a: the same ones are chosen."""
    rng = np.random.default_rng(seed)
    p = rng.random(12) ** 3
    found = step_up(
        {place: (float(each), 0.95) for place, each in enumerate(p)},
        12,
        0.05,
        lambda each, level: (each[0], level),
        lambda each: each[0] <= 1 - each[1],
    )
    assert sorted(found) == np.flatnonzero(adjusted_p_values(p) <= 0.05).tolist()
    assert {each[1] for each in found.values()} <= {1 - 0.05 * len(found) / 12}


def test_questions_that_are_no_candidates_count_too() -> None:
    """Of ten questions one candidate is held against a tenth of the level."""
    for p, chosen in ((0.004, 1), (0.006, 0)):
        found = step_up({0: (p, 0.95)}, 10, 0.05, lambda e, level: (e[0], level), lambda e: e[0] <= 1 - e[1])
        assert len(found) == chosen
    assert step_up({}, 0, 0.05, lambda each, _: each, lambda _: True) == {}
