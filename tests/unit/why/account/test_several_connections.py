# SPDX-License-Identifier: Apache-2.0
"""Objects over two connections, written by hand: the last one's account, and what lies before its connection."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from unit.evidence.metrics.scenes import ns
from unit.why.account.connections import two_after_each_other
from unit.why.account.stories import sums

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.times import ttlb_ms
from quiclab.why.account import account_of_transfer


def test_a_client_that_asks_for_one_at_a_time_waits_for_the_one_before(tmp_path: Path) -> None:
    """The second connection begins 3 ms after the first object was there: its account is part of the second's."""
    evidence = two_after_each_other(tmp_path, at_once=1)
    edges = account_of_transfer(evidence)
    assert sum(edge.length_ns for edge in edges) == round(ttlb_ms(evidence) * 1e6) == 125_000_000  # type: ignore[arg-type]
    assert sums(edges) == {
        "tcp_handshake": 40, "tls_round_trip": 42, "request": 20, "later_request": 3, "last_flight": 20,
    }  # fmt: skip


def test_a_connection_begun_late_for_no_reason_that_shows_is_unexplained(tmp_path: Path) -> None:
    """A client that asks for both at once had no need to wait."""
    edges = account_of_transfer(two_after_each_other(tmp_path, at_once=2))
    assert sums(edges) == {
        "unexplained": 64,
        "tcp_handshake": 20,
        "tls_round_trip": 21,
        "request": 10,
        "last_flight": 10,
    }
    assert (edges[0].what, edges[0].until_ns) == ("client", ns(64))


def test_requests_that_one_end_does_not_show_are_refused(tmp_path: Path) -> None:
    """Nothing tells then when the server could answer."""
    evidence = two_after_each_other(tmp_path, at_once=1)
    requests = evidence.tables["http_requests"].filter(pl.col("vantage") == "client")
    with pytest.raises(Unknown, match="captures of both ends show all requests"):
        account_of_transfer(Evidence({**evidence.tables, "http_requests": requests}, evidence.trial))
