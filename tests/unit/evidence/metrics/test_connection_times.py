# SPDX-License-Identifier: Apache-2.0
"""A connection's two ends, in trials that were written by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from decoders import writers
from trial_records import record
from unit.evidence.metrics import scenes

from quiclab.evidence.metrics import MetricRow, compute_trial
from quiclab.model.tables import TABLES

MS = 1_000_000


def _handshake(tmp_path: Path, rows: list[tuple[str, str, str, float]]) -> MetricRow:
    """The metric of messages (connection, direction, step, ms) in the client's capture."""
    capture = {"source": "raw/client.pcapng", "vantage": "client"}
    steps = [
        capture | {"connection": each[0], "direction": each[1], "step": each[2], "time_ns": round(each[3] * MS),
                   "transport": "tcp"}
        for each in rows
    ]  # fmt: skip
    tables = {
        "sources": pl.DataFrame([capture | {"format": "pcapng"}], schema=TABLES["sources"].empty().schema),
        "handshake": pl.DataFrame(steps, schema=TABLES["handshake"].empty().schema),
    }
    found = compute_trial(tmp_path, tables, record({"trial_id": "t", "protocol": "h2"}))
    return next(row for row in found if row.name == "tls_handshake_ms")


def test_tls_by_itself_is_without_the_syn(tmp_path: Path) -> None:
    """TLS 1.3: from the first ClientHello, past a retry, to the client's Finished, of the first connection alone."""
    rows = [
        ("a", "up", "syn", 0), ("a", "up", "client_hello", 20), ("a", "up", "client_hello", 41),
        ("a", "down", "finished", 61), ("a", "up", "finished", 62), ("b", "up", "client_hello", 25),
        ("b", "down", "finished", 90), ("b", "up", "finished", 91),
    ]  # fmt: skip
    assert _handshake(tmp_path, rows).value == pytest.approx(42)


def test_tls_1_2_ends_with_the_servers_finished(tmp_path: Path) -> None:
    """Which comes a round trip after the client's."""
    rows = [("a", "up", "client_hello", 20), ("a", "up", "finished", 41), ("a", "down", "finished", 62)]
    assert _handshake(tmp_path, rows).value == pytest.approx(42)


def test_what_was_not_decrypted_has_no_end(tmp_path: Path) -> None:
    """A ClientHello alone tells nothing."""
    row = _handshake(tmp_path, [("a", "up", "client_hello", 20)])
    assert row.value is None
    assert "not both seen" in str(row.note)


def test_the_request_ends_with_the_clients_fin(tmp_path: Path) -> None:
    """Not with the server's, nor with when the client says that it was done."""
    assert scenes.tcp_scene().metrics(tmp_path)["total_request_time_ms"].value == pytest.approx(1097)


def test_the_request_ends_with_connection_close(tmp_path: Path) -> None:
    """Where none is seen the client is taken at its word, and that is told."""
    scene = scenes.quic_scene()
    row = scene.metrics(tmp_path)["total_request_time_ms"]
    assert (row.value, row.note) == (pytest.approx(500), "by the client's own word: no packet shows that it closed")
    assert scene.client_qlog
    scene.send("up", 71, writers.udp("up", 30))
    scene.client_qlog.packet("sent", 71, 4, 30, [{"frame_type": "connection_close"}], "1RTT")
    (tmp_path / "closed").mkdir()
    assert scene.metrics(tmp_path / "closed")["total_request_time_ms"].value == pytest.approx(71)
