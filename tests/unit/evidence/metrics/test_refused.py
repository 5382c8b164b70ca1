# SPDX-License-Identifier: Apache-2.0
"""Packets that an end threw away though they had arrived."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics._api import Noted
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.refused import REFUSED
from quiclab.model.tables import TABLES

CLIENT = REFUSED[0].compute
_DROPPED = {"source": "client.sqlog", "vantage": "client", "transport": "quic", "event": "dropped", "time_ns": 1}
_HOST = {"counters": {"client": {"UdpRcvbufErrors": 3}}}


def _evidence(*triggers: str, log: bool = True, **trial: Any) -> Evidence:
    tables = {
        "packets": [_DROPPED | {"trigger": trigger} for trigger in triggers],
        "sources": [{"source": "client.sqlog", "vantage": "client", "format": "qlog"}] if log else [],
    }
    frames = {name: pl.DataFrame(rows, schema=TABLES[name].schema()) for name, rows in tables.items()}
    return Evidence(frames, record({"protocol": "h3", "host": _HOST} | trial))


def test_what_the_kernel_and_the_program_had_no_room_for_counts() -> None:
    """A packet that was dropped because it came twice, or before its keys, is none of them."""
    assert CLIENT(_evidence("rejected", "dos_prevention", "duplicate", "key_unavailable")) == 5


def test_without_a_log_only_the_kernel_tells() -> None:
    """And the value says so."""
    assert CLIENT(_evidence(log=False)) == Noted(3, "by the kernel alone: the client left no qlog")


@pytest.mark.parametrize(
    ("trial", "why"), [({"protocol": "h2"}, "over TCP"), ({"host": {}}, "nobody looked at the counters")]
)
def test_what_nobody_can_tell_is_unknown(trial: dict[str, Any], why: str) -> None:
    """With the reason."""
    with pytest.raises(Unknown, match=why):
        CLIENT(_evidence(**trial))
