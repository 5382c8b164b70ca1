# SPDX-License-Identifier: Apache-2.0
"""Parts that follow from another one, and parts that do not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from unit.why.mechanisms.cases import CASES

from quiclab.why.account import Why
from quiclab.why.accounts import Step
from quiclab.why.cause_parts import Known, Pair, Part
from quiclab.why.mechanisms import BY_NAME, MECHANISMS, SENT_BY, TRIAL
from quiclab.why.mechanisms._measures import measures
from quiclab.why.upstream import followers, joined

PAIRS: list[Pair] = [(f"a{block}", f"b{block}") for block in range(8)]
Numbers = Mapping[str, tuple[float, float]]


def _part(name: str) -> Part:
    return Part(BY_NAME[name], None, ((Why.SLOW_START, name),))


def _known(numbers: Numbers) -> Known:
    """Numbers of all trials of both arms; every other trial has a little more."""
    trials = {
        trial: {
            TRIAL: {
                (name, ""): both[arm] * (1 + 0.02 * (block % 2))
                for name, both in numbers.items()
                if not (name.startswith(SENT_BY) and np.isnan(both[arm]))
            }
        }
        for block, pair in enumerate(PAIRS)
        for arm, trial in enumerate(pair)
    }
    return Known({}, {}, trials, {})


def _steps(*ms: float) -> dict[int, Step]:
    return {at: Step(None, 100, 100 + each, each, None) for at, each in enumerate(ms)}


def _of(names: tuple[str, ...], ms: tuple[float, ...], numbers: Numbers) -> dict[str, str]:
    found = followers(_known(numbers), PAIRS, [_part(name) for name in names], _steps(*ms))
    return {names[at]: names[above] for at, above in found.items()}


def test_slow_start_that_begins_alike_follows_from_held_acknowledgments() -> None:
    names = ("slow_start", "delayed_acknowledgment")
    assert _of(names, (90, 40), {"first_flight": (15_000, 15_000)}) == {"slow_start": "delayed_acknowledgment"}


@pytest.mark.parametrize(
    ("ms", "numbers"),
    [
        ((90.0, 40.0), {"first_flight": (30_000, 15_000)}),
        ((90.0, 40.0), {"first_flight_at_least": (47_000, np.nan), "first_flight": (np.nan, 15_000)}),
        ((90.0, -40.0), {"first_flight": (15_000, 15_000)}),
        ((-90.0, -40.0), {"first_flight": (15_000, 30_000)}),
    ],
    ids=["it begins with less", "the other with more at least", "the other goes the other way", "it is faster"],
)
def test_slow_start_of_its_own(ms: tuple[float, float], numbers: Numbers) -> None:
    assert _of(("slow_start", "delayed_acknowledgment"), ms, numbers) == {}


@pytest.mark.parametrize(("lost", "expected"), [((10, 10), True), ((20, 10), True), ((10, 20), False)])
def test_timeouts_follow_only_where_no_more_is_lost(lost: tuple[float, float], expected: bool) -> None:
    """The arm that takes longer lost as many packets, fewer, or more."""
    found = _of(("retransmission_timeout", "send_buffer_limited"), (177, 26), {"lost": lost})
    assert found == ({"retransmission_timeout": "send_buffer_limited"} if expected else {})


@pytest.mark.parametrize(
    ("senders", "expected"),
    [
        (("tcp_cubic", "tcp_cubic"), True),
        (("tcp_cubic", "quic_quinn_cubic"), False),
        (("tcp_reno", "tcp_bbr"), False),
        (("quic_quinn_default", "quic_quiche_default"), False),
    ],
)
def test_nothing_follows_where_the_arms_have_different_senders(senders: tuple[str, str], expected: bool) -> None:
    """As many are lost, and BBR answers none of them: what Reno loses by them is not due to a held acknowledgment."""
    first, second = (f"sent_by_{each}" for each in senders)
    sent = {first: (1, np.nan), second: (np.nan, 1)} if first != second else {first: (1, 1)}
    found = _of(("loss_on_the_path", "delayed_acknowledgment"), (2680, 163), {"lost_on_the_path": (20, 20), **sent})
    assert found == ({"loss_on_the_path": "delayed_acknowledgment"} if expected else {})


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({}, True),
        ({"packets_per_acknowledgment": (2.0, 2.1), "announced_ack_delay": (25, 25)}, True),
        ({"packets_per_acknowledgment": (2.0, 4.0)}, False),
        ({"packets_per_acknowledgment": (4.0, 2.0)}, True),
        ({"announced_ack_delay": (25, 100)}, False),
    ],
)
def test_held_acknowledgments_follow_from_a_limit_whatever_sends(numbers: Numbers, expected: bool) -> None:
    """A receiver that answers as often holds none back by itself; one that answers less often does."""
    other = {"sent_by_tcp_cubic": (1, np.nan), "sent_by_quic_quinn_cubic": (np.nan, 1)}
    names = ("delayed_acknowledgment", "send_buffer_limited", "loss_on_the_path")
    found = _of(names, (1131, 994, 300), {**other, **numbers})
    assert found == ({"delayed_acknowledgment": "send_buffer_limited"} if expected else {})


def test_the_largest_upstream_has_all_and_its_followers_are_told() -> None:
    names = ("retransmission_timeout", "delayed_acknowledgment", "overshoot", "pacing")
    parts, steps = [_part(name) for name in names], _steps(300, 40, 30, 20)
    known = _known({"lost": (9, 9), "dropped_by_queues": (9, 9)})
    follow = followers(known, PAIRS, parts, steps)
    held, pacing = joined(known, PAIRS, parts, list(steps.values()), follow)
    assert held.mechanism == BY_NAME["delayed_acknowledgment"]
    assert [(each.mechanism.name, each.difference_ms) for each in held.followers] == [
        ("retransmission_timeout", 300),
        ("overshoot", 30),
    ]
    assert [fact.name for fact in held.followers[0].facts] == ["lost"]
    assert len(held.members) == 3
    assert (pacing.mechanism, pacing.followers) == (BY_NAME["pacing"], ())


def test_what_may_be_one_of_several_takes_what_follows_too() -> None:
    """The time is no more that of slow start than of the program: neither is named."""
    several = Part(None, Why.PACING_OR_PROGRAM, ((Why.PACING_OR_PROGRAM, None),), (BY_NAME["application"],))
    assert followers(_known({}), PAIRS, [_part("slow_start"), several], _steps(109, 63)) == {0: 1}


def test_the_graph_has_no_ring_and_known_names_alone() -> None:
    above = {each.name: each.follows.upstream for each in MECHANISMS if each.follows}
    assert {name for names in above.values() for name in names} <= BY_NAME.keys()

    def reach(name: str, seen: tuple[str, ...]) -> None:
        assert name not in seen, seen
        for other in above.get(name, ()):
            reach(other, (*seen, name))

    for name in above:
        reach(name, ())


def test_each_number_of_the_graph_is_one_that_trials_have() -> None:
    """A trial with a log of its link has those of losses; flights and acknowledgments need captures, and what is
    announced a log or keys."""
    of_captures = {"first_flight", "packets_per_acknowledgment", "announced_ack_delay"}
    known = {fact.name for fact in measures(CASES["overshoot"][0]().trial())} | of_captures
    declared = [each.follows for each in MECHANISMS if each.follows]
    named = {number for each in declared for number in (*each.more, *each.less)}
    assert named <= known
