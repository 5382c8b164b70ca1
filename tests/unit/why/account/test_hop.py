# SPDX-License-Identifier: Apache-2.0
"""Queues written by hand: whose turn it was, who waited for whom, and what was served meanwhile. Times in ms."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from quiclab.evidence.metrics import Unknown
from quiclab.model.activity import What
from quiclab.model.tables import TABLES
from quiclab.why.account.critical_path import flight
from quiclab.why.account.forward_path import Spot, Way, way
from quiclab.why.account.hop import hop
from quiclab.why.account.service import service

_MS = 1_000_000


def rows_of(*packets: tuple[float, float, int, float | None], **all_of_them: Any) -> pl.DataFrame:
    """Packets down as (arrival, service, flow, when due), with `left_ns` as decoders make it."""
    rows, free = [], 0.0
    for index, (arrival, took, flow, due) in enumerate(packets):
        free = max(arrival, free) + took
        row = {"source": "raw/link.qplog", "direction": "down", "index": index, "flow": flow, "size_bytes": 1000}
        row |= {"arrival_ns": round(arrival * _MS), "service_ns": round(took * _MS), "left_ns": round(free * _MS)}
        row |= {"duplicate": False, "corrupted": False, "reordered": False, "action": "delivered", "lateness_ns": 0}
        row |= {"due_ns": round(due * _MS)} if due is not None else {"action": "dropped", "reason": "loss_exit"}
        rows.append(row | all_of_them)
    schema = TABLES["link_packets"].schema()
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def _left(rows: pl.DataFrame) -> list[float | None]:
    return [None if left is None else left / _MS for left in hop(rows).left]


def test_one_flow_is_served_in_order_of_arrival_however_it_arrives() -> None:
    """Jitter lets the second packet overtake the first; the queue did not."""
    assert _left(rows_of((0, 2, 7, 20), (0, 2, 7, 15))) == [2, 4]


def test_delay_beyond_the_least_is_jitter_and_a_late_write_is_the_laboratorys() -> None:
    """The least way is 11 ms (4 to 15); the first packet takes 18, and is written 0.2 ms late."""
    late = hop(rows_of((0, 2, 7, 20), (0, 2, 7, 15), lateness_ns=200_000))
    edges = [(str(e.what), e.from_ns / _MS, e.until_ns / _MS) for e in reversed(flight(late, 0))]
    assert edges == [("propagation_down", 2, 13), ("jitter", 13, 20), ("late", 20, 20.2)]


def test_flows_in_turn_are_served_in_the_order_in_which_they_were_due() -> None:
    """Three packets of one flow, then one of another, whose turn comes first; each takes 10 ms behind the queue."""
    fair = rows_of((0, 2, 7, 12), (0, 2, 7, 16), (0, 2, 7, 18), (1, 2, 8, 14))
    assert _left(fair) == [2, 6, 8, 4]
    assert hop(fair).least_ns == 10 * _MS


def test_a_packet_that_is_lost_behind_a_fair_queue_keeps_its_flows_turn() -> None:
    """It took its time of service just before the next one of its flow."""
    fair = rows_of((0, 2, 7, 12), (0, 2, 7, None), (0, 2, 7, 18), (1, 2, 8, 14))
    assert _left(fair) == [2, 6, 8, 4]


def test_two_flows_whose_packets_overtake_each_other_behind_the_queue() -> None:
    """Each flow is overtaken by itself, too: that is no queue for each flow."""
    assert _left(rows_of((0, 2, 7, 30), (0, 2, 8, 14), (0, 2, 7, 16))) == [2, 4, 6]


def test_a_service_that_the_log_cannot_tell_has_no_account() -> None:
    """4.29 s is the longest time that a packet log holds."""
    with pytest.raises(Unknown, match="longer than the log can say"):
        hop(rows_of((0, 1, 7, 20), service_ns=0xFFFF_FFFF))


def _other_flow(packets: pl.DataFrame, own: set[int]) -> Way:
    return way("down", [[hop(packets)]], own)


def _kind(of: Way, spot: Spot) -> tuple[What, int]:
    return (What.PAYLOAD, 1000) if spot[1] in of.owner[spot[0]] else (What.OTHER_FLOW, 0)


def test_another_flow_counts_from_when_this_one_waits() -> None:
    """The queue is busy from 0; a packet of this flow comes at 3, is served at 6, and another one follows it."""
    shared = _other_flow(rows_of((0, 4, 8, 14), (0, 2, 8, 16), (3, 2, 7, 18), (5, 1, 8, 19), (7, 1, 7, 20)), own={2, 4})
    assert shared.waited_behind((0, 4)) == shared.waited_behind((0, 2)) == 0
    edges = service(_kind, shared, (0, 4), 3 * _MS)
    told = [(str(e.what), e.from_ns / _MS, e.until_ns / _MS, e.packets) for e in edges if e.what != "headers"]
    assert told == [
        ("other_flow", 3, 6, 2),
        ("payload", 6, 8, 1),
        ("other_flow", 8, 9, 1),
        ("payload", 9, 10, 1),
    ]


def test_a_flow_that_comes_back_has_the_queue_anew() -> None:
    """Its first packet is gone at 2; that the queue is busy with others until its next one comes delays nothing."""
    shared = _other_flow(rows_of((0, 2, 7, 12), (1, 5, 8, 17), (6, 2, 7, 19)), own={0, 2})
    assert shared.waited_behind((0, 2)) == 1
    first = service(_kind, shared, (0, 2), 6 * _MS)[0]
    assert (str(first.what), first.length_ns / _MS) == ("other_flow", 1)


def test_a_copy_takes_no_time_and_never_counts_as_an_arrival() -> None:
    """The link made it; its original is the packet."""
    rows = rows_of((0, 2, 7, 12), (0, 2, 7, 13), (5, 1, 7, 16))
    copied = rows.with_columns(
        index=pl.Series([0, 0, 1], dtype=pl.UInt32),
        duplicate=pl.Series([False, True, False]),
        left_ns=pl.Series([2 * _MS, 2 * _MS, 6 * _MS]),
    )
    found = way("down", [[hop(copied)]], None)
    assert found.index == [0, 1]
    assert found.came_ns == [12 * _MS, 16 * _MS]


def test_a_packet_with_flipped_bits_is_taken_by_nobody() -> None:
    """It was served and written, but no endpoint reads it."""
    damaged = way("down", [[hop(rows_of((0, 2, 7, 12), corrupted=True))]], None)
    assert damaged.came == []
    assert damaged.is_served(0)
