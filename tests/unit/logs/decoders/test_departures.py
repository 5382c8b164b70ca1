# SPDX-License-Identifier: Apache-2.0
"""When packets left the bottleneck."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.logs.decoders.decode import with_departures
from quiclab.model.tables import TABLES

_SCHEMA = TABLES["link_packets"].schema()


def left(*rows: dict[str, Any]) -> list[int | None]:
    """`left_ns` of such rows, whose numbers are their places."""
    usual = {"source": "raw/link.qplog", "direction": "down", "action": "delivered", "duplicate": False}
    filled = [usual | {"index": index, "service_ns": 10} | row for index, row in enumerate(rows)]
    frame = with_departures(pl.LazyFrame(filled, schema=_SCHEMA)).collect()
    return frame["left_ns"].to_list()


def test_a_packet_waits_for_the_one_before() -> None:
    """Two at once, one while the second is being sent, and one after the bottleneck had nothing to do."""
    rows = [{"arrival_ns": arrival} for arrival in (100, 100, 115, 500)]
    assert left(*rows) == [110, 120, 130, 510]


def test_rows_need_not_stand_in_order_of_arrival() -> None:
    """The log has them in the order in which the link was done with them; they stay in theirs."""
    assert left({"arrival_ns": 500, "index": 2}, {"arrival_ns": 100, "index": 1}, {"arrival_ns": 100, "index": 0}) == [
        510, 120, 110,
    ]  # fmt: skip


def test_what_found_no_room_was_not_sent() -> None:
    """Nor what was lost before it came there, though the log says how long it would have taken."""
    lost = {"action": "dropped", "arrival_ns": 101}
    assert left(
        {"arrival_ns": 100}, lost | {"reason": "queue_full"}, lost | {"reason": "loss_entry", "service_ns": 0},
        lost | {"reason": "listed", "service_ns": 0}, {"arrival_ns": 102},
    ) == [110, None, None, None, 120]  # fmt: skip


def test_what_is_lost_behind_it_was_sent() -> None:
    """And makes the next one wait; so does what was still on its way when the link stopped."""
    behind = {"action": "dropped", "reason": "loss_exit", "arrival_ns": 100}
    last = {"action": "inside_at_end", "arrival_ns": 102}
    assert left(behind, {"arrival_ns": 101}, last, last | {"service_ns": 0}) == [110, 120, 130, None]


def test_a_copy_takes_no_time_of_its_own() -> None:
    """It comes into being behind the bottleneck."""
    copy = {"arrival_ns": 100, "index": 0, "duplicate": True}
    assert left({"arrival_ns": 100}, copy, {"arrival_ns": 100, "index": 1}) == [110, 110, 120]


def test_each_direction_of_each_link_is_by_itself() -> None:
    """What waits on one does not wait on another; what passed outside the model did neither."""
    rows = [{"arrival_ns": 100, "direction": "up"}, {"arrival_ns": 100, "source": "raw/link-2.qplog"}]
    assert left({"arrival_ns": 100}, *rows, {"arrival_ns": 100, "action": "outside_model"}) == [110, 110, 110, None]


def test_without_a_rate_it_leaves_as_it_comes() -> None:
    """Nothing is sent for any time."""
    assert left({"arrival_ns": 100, "service_ns": 0}, {"arrival_ns": 101, "service_ns": 0}) == [100, 101]
