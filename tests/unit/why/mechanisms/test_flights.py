# SPDX-License-Identifier: Apache-2.0
"""Flights of a sender over a path of 10 ms each way: a window that grows, one that does not, and what both let out."""

from __future__ import annotations

import pytest
from unit.why.mechanisms.scenes import Case, busy, edge, full, named

from quiclab.model.tables.drop_reasons import DROP_REASONS, DropKind
from quiclab.why.account import What, Why
from quiclab.why.mechanisms._measures import measures

TRIP_MS = 20.0


def _flights(*packets: int) -> Case:
    """After a set-up of one round trip so many packets in each: bursts, and full windows until the next."""
    set_up = [edge(Why.QUIC_HANDSHAKE, TRIP_MS, What.PROPAGATION_DOWN)]
    case = Case([*set_up, *(each for _ in packets for each in (busy(1), *full(Why.SLOW_START)))])
    case.packet("up", 0, 0)
    index = 0
    for trip, count in enumerate(packets):
        for at in range(count):
            begin_ms = TRIP_MS + trip * (TRIP_MS + 1)
            case.packet("down", index, begin_ms + at / 1000).captured("server", "down", index, begin_ms)
            index += 1
    return case


@pytest.mark.parametrize(
    ("packets", "slow_start_ms"),
    [((4, 8, 16), 60), ((4, 6, 9), 60), ((10, 10, 10), 20), ((10, 20, 20, 20), 40), ((10, 20, 10, 20), 40)],
    ids=["doubles", "half as much again", "never grows", "grows once", "comes back to what it was"],
)
def test_slow_start_is_a_window_that_grows(packets: tuple[int, ...], slow_start_ms: float) -> None:
    """What is full and stays as it is has another cause, whatever it is."""
    found = named(_flights(*packets))
    assert found.get("slow_start") == pytest.approx(slow_start_ms)
    assert found.get("", 0) == pytest.approx(20 * len(packets) - slow_start_ms)


def _in_parts(first: int, second: int, rest_ms: float) -> Case:
    """Two bursts of packets, the second in two parts: four of them, a wait, and the rest; then a full window."""
    set_up = [edge(Why.QUIC_HANDSHAKE, TRIP_MS, What.PROPAGATION_DOWN)]
    part = [busy(1), edge(Why.SLOW_START, rest_ms)]
    case = Case([*set_up, busy(1), *full(Why.SLOW_START), *part, busy(1), *full(Why.SLOW_START)])
    case.packet("up", 0, 0)
    arrivals = [TRIP_MS] * first + [2 * TRIP_MS + 1] * 4 + [2 * TRIP_MS + 2 + rest_ms] * (second - 4)
    for index, ms in enumerate(arrivals):
        case.packet("down", index, ms).captured("server", "down", index, ms)
    return case


@pytest.mark.parametrize(("second", "slow_start_ms"), [(20, 20 + 2 + 20), (10, 20 + 2)], ids=["grows", "never grows"])
def test_a_short_wait_for_the_rest_of_a_flight_goes_with_the_one_before(second: int, slow_start_ms: float) -> None:
    """Four of 20 packets come first: their flight is smaller than the ten before, and its window is not."""
    assert named(_in_parts(10, second, 2)).get("slow_start") == pytest.approx(slow_start_ms)


def test_all_of_a_wait_has_one_cause() -> None:
    """A server that is slow to go on: the wait's last edge begins more than a round trip behind the flight."""
    case = _flights(4, 8)
    case.edges[-1:] = [edge(Why.SLOW_START, 12), edge(Why.SLOW_START, 9, What.SERVER)]
    assert named(case) == {"handshake_round_trips": TRIP_MS, "bytes_on_the_wire": 2, "slow_start": 20 + 10 + 21}


def test_a_window_of_tcp_counts_segments() -> None:
    """Small ones fill it like large ones, and acknowledgments alone do not."""
    case = _flights(10, 20, 40)
    case.protocol = "h2"
    for each in case.rows["ip_packets"]:
        each["protocol"] = "tcp"
    for each in case.rows["link_packets"][1:6]:
        each["size_bytes"] = 300
    case.packet("down", 90, TRIP_MS + 0.1, size_bytes=52).captured("server", "down", 90, TRIP_MS + 0.1, payload_bytes=0)
    found = {fact.name: fact.value for fact in measures(case.trial())}
    assert (found["packets_in_first_flight"], found["first_flight"]) == (10, 5 * 300 + 5 * 1250)
    assert found["growth_per_round_trip"] == 2


