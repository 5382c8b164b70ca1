# SPDX-License-Identifier: Apache-2.0
"""The order in which several objects' bytes arrived, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics import compute_trial, evidence_of
from quiclab.evidence.metrics.order import Run, interleaved_pct, object_runs, switches_per_mb
from quiclab.model.tables import TABLES


def _runs(text: str) -> list[Run]:
    """Each letter is a run of 1000 bytes of the object of that name."""
    return [Run((letter, 0), at, at, 0, 1000) for at, letter in enumerate(text)]


@pytest.mark.parametrize(
    ("order", "switches", "among_others"),
    [
        ("aabb", 1, 0),
        ("abab", 3, 50),  # the first and the last run lie beside nobody else's
        ("abba", 2, 50),
        ("abca", 3, 50),
        ("abcabc", 5, pytest.approx(100 * 4 / 6)),
    ],
)
def test_switches_and_interleaving(order: str, switches: int, among_others: Any) -> None:
    """One object after the other has one switch and nothing between."""
    runs = _runs(order)
    assert switches_per_mb(runs) == pytest.approx(switches * 1000 / len(order))
    assert interleaved_pct(runs) == among_others


def _tables(upload: bool) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """HTTP/2: objects x and y in frames of 100 bytes, x x y x; the other capture times them otherwise."""
    way, receiver, other = ("up", "server", "client") if upload else ("down", "client", "server")
    frames = [
        {
            "source": f"raw/{end}.pcapng",
            "vantage": end,
            "connection": "c",
            "stream_id": stream_id,
            "event": event,
            "direction": way,
            "frame_type": "data",
            "length_bytes": 100,
            "time_ns": at * 10**6 + late,
            "last_byte_ns": at * 10**6 + late,
        }
        for end, event, late in ((receiver, "received", 0), (other, "sent", -5))
        for at, stream_id in enumerate((1, 1, 3, 1), start=1)
    ]
    requests = [
        {"source": "raw/client.pcapng", "connection": "c", "stream_id": stream_id, "url": f"https://server.test/{name}"}
        for stream_id, name in ((1, "x"), (3, "y"))
    ]
    sources = [{"source": f"raw/{end}.pcapng", "vantage": end, "format": "pcapng"} for end in ("client", "server")]
    packets = [{"source": "raw/client.pcapng", "vantage": "client", "direction": "up", "protocol": "tcp", "time_ns": 0}]
    content = {"http_frames": frames, "http_requests": requests, "sources": sources, "ip_packets": packets}
    tables = {
        name: pl.concat([TABLES[name].empty(), pl.DataFrame(rows)], how="diagonal_relaxed")
        for name, rows in content.items()
    }
    expected = {
        "objects": [{"name": "x"}, {"name": "y"}],
        "body_bytes": 400,
        "direction": "upload" if upload else "download",
    }
    return tables, {"trial_id": "t", "protocol": "h2", "expected": expected}


@pytest.mark.parametrize("upload", [False, True])
def test_runs_are_those_of_the_receiver(upload: bool) -> None:
    """Frames of the same object that follow each other are one run; names are those of the requests."""
    tables, trial = _tables(upload)
    rows = (
        object_runs(evidence_of(tables, record(trial)))
        .select("x_ms", "until_ms", "object", "offset_bytes", "bytes")
        .rows()
    )
    assert rows == [(1, 2, "x", 0, 200), (3, 3, "y", 0, 100), (4, 4, "x", 200, 100)]


def test_a_part_of_the_bytes_is_no_order(tmp_path: Path) -> None:
    """Where a capture has gaps nothing is made of the rest."""
    tables, trial = _tables(upload=False)
    trial["expected"]["body_bytes"] = 500
    assert object_runs(evidence_of(tables, record(trial))).is_empty()
    rows = {row.name: row for row in compute_trial(tmp_path, tables, record(trial))}
    assert rows["interleaved_pct"].note == "what was recorded at the client's end shows 400 of 500 bytes of the objects"


def test_a_single_object_has_no_order(tmp_path: Path) -> None:
    """No rows, and the metrics say why."""
    tables, trial = _tables(upload=False)
    trial["expected"] = {"body_bytes": 400}
    assert object_runs(evidence_of(tables, record(trial))).is_empty()
    rows = {row.name: row for row in compute_trial(tmp_path, tables, record(trial))}
    assert (rows["interleaved_pct"].value, rows["interleaved_pct"].note) == (None, "the trial fetched one object")
