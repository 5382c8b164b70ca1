# SPDX-License-Identifier: Apache-2.0
"""Sizes of windows of flow control, which tables of the golden twin show as those of a real trial do."""

from __future__ import annotations

from typing import Any

import pytest
from golden_twin import built
from unit.why.mechanisms.cases import CASES, SET_UP
from unit.why.mechanisms.scenes import Case, busy, facts, full, ns

from quiclab.why.account import Why
from quiclab.why.mechanisms import with_mechanisms

_STREAM = "stream_flow_control_limited"
_WINDOW = 40_000


def test_what_a_window_allows_is_told() -> None:
    """No more than it in a round trip."""
    case: dict[str, Any] = {"stream_window": _WINDOW, "delay_ns": 40_000_000, "body_bytes": 400_000}
    (run,) = built().runs([case])
    _, found = with_mechanisms(run.evidence, run.account)
    told = dict(found.filter(mechanism=_STREAM).select("fact", "value").iter_rows())
    assert 0.4 * _WINDOW < told["allowed_in_a_round_trip"] <= _WINDOW


def test_bytes_unacknowledged_are_those_of_the_packets_where_their_table_is_not_made_yet() -> None:
    """As in a trial whose tables are being made."""
    case = Case([SET_UP, busy(), *full(Why.STREAM_CREDIT), busy()], "h2")
    case.add("sources", source="raw/server.pcapng", format="pcapng")
    row = {"source": "raw/server.pcapng", "vantage": "server", "transport": "tcp", "event": "sent", "connection": "c"}
    case.add("packets", **row, time_ns=ns(5), packet_number=1, length_bytes=32_768)
    assert facts(case, _STREAM)["first_unacknowledged"] == 32_768


@pytest.mark.parametrize(("record", "role"), [({}, "server"), ({"proxy": {"name": "nginx"}}, "proxy")])
def test_the_window_of_an_upload_is_the_servers_or_its_proxys(record: dict[str, Any], role: str) -> None:
    """nginx allows 64 KB of a body before it reads that."""
    case = CASES[_STREAM][0]()
    case.record = {**record, "expected": {"direction": "upload", "name": "body", "body_bytes": 1}}
    name = "parameters_set.server.initial_max_stream_data_bidi_remote"
    case.add("parameters", time_ns=ns(0), name=name, value="65536")
    assert facts(case, _STREAM)[f"window_announced_by_{role}"] == 65_536
