# SPDX-License-Identifier: Apache-2.0
"""Counts that protocols and settings fix: when the records show a difference by themselves, and how seldom chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from quiclab.why.account import Why
from quiclab.why.cause_parts import Known, Part
from quiclab.why.causes import Status, verdicts_of
from quiclab.why.fixed_counts import fixed_count, least_pairs
from quiclab.why.mechanisms import BY_NAME, ROUND_TRIP, TRIAL

ALPHA = 0.05
_SET_UP, _BUSY = (Why.SET_UP, "handshake_round_trips"), (Why.LINK_BUSY, "bytes_on_the_wire")


def _known(trips: Sequence[Sequence[int]], each_ms: float = 20.5, round_trip_ms: float | None = 20.0) -> Known:
    """Pairs of trials with so many round trips of the set-up, and a busy link that varies."""
    ms, facts = {}, {}
    for block, pair in enumerate(trips):
        for arm, count in zip("ab", pair, strict=True):
            trial = f"{arm}{block}"
            ms[trial] = {_BUSY: 800.0 + block, _SET_UP: each_ms * count}
            facts[trial] = {
                TRIAL: {(ROUND_TRIP, "ms"): round_trip_ms} if round_trip_ms else {},
                "handshake_round_trips": {("round_trips", ""): float(count)},
                "bytes_on_the_wire": {("bytes_served", "bytes"): 1000 * (800.0 + block)},
            }
    return Known(ms, {trial: {} for trial in ms}, facts, {})


def _statuses(known: Known, pairs: int) -> dict[str, Status]:
    return {each.name: each.status for each in verdicts_of(known, [(f"a{n}", f"b{n}") for n in range(pairs)], ALPHA)}


def test_a_round_trip_less_in_every_pair_is_shown_by_the_records_of_five_pairs() -> None:
    """The exact test of five pairs can show nothing at 5 %, and need not."""
    assert _statuses(_known([(2, 1)] * 5), 5) == {
        "handshake_round_trips": Status.RECORDED,
        "bytes_on_the_wire": Status.IN_BOTH,
    }
    (verdict, _) = verdicts_of(_known([(2, 1)] * 5), [(f"a{n}", f"b{n}") for n in range(5)], ALPHA)
    assert verdict.fixed is not None
    assert (verdict.fixed.baseline, verdict.fixed.other) == (2, 1)
    assert not verdict.step.differs(ALPHA)


@pytest.mark.parametrize(
    "known",
    [
        _known([(2, 1)] * 4 + [(2, 2)]),  # not in one pair
        _known([(2, 1)] * 4 + [(3, 1)]),  # not by as much
        _known([(2, 1)] * 5, each_ms=32.0),  # more time goes with it than a round trip takes
        _known([(2, 1)] * 5, each_ms=9.0),  # and less
        _known([(2, 1)] * 5, round_trip_ms=None),  # tables of an earlier version
    ],
)
def test_what_is_not_alike_in_every_pair_or_not_of_round_trips_is_left_to_the_test(known: Known) -> None:
    assert _statuses(known, 5)["handshake_round_trips"] is Status.UNDECIDED


def test_bytes_must_take_their_time() -> None:
    """Equally many more bytes in every pair are fixed at one rate, and not if one arm's take longer."""
    part = Part(BY_NAME["bytes_on_the_wire"], None, (_BUSY,))
    pairs = [(f"a{n}", f"b{n}") for n in range(6)]

    def known(per_kb_ms: float, spread: float) -> Known:
        ms, facts = {}, {}
        for block in range(6):
            for arm, kb in (("a", 1000.0), ("b", 1030.0 + spread * block)):
                ms[f"{arm}{block}"] = {_BUSY: kb * (0.8 if arm == "a" else per_kb_ms)}
                facts[f"{arm}{block}"] = {"bytes_on_the_wire": {("bytes_served", "bytes"): 1000 * kb}}
        return Known(ms, {}, facts, {})

    assert fixed_count(known(0.8, 0.1), pairs, part, ALPHA, 1) is not None
    assert fixed_count(known(0.8, 3.0), pairs, part, ALPHA, 1) is None
    assert fixed_count(known(0.9, 0.1), pairs, part, ALPHA, 1) is None


def test_so_many_pairs_are_asked_for_as_keep_the_level() -> None:
    assert [least_pairs(alpha, 1) for alpha in (0.05, 0.01, 0.001)] == [3, 4, 6]
    assert least_pairs(0.05, 3) == 4


@pytest.mark.parametrize("often", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("pairs", [3, 4, 6])
def test_counts_that_are_chance_after_all_are_seldom_taken_for_fixed(often: float, pairs: int) -> None:
    """Arms that are alike, where a further round trip comes by chance: at most one study in twenty."""
    rng = np.random.default_rng(pairs)
    part = Part(BY_NAME["handshake_round_trips"], None, (_SET_UP,))
    names = [(f"a{n}", f"b{n}") for n in range(pairs)]
    found = 0
    for _ in range(1000):
        known = _known((1 + (rng.random((pairs, 2)) < often)).tolist())
        found += fixed_count(known, names, part, ALPHA, 1) is not None
    assert found <= 66  # 50 are expected at most; the binomial's 99th of 100
