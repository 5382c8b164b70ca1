# SPDX-License-Identifier: Apache-2.0
"""Captures held against the link's log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.verify.proof import capture_problem
from quiclab.model.tables import TABLES

MS = 1_000_000
LINKS = [{"leg": "client", "packet_log": "link.qplog", "capture_client": "client.pcapng", "capture_server": "s.pcapng"}]
DELAY = 20 * MS
DOWN = [(index, (100 + 2 * index) * MS) for index in range(8)]
"""Index of each packet from the server, and when it reached the link."""


def _link(log: str = "raw/link.qplog") -> list[dict[str, Any]]:
    return [
        {
            "source": log,
            "direction": "down",
            "index": index,
            "arrival_ns": at,
            "due_ns": at + DELAY,
            "lateness_ns": 7000,
            "action": "delivered",
            "duplicate": False,
        }
        for index, at in DOWN
    ]


def _capture(moved: Callable[[int], int] = lambda at: at) -> list[dict[str, Any]]:
    """Packets that reached the client, with their times moved."""
    return [
        {
            "source": "raw/client.pcapng",
            "vantage": "client",
            "direction": "down",
            "packet_index": index,
            "number": index,
            "time_ns": moved(at + DELAY + 7000),
        }
        for index, at in DOWN
    ]


def _problem(capture: list[dict[str, Any]], link: list[dict[str, Any]] | None = None, **document: Any) -> str | None:
    tables = {
        "ip_packets": pl.DataFrame(capture, schema=TABLES["ip_packets"].schema()),
        "link_packets": pl.DataFrame(_link() if link is None else link, schema=TABLES["link_packets"].schema()),
    }
    return capture_problem(record({"links": LINKS, **document}), tables)


def test_a_capture_that_the_links_log_confirms() -> None:
    """Captures agree to the nanosecond, or to the microsecond in which others write them."""
    assert _problem(_capture()) is None
    assert _problem(_capture(lambda at: at // 1000 * 1000)) is None


@pytest.mark.parametrize(
    "moved",
    [lambda at: 120 * MS + (at - 120 * MS) // 2, lambda at: at - MS, lambda at: 254 * MS - at],
    ids=["slower clock", "earlier", "turned around"],
)
def test_a_capture_with_other_times_contradicts(moved: Callable[[int], int]) -> None:
    """Whatever was done to them."""
    assert "client's end contradicts the link's log" in str(_problem(_capture(moved)))


def test_copies_and_other_networks_have_the_same_numbers() -> None:
    """A packet is held against the nearest of them."""
    copies = [row | {"due_ns": row["due_ns"] + 3 * MS, "duplicate": True} for row in _link()]
    late = [row | {"time_ns": row["time_ns"] + 3 * MS, "number": row["number"] + 100} for row in _capture()]
    assert _problem(_capture() + late, _link() + copies) is None
    assert _problem(_capture() + late) is not None
    second = {"second_link": {"packet_log": "link-next.qplog"}}
    elsewhere = [row | {"due_ns": row["due_ns"] + 3 * MS} for row in _link("raw/link-next.qplog")]
    assert _problem(_capture() + late, _link() + elsewhere, **second) is None


def test_nothing_is_said_without_a_log_or_a_capture() -> None:
    """Nor of trials without links of ours."""
    assert _problem(_capture(), []) is None
    assert _problem([]) is None
    assert _problem(_capture(lambda at: 0), links=[]) is None