def test_what_the_handshake_still_has_in_flight_fills_the_window_too() -> None:
    """A ticket that leaves just before the body is a part of the first flight."""
    case = _flights(9, 20, 40)
    case.packet("down", 90, TRIP_MS - 2).captured("server", "down", 90, TRIP_MS - 2)
    found = {fact.name: fact.value for fact in measures(case.trial())}
    assert (found["packets_in_first_flight"], found["growth_per_round_trip"]) == (10, 2)


def test_a_second_flight_that_the_data_ended_shows_no_growth() -> None:
    """Nothing is sent behind it."""
    found = {fact.name: fact.value for fact in measures(_flights(10, 3).trial())}
    assert found["packets_in_second_flight"] == 3
    assert "growth_per_round_trip" not in found


def test_the_first_flights_are_told() -> None:
    """In bytes on the wire, and how much larger the second is."""
    found = {fact.name: fact.value for fact in measures(_flights(4, 8, 16).trial())}
    assert (found["first_flight"], found["second_flight"], found["growth_per_round_trip"]) == (5000, 10_000, 2)


def test_a_window_that_a_program_did_not_fill_at_first_is_told_when_it_is_full() -> None:
    """It had no reason to grow."""
    case = _flights(4, 8)
    case.edges[2:4] = full(Why.APPLICATION)
    found = {fact.name: fact.value for fact in measures(case.trial())}
    assert found["first_flight"] == 10_000


def test_of_a_window_that_was_not_full_at_first_the_least_is_told() -> None:
    """It may have grown since."""
    case = _flights(4, 8)
    case.edges[2:4] = [busy(20)]
    found = {fact.name: fact.value for fact in measures(case.trial())}
    assert found["first_flight_at_least"] == 5000
    assert "first_flight" not in found


def test_the_policy_of_the_receiver_is_told() -> None:
    """Packets of the body that came for each that it sent meanwhile, and the delay that it announces."""
    case = _flights(4, 8)
    for index in range(12):
        case.captured("client", "down", index, 60 + index)
    for index in range(1, 5):
        case.captured("client", "up", index, 70 + index)
    found = {fact.name: fact.value for fact in measures(case.trial())}
    assert found["packets_per_acknowledgment"] == 3
    assert "announced_ack_delay" not in found
    case.add("parameters", name="client.max_ack_delay", value="25.0")
    found = {fact.name: fact.value for fact in measures(case.trial())}
    assert found["announced_ack_delay"] == 25


def test_losses_are_counted_by_where_and_of_what() -> None:
    """Those of the set-up are no losses of the body."""
    case = _flights(4, 8).packet("down", 90, 1, "loss_exit").packet("down", 91, 30, "loss_exit")
    case.packet("down", 92, 31, "queue_full").packet("up", 93, 32, "loss_exit")
    found = {fact.name: fact.value for fact in measures(case.trial())}
    assert (found["lost"], found["lost_on_the_path"], found["dropped_by_queues"]) == (3, 1, 1)


@pytest.mark.parametrize("reason", [reason.name for reason in DROP_REASONS])
def test_each_drop_counts_with_what_took_the_packet(reason: str) -> None:
    """A policer keeps no queue; a block and a list are the path's."""
    kinds = {each.name: each.kind for each in DROP_REASONS}
    expected = {
        DropKind.LOSS: (1, 0, 0, 0),
        DropKind.BLOCK: (1, 0, 0, 0),
        DropKind.NAT: (1, 0, 0, 0),
        DropKind.SIZE: (1, 0, 0, 1),
        DropKind.QUEUE: (0, 1, 0, 0),
        DropKind.AQM: (0, 1, 0, 0),
        DropKind.POLICER: (0, 0, 1, 0),
    }[kinds[reason]]
    found = {fact.name: fact.value for fact in measures(_flights(4, 8).packet("down", 91, 30, reason).trial())}
    names = ("lost_on_the_path", "dropped_by_queues", "dropped_by_policers", "dropped_for_their_size")
    assert tuple(found[name] for name in names) == expected
