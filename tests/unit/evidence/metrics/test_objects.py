# SPDX-License-Identifier: Apache-2.0
"""Several objects of one trial, by hand: by the wire, and by the client's account where that is all there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics import MetricRow, compute_trial
from quiclab.model.tables import TABLES

NAMES = ("o~1", "o~2", "o~3")
WIRE_MS = {"o~1": (0, 10), "o~2": (0, 40), "o~3": (10, 30)}
ACCOUNT_MS = {"o~1": (0, 15), "o~2": (0, 45), "o~3": (15, 35)}


def _metrics(tmp_path: Path, seen: tuple[str, ...] = NAMES, objects: bool = True) -> dict[str, MetricRow]:
    def url(name: str) -> str:
        return f"https://server.test/{name}"

    rows = [
        {"source": source, "vantage": vantage, "url": url(name), "send_start_ns": start, "last_byte_ns": end}
        for source, vantage, shift in (("raw/client.pcapng", "client", 0), ("raw/server.pcapng", "server", 7))
        for name in seen
        for start, end in [tuple(round((ms + shift) * 1e6) for ms in WIRE_MS[name])]
    ]
    sources = [{"source": f"raw/{end}.pcapng", "vantage": end, "format": "pcapng"} for end in ("client", "server")]
    tables = {
        name: pl.concat([TABLES[name].empty(), pl.DataFrame(content)], how="diagonal_relaxed")
        for name, content in (("http_requests", rows), ("sources", sources))
    }
    told = [
        {"url": url(name), "start_ns": start * 10**6, "last_byte_ns": end * 10**6}
        for name, (start, end) in ACCOUNT_MS.items()
    ]
    trial: dict[str, Any] = {"trial_id": "t", "protocol": "h3", "client": {"requests": told}, "expected": {}}
    if objects:
        trial["expected"]["objects"] = [{"name": name} for name in NAMES]
    return {row.name: row for row in compute_trial(tmp_path, tables, record(trial))}


def test_by_the_clients_capture(tmp_path: Path) -> None:
    """10, 40 and 20 ms; the third takes the place of the first, so two are under way at most."""
    found = _metrics(tmp_path)
    values = {
        name: (row.value, row.note) for name, row in found.items() if name.endswith(("object_ms", "objects_at_once"))
    }
    assert values == {
        "slowest_object_ms": (pytest.approx(40), None),
        "median_object_ms": (pytest.approx(20), None),
        "fastest_object_ms": (pytest.approx(10), None),
        "objects_at_once": (2.0, None),
    }


def test_by_the_client_where_the_capture_lacks_one(tmp_path: Path) -> None:
    """Never a mixture of both; the note says what the value rests on."""
    row = _metrics(tmp_path, seen=("o~1", "o~3"))["slowest_object_ms"]
    assert row.value == pytest.approx(45)
    assert row.note is not None
    assert "by the client's account" in row.note
    assert "1 of 3 requests" in row.note


def test_a_single_object_has_no_slowest(tmp_path: Path) -> None:
    """Its time is in the other metrics."""
    row = _metrics(tmp_path, objects=False)["slowest_object_ms"]
    assert (row.value, row.note) == (None, "the trial fetched one object")
