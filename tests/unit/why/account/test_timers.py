# SPDX-License-Identifier: Apache-2.0
"""Timers of a sender: which losses one has declared, and which an acknowledgment let be sent again."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics import Evidence
from quiclab.model.tables import TABLES
from quiclab.why.account import Why
from quiclab.why.account.timers import expired


def tables(name: str, *rows: dict[str, Any]) -> pl.DataFrame:
    """Rows of the server's end."""
    schema = TABLES[name].schema()
    common = {"vantage": "server", "estimate": True, "direction": "down"}
    filled = [{column: (common | row).get(column) for column in schema} for row in rows]
    return pl.DataFrame(filled, schema=schema)


def evidence(protocol: str, *losses: dict[str, Any], timers: tuple[dict[str, Any], ...] = ()) -> Evidence:
    """A trial with losses and timers alone, and one packet that came to the server at 499.98 ms."""
    came = {"source": "raw/server.pcapng", "direction": "up", "time_ns": 499_980_000, "protocol": "udp"}
    found = {"losses": tables("losses", *losses), "timers": tables("timers", *timers)}
    found |= {"ip_packets": tables("ip_packets", came), "packets": tables("packets")}
    return Evidence(found, record({"protocol": protocol}))


@pytest.mark.parametrize("rule", ["timeout", "tail_loss_probe"])
def test_a_segment_that_an_acknowledgment_let_be_sent_again_waited_for_no_timer(rule: str) -> None:
    """The capture names the timeout that had declared it lost, long before: a packet came just before it was sent."""
    found = expired(evidence("h2", {"time_ns": 500_000_000, "rule": rule}))
    assert found.reason(499_980_000, 500_000_000, prompted=True) is None
    assert found.reason(280_000_000, 500_000_000, prompted=False) is not None


def test_a_timeout_is_one_also_where_a_packet_has_just_come() -> None:
    """The table of timers says so."""
    expired_row = {"time_ns": 500_000_000, "timer": "rto", "event": "expired"}
    found = expired(evidence("h2", {"time_ns": 500_000_000, "rule": "timeout"}, timers=(expired_row,)))
    reason = found.reason(499_980_000, 500_000_000, prompted=True)
    assert reason is not None
    assert (reason.why, reason.evidence) == (Why.LOSS_TIMER, "timers")


def test_a_log_of_its_own_is_believed() -> None:
    """QUIC's sender tells that a probe timeout declared a loss."""
    found = expired(evidence("h3", {"time_ns": 500_000_000, "rule": "pto_expired", "estimate": False}))
    reason = found.reason(499_980_000, 500_000_000, prompted=True)
    assert reason is not None
    assert reason.why is Why.PROBE_TIMER


@pytest.mark.parametrize(
    ("declared_ns", "timer"), [(500_000_000, False), (500_600_000, True)], ids=["at once", "later"]
)
def test_a_time_threshold_just_after_an_acknowledgment_is_a_timer_unless_it_comes_with_it(
    declared_ns: int, timer: bool
) -> None:
    """The acknowledgment came at 499.98 ms; what it shows to be lost is declared at once."""
    found = expired(evidence("h3", {"time_ns": declared_ns, "rule": "time_threshold", "estimate": False}))
    reason = found.reason(499_980_000, declared_ns, prompted=True)
    assert (reason is not None and reason.why is Why.LOSS_TIMER) is timer
