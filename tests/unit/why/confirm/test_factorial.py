# SPDX-License-Identifier: Apache-2.0
"""Two or three causes in all combinations: parts that add up, and what an interaction does to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from confirming import in_blocks

from quiclab.why.account import Why
from quiclab.why.confirm.declaration import Predicted, TrialPlace
from quiclab.why.confirm.factorial import judge_together, shapley
from quiclab.why.confirm.joint_declaration import DeclaredTogether, Removed, combinations_of, joined
from quiclab.why.confirm.times import WHYS, Times

BLOCKS = 10


def _declared(*causes: str) -> DeclaredTogether:
    return DeclaredTogether(
        study="s",
        cell="1MB/p",
        arm="h3",
        alpha=0.05,
        seed=1,
        total_ms=1000.0,
        settings={cause: ("sender", cause, 1) for cause in causes},
        predicted={cause: Predicted(200.0, 190.0, 210.0, 0.95, 7) for cause in causes},
        tolerance_ms=dict.fromkeys(causes, 50.0),
        places={joined(gone): TrialPlace("1MB/p", joined(gone)) for gone in combinations_of(causes)},
        spec_sha256="",
    )


def _run(totals: Mapping[Removed, float], causes: tuple[str, ...]) -> dict[str, dict[str, Times]]:
    """Times with a little noise; each cause has 200 ms of its own where it is not taken away."""
    rng = np.random.default_rng(1)
    found: dict[str, dict[str, Times]] = {cause: {} for cause in causes}
    for gone, total in totals.items():
        why = np.zeros((BLOCKS, len(WHYS)))
        why[:, list(WHYS).index(Why.LINK_BUSY)] = total + rng.normal(0, 1, BLOCKS)
        for cause in causes:
            own = np.full(BLOCKS, 0.0 if cause in gone else 200.0)
            found[cause][joined(gone)] = Times(why.sum(axis=1), own, why)
    return found


def test_parts_of_three_causes_add_up_in_each_block_however_they_interact() -> None:
    causes = ("a", "b", "c")
    rng = np.random.default_rng(7)
    totals = {gone: rng.uniform(500, 1000, 6) for gone in combinations_of(causes)}
    parts = shapley(totals, causes)
    whole = totals[frozenset()] - totals[frozenset(causes)]
    assert np.sum(list(parts.values()), axis=0) == pytest.approx(whole)
    # By hand, for one of them: its place in six orders.
    s = {joined(gone): each for gone, each in totals.items()}
    by_hand = (2 * (s[""] - s["a"]) + (s["b"] - s["a+b"]) + (s["c"] - s["a+c"]) + 2 * (s["b+c"] - s["a+b+c"])) / 6
    assert parts["a"] == pytest.approx(by_hand)


def test_a_cause_behind_another_one_takes_its_time_only_when_it_goes_last() -> None:
    """Either of two windows limits: taking one away alone gains little, both together gain all."""
    none, a, b, both = frozenset[str](), frozenset("a"), frozenset("b"), frozenset("ab")
    found = judge_together(_declared("a", "b"), _run({none: 1000, a: 1000, b: 1000, both: 600}, ("a", "b")))
    assert found.final
    assert found.blocks == BLOCKS
    assert found.whole.ms == pytest.approx(400, abs=3)
    for part in found.parts:
        assert part.part.ms == pytest.approx(200, abs=3)
        assert part.first.ms == pytest.approx(0, abs=3)
        assert part.last.ms == pytest.approx(400, abs=3)
        assert part.removed_share == 1.0
        assert part.decided


def test_a_cause_that_takes_nothing_is_decided_too_and_few_blocks_decide_nothing() -> None:
    none, a, b, both = frozenset[str](), frozenset("a"), frozenset("b"), frozenset("ab")
    run = _run({none: 1000, a: 700, b: 1000, both: 700}, ("a", "b"))
    found = judge_together(_declared("a", "b"), run)
    assert [round(part.part.ms or 0, -1) for part in found.parts] == [300, 0]
    assert found.final
    few = {cause: {name: in_blocks(times, slice(0, 7)) for name, times in each.items()} for cause, each in run.items()}
    assert not judge_together(_declared("a", "b"), few).final


def test_the_hash_is_of_the_content() -> None:
    assert _declared("a", "b").sha256 == _declared("a", "b").sha256 != _declared("a", "c").sha256
