# SPDX-License-Identifier: Apache-2.0
"""When the laboratory's own faults leave a cell without an answer."""

from __future__ import annotations

import numpy as np
import pytest

from quiclab.analysis.model import ArmResult
from quiclab.analysis.refusals import too_slow


def arm(name: str, attempts: int, voids: int) -> ArmResult:
    """An arm of which only the attempts are known."""
    return ArmResult(name, (), attempts, voids, None, None, None, None)


@pytest.mark.parametrize(
    ("attempts", "voids", "refused"),
    [(8, 1, False), (9, 2, False), (10, 3, True), (23, 3, False), (24, 4, True), (210, 10, False)],
)
def test_a_rate_above_the_limit_is_shown_and_not_guessed(attempts: int, voids: int, refused: bool) -> None:
    """Two of nine are no proof of more than 5 per cent, three of ten are."""
    found = too_slow(arm("h2", attempts, voids), arm("h3", attempts, voids))
    assert bool(found) is refused
    if refused:
        assert found.startswith(
            f"Machine too slow: {voids} of {attempts} attempts of h2 were void, more than chance makes of the 5 % that "
        )


def test_rates_that_differ_between_the_arms_refuse_a_cell() -> None:
    """Ten voids of 210 are below the limit, but against none they are no accident; in one of 50 cells they are."""
    arms = arm("h2", 210, 10), arm("h3", 210, 0)
    assert too_slow(*arms).startswith(
        "Machine too slow for one arm: 10 of 210 attempts of h2 were void, but 0 of 210 attempts of h3, so that"
    )
    assert too_slow(*arms, cells=50) == ""


@pytest.mark.parametrize("pairs", [7, 10, 20, 40])
def test_an_ordinary_machine_loses_hardly_any_cell(pairs: int) -> None:
    """At 3 % of voids at most one cell of a hundred is refused, and at 30 % nearly all of 20 pairs or more."""
    rng = np.random.default_rng(pairs)

    def share(rate: float) -> float:
        draws = rng.negative_binomial(pairs, 1 - rate, (400, 2))
        return sum(bool(too_slow(*(arm("x", pairs + int(v), int(v)) for v in two), cells=9)) for two in draws) / 400

    assert share(0.03) <= 0.01
    assert share(0.3) >= (0.95 if pairs >= 20 else 0.5)
