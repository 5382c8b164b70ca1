# SPDX-License-Identifier: Apache-2.0
"""How a video was played, by hand: a start, two stalls of the network, one of the decoder, two qualities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics import MetricRow, compute_trial, evidence_of
from quiclab.evidence.metrics.video import VIDEO, drops, video_throughput
from quiclab.logs.decoders.player_log import stalls
from quiclab.model.tables import TABLES

EVENTS = (
    (0, "requested", 0),
    (5, "waiting", 0),  # before the start: no stall
    (400, "first_frame", 900),
    (410, "playing", 900),
    (1410, "waiting", 100),
    (1910, "playing", 1200),
    (2910, "waiting", 3000),
    (3010, "playing", 3000),
    (4010, "waiting", 0),
    (6000, "over", 0),
)
SAMPLES = ((410, 0, 240), (1410, 1000, 240), (1910, 1000, 1080), (2910, 2000, 1080), (4010, 3000, 1080))
MBIT = 10**6


def _rows(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.concat([TABLES[name].empty(), pl.DataFrame(rows)], how="diagonal_relaxed")


def _metrics(tmp_path: Path, started: bool = True, loaded_bytes: int = 1_000_000) -> dict[str, MetricRow]:
    told = [
        {"time_ns": ms * MBIT, "name": name, "position_ms": 0.0, "ahead_ms": float(ahead), "detail": None}
        for ms, name, ahead in EVENTS
        if started or name in ("requested", "over")
    ]
    samples = [
        {"time_ns": ms * MBIT, "position_ms": float(place), "loaded_ms": 2500.0, "height": height}
        | {"ahead_ms": 5000.0 - place}
        | {"frames_decoded": 100, "frames_dropped": 4}
        for ms, place, height in SAMPLES
    ]
    answer = {"source": "c", "vantage": "client", "url": "https://s.test/v/video.mp4", "last_byte_ns": 4000 * MBIT}
    tables = {
        "player_events": _rows("player_events", told),
        "player_samples": _rows("player_samples", samples),
        "player_stalls": _rows("player_stalls", stalls(told)) if started else TABLES["player_stalls"].empty(),
        "http_requests": _rows("http_requests", [answer | {"response_body_bytes": loaded_bytes}]),
    }
    video = {
        "name": "v/video.mp4",
        "length": {"ns": 20_000 * MBIT},
        "file_bytes": 1_000_000,
        "representations": [{"height": 240, "bit_per_s": MBIT}, {"height": 1080, "bit_per_s": 4 * MBIT}],
    }
    trial = {"trial_id": "t", "protocol": "h2", "client": None, "expected": {"video": video}}
    return {row.name: row for row in compute_trial(tmp_path, tables, record(trial))}


def test_stalls_and_qualities(tmp_path: Path) -> None:
    """The decoder's stall is counted apart; the last one lasts until the trial is over."""
    found = {name: row.value for name, row in _metrics(tmp_path).items()}
    assert found["startup_ms"] == 400
    assert (found["stalls"], found["stall_ms"], found["decoder_stalls"]) == (2, 500 + 1990, 1)
    assert found["played_s"] == 3
    assert found["stalls_per_minute"] == 40
    assert found["stall_ratio_pct"] == pytest.approx(100 * 2.49 / 5.49)
    assert found["fraction_loaded_pct"] == 25
    assert found["frames_dropped_pct"] == 4
    assert found["mean_quality_bit_per_s"] == (MBIT + 2 * 4 * MBIT) / 3
    assert found["quality_switches"] == 1
    assert found["overall_throughput_bit_per_s"] == 2 * MBIT


def test_what_cannot_be_told(tmp_path: Path) -> None:
    """A video that never started has no stalls, one that was not loaded whole no time of download."""
    found = _metrics(tmp_path, started=False, loaded_bytes=999_999)
    assert found["stalls"].value is None
    assert found["stalls"].note == "the player's log has no first_frame or playing"
    assert found["overall_throughput_bit_per_s"].note == "the file was not loaded whole: 25 % of the video was"


def test_each_second_of_a_video() -> None:
    """Whole seconds since the client's first packet; a silent one has a row too, the last, which was cut off, none.

    What comes after the content, as what ends a connection of HTTP/2 seconds later, adds no seconds.
    """
    up = {"vantage": "client", "direction": "up", "protocol": "tcp", "time_ns": 5, "size_bytes": 60}
    down = [
        {"vantage": "client", "direction": "down", "protocol": "tcp", "time_ns": 5 + ms * 10**6, "size_bytes": size}
        for ms, size in ((0, 100), (999, 25), (2_500, 1_000), (3_001, 700), (7_500, 60))
    ]
    packets = TABLES["ip_packets"].empty()
    known = pl.DataFrame([up, *down], schema={name: packets.schema[name] for name in up})
    tables = {"ip_packets": pl.concat([packets, known], how="diagonal")}
    found = video_throughput(evidence_of(tables, record({"protocol": "h2", "expected": {"video": {}}})))
    assert found.rows() == [(0, 1_000), (1, 0), (2, 8_000)]
    assert video_throughput(evidence_of(tables, record({"protocol": "h2", "expected": {}}))).is_empty()


def test_no_video(tmp_path: Path) -> None:
    """Of other workloads all are unknown."""
    rows = compute_trial(tmp_path, {}, record({"trial_id": "t", "protocol": "h2", "client": None, "expected": {}}))
    names = {metric.name for metric in VIDEO}
    assert {row.note for row in rows if row.name in names} == {"the trial played no video"}


@pytest.mark.parametrize(
    ("series", "count"),
    [([], 0), ([10], 0), ([10, 10, 4, 10, 3], 2), ([10, 10, 4, 4, 10], 1), ([10, 5, 5], 0), ([0, 8, 8, 8, 1], 1)],
)
def test_drops(series: list[int], count: int) -> None:
    """Below half of the median of what came before; seconds in a row are one drop."""
    assert drops(series) == count
