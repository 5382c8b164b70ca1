# SPDX-License-Identifier: Apache-2.0
"""Which files are asked about an end's QUIC packets."""

from __future__ import annotations

import polars as pl
import pytest

from quiclab.metrics.evidence import Evidence, Unknown
from quiclab.metrics.quic import told

_SENT = {"connection": "c0", "transport": "quic", "event": "sent", "packet_type": "1RTT", "vantage": "server"}
CAPTURED = [_SENT | {"source": "server.pcapng", "ip_packet": n, "packet_number": n} for n in range(2)]
CLOSED = [_SENT | {"source": "server.pcapng", "ip_packet": 2, "packet_number": None}]
LOGGED = [_SENT | {"source": "server.sqlog", "ip_packet": None, "packet_number": n} for n in range(3)]


def _evidence(packets: list[dict[str, object]], *, finding: str = "no_events", logs: bool = True) -> Evidence:
    rows = [packet for packet in packets if logs or packet["source"] != "server.sqlog"]
    return Evidence(
        {
            "packets": pl.DataFrame(rows, infer_schema_length=None),
            "sources": pl.DataFrame(
                {"source": ["server.pcapng", "server.sqlog"], "format": ["pcapng", "qlog"], "vantage": ["server"] * 2}
            ),
            "decode_stats": pl.DataFrame({"source": ["server.pcapng"], "name": [finding]}),
        },
        {"protocol": "h3"},
    )


def test_a_capture_that_was_opened_says_it() -> None:
    """Also where the log says more: what left the end is in its capture."""
    evidence = _evidence(CAPTURED + LOGGED)
    assert told(evidence, "server", "sent")["source"].unique().to_list() == ["server.pcapng"]


def test_a_packet_that_stays_closed_is_no_reason_to_leave_a_capture() -> None:
    """The link may have corrupted it, and nobody ever read it."""
    evidence = _evidence(CAPTURED + CLOSED + LOGGED, finding="not_authentic")
    assert told(evidence, "server", "sent").height == len(CAPTURED)


def test_a_capture_of_headers_does_not_pass_for_all_packets() -> None:
    """Its first packets are whole and open, but to count those alone would be wrong."""
    evidence = _evidence(CAPTURED + CLOSED + LOGGED, finding="cut_packet")
    assert told(evidence, "server", "sent")["source"].to_list() == ["server.sqlog"] * 3


def test_without_a_log_a_capture_of_headers_tells_nothing() -> None:
    """And the reason says why."""
    with pytest.raises(Unknown, match=r"no log of its packets and its capture holds headers only"):
        told(_evidence(CAPTURED + CLOSED, finding="cut_packet"), "server", "sent")
