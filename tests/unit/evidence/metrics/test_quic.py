# SPDX-License-Identifier: Apache-2.0
"""Which files are asked about an end's QUIC packets."""

from __future__ import annotations

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.quic import completing_packets, quic_packets
from quiclab.model.tables import TABLES

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
        record({"protocol": "h3"}),
    )


def test_a_capture_that_was_opened_says_it() -> None:
    """Also where the log says more: what left the end is in its capture."""
    evidence = _evidence(CAPTURED + LOGGED)
    assert quic_packets(evidence, "server", "sent")["source"].unique().to_list() == ["server.pcapng"]


def test_a_packet_that_stays_closed_is_no_reason_to_leave_a_capture() -> None:
    """The link may have corrupted it, and nobody ever read it."""
    evidence = _evidence(CAPTURED + CLOSED + LOGGED, finding="not_authentic")
    assert quic_packets(evidence, "server", "sent").height == len(CAPTURED)


def test_a_capture_of_headers_does_not_pass_for_all_packets() -> None:
    """Its first packets are whole and open, but to count those alone would be wrong."""
    evidence = _evidence(CAPTURED + CLOSED + LOGGED, finding="cut_packet")
    assert quic_packets(evidence, "server", "sent")["source"].to_list() == ["server.sqlog"] * 3


def test_without_a_log_a_capture_of_headers_tells_nothing() -> None:
    """And the reason says why."""
    with pytest.raises(Unknown, match=r"no log of its packets and its capture holds headers only"):
        quic_packets(_evidence(CAPTURED + CLOSED, finding="cut_packet"), "server", "sent")


def test_what_comes_to_an_address_that_is_gone_is_not_received() -> None:
    """The capture shows it, but nobody reads it: the response is whole when it has come once more to the new one."""
    source = "client.pcapng"
    key = {"source": source, "vantage": "client", "connection": "c0", "packet_type": "1RTT", "event": "received"}

    def row(number: int) -> dict[str, object]:
        return key | {"transport": "quic", "packet_number": number, "time_ns": 10 * number, "direction": "down"}

    def body(number: int, offset: int, *, fin: bool) -> dict[str, object]:
        more = {"frame_type": "stream", "stream_id": 0, "offset": offset, "length_bytes": 100, "fin": fin}
        return row(number) | more

    came = [("10.0.0.1", 1), ("10.0.0.1", 2), ("10.0.0.2", 3)]
    tables = {
        "ip_packets": [{"source": source, "vantage": "client", "number": n, "dst": to, "time_ns": 10 * n,
                        "protocol": "udp", "direction": "down", "size_bytes": 150} for to, n in came],
        "packets": [row(n) | {"ip_packet": n} for _, n in came],
        "frames": [body(1, 0, fin=False), body(2, 100, fin=True), body(3, 100, fin=True)],
        "sources": [{"source": source, "format": "pcapng", "vantage": "client"}],
    }  # fmt: skip
    frames = {name: pl.DataFrame(rows, schema=TABLES[name].schema()) for name, rows in tables.items()}
    stays = Evidence(frames, record({"protocol": "h3"}))
    assert [number for _, _, number in completing_packets(stays)] == [2]
    moves = Evidence(
        frames, record({"protocol": "h3", "address_change": {"old_address": "10.0.0.1", "changed_ns": 15}})
    )
    assert [number for _, _, number in completing_packets(moves)] == [3]
