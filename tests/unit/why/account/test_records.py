# SPDX-License-Identifier: Apache-2.0
"""The begin of a response whose headers are in a TLS record of several segments. Times in ms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics import Evidence
from quiclab.model.tables import TABLES
from quiclab.why.account.one_end import Instant
from quiclab.why.account.one_recording import _headers_begun
from quiclab.why.account.request import answers_ns

_MS = 1_000_000


def _table(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    schema = TABLES[name].schema()
    return pl.DataFrame([{column: row.get(column) for column in schema} for row in rows], schema=schema)


def _begins(*starts: float, whole: float, capture: bool = True) -> float:
    """A request that came at 50; segments of the server at 30, 60, 61 and 80, with the starts of records among them."""
    capture_row = {"source": "raw/server.pcapng", "format": "pcapng", "vantage": "server"}
    source = {"source": "raw/server.pcapng" if capture else "raw/server.log", "vantage": "server"}
    segments = [
        {"vantage": "server", "direction": "down", "protocol": "tcp", "time_ns": round(at * _MS)}
        | {"payload_bytes": 1448, "tls_application_data": at in starts or None}
        for at in (30.0, 60.0, 61.0, 80.0)
    ]
    tables = {
        "sources": _table("sources", [capture_row]),
        "ip_packets": _table("ip_packets", segments),
        "http_requests": _table(
            "http_requests", [source | {"send_end_ns": 50 * _MS, "headers_ns": round(whole * _MS), "stream_id": 1}]
        ),
    }
    found = answers_ns(Evidence(tables, record({"protocol": "h2"})), [])
    assert found is not None
    return found / _MS


def test_headers_leave_with_the_begin_of_their_record() -> None:
    """The record begins at 60 and is whole at 80, a round trip later; or begins at 61, or in the segment itself."""
    assert _begins(30, 60, whole=80) == 60
    assert _begins(30, 60, 61, whole=80) == 61
    assert _begins(30, 80, whole=80) == 80


def test_a_record_before_the_request_is_none_of_the_answer() -> None:
    """Where no segment after the request starts with a record; and a log tells its own instant."""
    assert _begins(30, whole=80) == 80
    assert _begins(30, 60, whole=80, capture=False) == 80


@pytest.mark.parametrize(("starts", "begun"), [((60, 61), 61), ((60,), 60), ((40,), 80), ((), 80)])
def test_one_end_sees_the_same(starts: tuple[int, ...], begun: int) -> None:
    """At the client, which asked at 50."""
    at_ms = (40, 60, 61, 80)
    down = pl.DataFrame({"time_ns": [at * _MS for at in at_ms], "app": [at in starts for at in at_ms]})
    recorded = cast(Any, SimpleNamespace(transport="tcp", down=down, table=lambda name: _table(name, [])))
    asked = Instant.exactly(50 * _MS)
    assert _headers_begun(recorded, {"headers_ns": 80 * _MS}, asked) == begun * _MS
    assert _headers_begun(recorded, {"headers_ns": None}, asked) is None


def test_headers_in_the_middle_of_a_segment_are_found_by_their_frames() -> None:
    """A browser's answers follow each other in one stream of bytes, so that no record need begin with a segment. The
    second answer's headers are in the record that begins with the end of the first one's data."""
    at_ms, numbers = (60, 70, 80, 90), (1, 1001, 2001, 3001)
    down = pl.DataFrame(
        {"time_ns": [at * _MS for at in at_ms], "app": [True, False, False, False], "number": numbers,
         "payload_bytes": 1000}
    )  # fmt: skip
    tag = 17
    records = [
        {"direction": "down", "first_byte": 1, "length_bytes": 5 + 1500 + tag, "content_bytes": 1500},
        {"direction": "down", "first_byte": 1523, "length_bytes": 5 + 2000 + tag, "content_bytes": 2000},
    ]
    frames = [
        {"stream_id": 1, "frame_type": "headers", "length_bytes": 91},
        {"stream_id": 1, "frame_type": "data", "length_bytes": 2291},
        {"stream_id": 3, "frame_type": "headers", "length_bytes": 91},
        {"stream_id": 3, "frame_type": "data", "length_bytes": 991},
    ]
    frames = [each | {"direction": "down", "http_version": "HTTP/2"} for each in frames]
    tables = {
        "tls_records": _table("tls_records", [each | {"content_type": "application_data"} for each in records]),
        "http_frames": _table("http_frames", frames),
    }
    recorded = cast(Any, SimpleNamespace(transport="tcp", down=down, table=tables.__getitem__))
    asked = Instant.exactly(50 * _MS)
    for stream_id, begun in ((1, 60), (3, 80)):
        told = {"headers_ns": 90 * _MS, "stream_id": stream_id}
        assert _headers_begun(recorded, told, asked) == begun * _MS
