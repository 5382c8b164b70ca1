# SPDX-License-Identifier: Apache-2.0
"""Parts of mechanisms' time that are told as their own where two arms differ in them."""

from __future__ import annotations

import pytest

from quiclab.why.account import Why
from quiclab.why.cause_parts import Known, Pair
from quiclab.why.divided import divided
from quiclab.why.mechanisms import TRIAL

LOSS, OWN = (Why.WINDOW_AFTER_LOSS, "loss_on_the_path"), (Why.WINDOW_AFTER_LOSS, "larger_window_reduction")
_Left = tuple[float | None, float | None]
PAIRS: list[Pair] = [(f"a{block}", f"b{block}") for block in range(6)]


def _known(left: _Left, own_ms: tuple[float, float]) -> Known:
    """Trials with 100 ms after losses; each arm's reductions leave a share, and are a part of that time."""
    ms, numbers, tables = {}, {}, {}
    for block, pair in enumerate(PAIRS):
        for arm, trial in enumerate(pair):
            share, own = left[arm], own_ms[arm]
            ms[trial] = {LOSS: 100.0}
            tables[trial] = {LOSS: frozenset({"losses"})}
            numbers[trial] = {
                TRIAL: {} if share is None else {("window_left_by_a_reduction", "%"): share + block / 10},
                "larger_window_reduction": {("time", "ms"): own, ("part_of_loss_on_the_path", "ms"): own},
            }
    return Known(ms, tables, numbers, {})


def test_arms_that_differ_in_it_have_it_apart() -> None:
    """Sums stay, and so does what decided the reason."""
    found = divided(_known((70, 50), (0, 60)), PAIRS)
    assert found.ms["a0"] == {LOSS: 100}
    assert found.ms["b0"] == {LOSS: 40, OWN: 60}
    assert found.evidence["b0"][OWN] == {"losses"}


@pytest.mark.parametrize(
    ("left", "own_ms"),
    [((50, 50), (20, 60)), ((None, 50), (0, 60)), ((70, 68), (0, 60)), ((70, 70), (0, 0)), ((50, 70), (0, 60))],
    ids=["both halve it", "nothing lost in one", "by little", "none", "the other halves it"],
)
def test_it_is_no_cause_of_its_own_elsewhere(left: _Left, own_ms: tuple[float, float]) -> None:
    """Alike reductions leave the losses as the difference, and an arm without one tells nothing of it."""
    known = _known(left, own_ms)
    assert divided(known, PAIRS) is known
