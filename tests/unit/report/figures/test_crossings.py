# SPDX-License-Identifier: Apache-2.0
"""Packets at both ends, from captures of a few rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quiclab.compare.study_tables import open_study
from quiclab.model.tables import TABLES
from quiclab.report.figures._asked import WHOLE, Window
from quiclab.report.figures._crossings import crossings

ZERO_NS = 1_000_000_000


def ns(ms: float) -> int:
    """An instant of the scene."""
    return ZERO_NS + round(ms * 1e6)


def crossing(
    direction: str, kind: str, number: int, index: int, sent: float, came: float | None
) -> list[dict[str, Any]]:
    """One QUIC packet in the captures of both ends; one that was lost is in its sender's alone."""
    ends = ("client", "server") if direction == "up" else ("server", "client")
    common = {
        "connection": "c", "transport": "quic", "direction": direction, "packet_type": kind,
        "packet_number": number, "packet_index": index, "ip_packet": index, "length_bytes": 1200,
    }  # fmt: skip
    rows = [(ends[0], "sent", sent), (ends[1], "received", came)]
    return [
        common | {"source": f"raw/{end}.pcapng", "vantage": end, "event": event, "time_ns": ns(ms)}
        for end, event, ms in rows if ms is not None
    ]  # fmt: skip


def frame(kind: str, number: int, offset: int) -> dict[str, Any]:
    """CRYPTO bytes that the server sends."""
    return {
        "source": "raw/server.pcapng", "vantage": "server", "connection": "c", "time_ns": ns(number), "event": "sent",
        "direction": "down", "packet_type": kind, "packet_number": number, "frame_type": "crypto", "offset": offset,
        "length_bytes": 1000,
    }  # fmt: skip


@pytest.fixture
def shown(tmp_path: Path) -> pl.DataFrame:
    """Figure 10a of Yu and Benson: a probe of the Initial space, and a Handshake packet that crosses it."""
    ack = {
        "source": "raw/server.pcapng", "vantage": "server", "connection": "c", "time_ns": ns(157), "transport": "quic",
        "event": "received", "direction": "up", "packet_type": "initial", "packet_number": 1, "kind": "ack",
        "first": 0, "last": 0,
    }  # fmt: skip
    tables = {
        "packets": [
            *crossing("up", "initial", 0, 0, 0, 50),
            *crossing("down", "initial", 0, 0, 55, 105),
            *crossing("down", "initial", 1, 1, 155, 205),
            *crossing("up", "initial", 1, 1, 107, 157),
            *crossing("up", "handshake", 0, 2, 108, 158),
            *crossing("down", "1RTT", 0, 2, 160, None),
        ],
        "acks": [ack],
        "frames": [frame("initial", 0, 0), frame("initial", 1, 0)],
        "link_packets": [{"source": "raw/link.qplog", "direction": "up", "arrival_ns": ns(0), "action": "delivered"}],
    }
    (tmp_path / "tables").mkdir()
    pl.DataFrame({"trial_id": ["00"]}).write_parquet(tmp_path / "tables" / "trials.parquet")
    for name, rows in tables.items():
        (tmp_path / "tables" / name).mkdir()
        whole = pl.DataFrame(rows, schema=dict(TABLES[name].schema()))
        whole.write_parquet(tmp_path / "tables" / name / "00.parquet")
    return crossings(open_study(tmp_path), {"h3": "00"}, WHOLE)


def of(shown: pl.DataFrame, sender: str, label: str) -> dict[str, Any]:
    """The row of one packet."""
    return shown.filter((pl.col("sender") == sender) & (pl.col("label") == label)).row(0, named=True)


def test_every_packet_has_its_departure_and_its_arrival(shown: pl.DataFrame) -> None:
    """In the order of departure; a lost one never arrives."""
    assert shown["sent_ms"].to_list() == [0, 55, 107, 108, 155, 160]
    assert of(shown, "client", "Initial 0")["arrived_ms"] == 50
    assert of(shown, "server", "1-RTT 0")["arrived_ms"] is None


def test_an_ack_and_an_implicit_acknowledgment_are_told_apart(shown: pl.DataFrame) -> None:
    """The ACK of the first Initial came at 157 ms; the probe of 155 ms was never acknowledged by its number."""
    first, probe = of(shown, "server", "Initial 0"), of(shown, "server", "Initial 1")
    assert (first["acknowledged_ms"], first["implicit"]) == (157, False)
    assert (probe["acknowledged_ms"], probe["implicit"]) == (158, True)


def test_crypto_bytes_that_come_again_without_a_loss_are_a_probe(shown: pl.DataFrame) -> None:
    """RFC 9002 section 6.2.4."""
    assert of(shown, "server", "Initial 1")["probe"] == "probe"
    assert of(shown, "server", "Initial 0")["probe"] == ""


def test_a_window_shows_the_first_packets_of_a_time(tmp_path: Path, shown: pl.DataFrame) -> None:
    """Both ends of the time count."""
    del shown
    study = open_study(tmp_path)
    assert crossings(study, {"h3": "00"}, Window(2, 100.0, 155.0))["sent_ms"].to_list() == [107, 108]
    assert crossings(study, {"h3": "00"}, Window(9, 100.0, 155.0))["sent_ms"].to_list() == [107, 108, 155]
