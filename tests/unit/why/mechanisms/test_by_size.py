# SPDX-License-Identifier: Apache-2.0
"""Packets that are lost for their size: a black hole, a path that loses some of them, and what looks alike."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from golden_twin import built
from trial_records import record
from unit.why.mechanisms.cases import AFTER_LOSS, CASES, SET_UP
from unit.why.mechanisms.scenes import Case, busy, edge, facts, named

from quiclab.evidence.metrics.evidence import Evidence
from quiclab.why.account import What, Why
from quiclab.why.mechanisms import Trial, with_mechanisms
from quiclab.why.mechanisms.path_mtu_black_hole import PATH_MTU_BLACK_HOLE

HOLE, LARGE = "path_mtu_black_hole", "large_packets_lost"


def _sent(case: Case, *packets: tuple[float, int, str], direction: str = "down") -> Case:
    """Packets by their instant in ms, their IP bytes and why the link dropped them."""
    for index, (ms, size, reason) in enumerate(packets, start=30):
        case.packet(direction, index, ms, reason, size_bytes=size)
    return case


def _probed(*packets: tuple[float, int, str]) -> Case:
    """A wait for a probe timer from 11 to 41 ms."""
    return _sent(Case([SET_UP, busy(), edge(Why.PROBE_TIMER, 30, What.TIMER), busy()]), *packets)


def test_a_black_hole_says_what_passed_and_what_did_not() -> None:
    """Three of 1,480 and one of 1,310 bytes are lost, one of 1,300 arrives, one of 80 is lost at random before."""
    lost = "oversize"
    case = _probed(
        (8, 1480, lost), (9, 1310, lost), (9.5, 1300, ""), (10, 1480, lost), (10.5, 1480, lost), (50, 80, "")
    )
    assert named(case)[HOLE] == 30
    told = facts(case, HOLE)
    assert told["lost_for_their_size"] == 4
    assert (told["smallest_lost"], told["largest_that_arrived"]) == (1310, 1300)
    assert (told["lost_of_that_size_or_larger"], told["lost_of_smaller"]) == (100, 0)
    assert told["longest_wait"] == pytest.approx(30)


def test_a_link_that_tells_senders_is_no_black_hole() -> None:
    """All packets of that size are lost until the sender learns of it; it is their size all the same."""
    case = _probed(*((8 + number, 1480, "too_big") for number in range(4)))
    assert named(case).keys() & {HOLE, LARGE} == {LARGE}


def test_two_packets_are_no_black_hole() -> None:
    """A path that loses one in five takes two in a row now and then."""
    case = _probed((8, 1480, "oversize"), (9, 80, ""), (10, 1480, "oversize"))
    assert named(case).keys() & {HOLE, LARGE} == {LARGE}


def test_a_hole_that_closes_was_one() -> None:
    """Packets of that size that pass before the first loss and behind the last say nothing of the time between."""
    lost = ((8, 1480, "oversize"), (9, 1480, "oversize"), (10, 1480, "oversize"))
    assert named(_probed((1, 1480, ""), *lost, (60, 1480, "")))[HOLE] == 30
    assert named(_probed(*lost[:2], (9.5, 1480, ""), lost[2]))[LARGE] == 30
    assert named(_probed((8, 1480, ""), *lost, (10, 1480, "")))[HOLE] == 30  # handed to the link at one instant


def test_a_handshake_whose_datagrams_do_not_fit_ends_in_one() -> None:
    """Initials of 1,280 bytes vanish up, with 1 s and 2 s between them."""
    waits = [edge(Why.SET_UP_LOSS, 1000, What.TIMER), edge(Why.SET_UP_LOSS, 2000, What.TIMER)]
    case = Case([*waits, SET_UP, busy()])
    sizes = ((0.1, 1280, "oversize"), (1000.1, 1280, "oversize"), (1000.2, 1280, "oversize"), (3000.1, 1230, ""))
    case = _sent(case, *sizes, direction="up").packet("down", 5, 3020)
    assert named(case)[HOLE] == 3000
    assert facts(case, HOLE)["longest_wait"] == pytest.approx(3000)


def test_a_wait_in_which_something_else_was_lost_too_is_not_theirs() -> None:
    """A small packet was lost at random just before: which of the two it waits for is not known."""
    lost = ((8, 1480, "oversize"), (9, 1480, "oversize"), (10, 1480, "oversize"))
    assert named(_probed(*lost, (10.5, 80, "loss_entry"))).keys() & {HOLE, LARGE} == set()


def test_loss_of_any_size_has_no_such_name() -> None:
    """Only large packets are lost, and the link's log says that it was by chance."""
    case = _probed((8, 1480, "loss_entry"), (9, 80, ""), (9.5, 1480, "loss_entry"), (10, 1480, "loss_entry"))
    assert named(case)["tail_probe"] == 30
    assert facts(case, HOLE) == {} == facts(case, LARGE)


def test_a_window_reduced_by_a_large_packet_is_its_own() -> None:
    """And that time only, where a receiver also delays an acknowledgment."""
    held = edge(Why.WINDOW_AFTER_LOSS, 25, What.ACK_HELD, event_ns=AFTER_LOSS[0]["event_ns"], event_packet=5)
    case = Case([SET_UP, busy(), *AFTER_LOSS, held, busy()]).packet("down", 5, 1, "oversize", size_bytes=1480)
    found = named(_sent(case, (2, 1480, "")))
    assert (found[LARGE], found["delayed_acknowledgment"]) == (20, 25)
    told = facts(case, LARGE)
    assert (told["lost_packets"], told["lost_of_that_size_or_larger"]) == (1, 50)


_TWIN = {
    "protocol": "h3", "body_bytes": 600_000, "rate_down": 20_000_000, "rate_up": 20_000_000, "delay_ns": 15_000_000,
    "control": "cubic", "flight_bytes": 100,
}  # fmt: skip


def _simulated_ms(**keys: Any) -> dict[str, float]:
    """Mechanism → ms of a transfer in virtual time; "total" is all of it."""
    (run,) = built().runs([_TWIN | keys])
    account, _ = with_mechanisms(run.evidence, run.account)
    ms = (pl.col("until_ns") - pl.col("from_ns")).sum() / 1e6
    found = account.drop_nulls("mechanism").group_by("mechanism").agg(ms)
    return dict(found.iter_rows()) | {"total": run.total_ns / 1e6}


def test_a_planted_hole_has_the_time_that_goes_without_it() -> None:
    """quinn in virtual time waits for probe timers until it takes the path for a black hole; all but some of what that
    costs has its name."""
    hole, without = _simulated_ms(oversize_above=1300), _simulated_ms(datagram_bytes=1200)
    cost = hole["total"] - without["total"]
    assert cost > 500
    assert hole[HOLE] == pytest.approx(cost, rel=0.2)
    assert LARGE not in hole
    assert {HOLE, LARGE}.isdisjoint(_simulated_ms(oversize_above=1300, datagram_bytes=1200))


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_a_planted_loss_of_large_packets_is_told_from_one_of_any(protocol: str) -> None:
    """The same share of packets is lost at random in the other transfer."""
    large = _simulated_ms(protocol=protocol, oversize_above=1300, oversize=0.04)
    either = _simulated_ms(protocol=protocol, loss_down=0.04)
    assert large[LARGE] > 500
    assert {HOLE, "loss_on_the_path"}.isdisjoint(large)
    assert either["loss_on_the_path"] > 500
    assert {HOLE, LARGE}.isdisjoint(either)


def test_another_flows_packets_are_none_of_its_own() -> None:
    """Only the transfer's own flow of a competition is held against its size."""
    case = _probed((8, 1480, "oversize"), (9, 1480, "oversize"), (10, 1480, "oversize"))
    for index in (30, 31, 32):
        case.captured("server", "down", index, 8)
    alone = case.packet("down", 50, 9.5, size_bytes=1480, flow=2).trial()
    crowd = record({"protocol": "h3", "competition": {"flows": []}})
    beside = Trial(Evidence(alone.evidence.tables, crowd), alone.account)
    assert PATH_MTU_BLACK_HOLE.claim(beside).edges.to_list() == [False, False, True, False]


@pytest.mark.parametrize("name", ["loss_on_the_path", "policed", "overshoot", "handshake_packet_lost", "tail_probe"])
def test_it_claims_nothing_of_what_looks_alike(name: str) -> None:
    """Uniform loss, a policer, a full queue, a lost handshake packet, a lost tail."""
    assert named(CASES[name][0]()).keys() & {HOLE, LARGE} == set()
