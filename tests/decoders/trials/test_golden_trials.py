# SPDX-License-Identifier: Apache-2.0
"""Two real trials: logs to tables to metrics, against values that Wireshark gives for the same packets."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import polars as pl
import pytest

from quiclab.decoders import decode_trial
from quiclab.metrics import METRICS, compute_trial, cost, evidence_of
from quiclab.metrics.bytes_acknowledged import bytes_acknowledged

HERE = Path(__file__).parent

EXPECTED = {
    "h2": {
        "setup_ms": 44.770575,  # the client's Finished
        "ttlb_ms": 326.827985,  # fills the last hole of the response
        "to_last_packet_ms": 326.827985,
        "retransmitted_bytes": 2315,
        "lost_packets_down": 2,
        "lost_packets_up": 0,
        "wire_bytes_down": 108_729,
    },
    "h3": {
        "setup_ms": 30.619381,  # 1-RTT packet 0, the first with STREAM frames
        "ttlb_ms": 162.709148,  # packet 102 carries what the queue dropped
        "to_last_packet_ms": 162.709148,
        "retransmitted_bytes": 1155,
        "lost_packets_down": 1,
        "lost_packets_up": 0,
        "wire_bytes_down": 110_403,
    },
}
COST = {metric.name for metric in cost.COST}
"""Which these trials were too early to tell."""


@pytest.fixture(params=EXPECTED)
def trial_dir(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A trial unpacked into a directory named after its protocol."""
    trial = tmp_path / str(request.param)
    with tarfile.open(HERE / f"{request.param}-100kb.tar.xz") as archive:
        # Python 3.11.2, Debian 12's own, has no filters yet; the archive is ours.
        archive.extractall(trial, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return trial


def test_metrics_agree_with_wireshark(trial_dir: Path) -> None:
    """All is known but what takes another workload; what was found independently agrees to the nanosecond."""
    decoded = decode_trial(trial_dir)
    rows = compute_trial(trial_dir, decoded.tables, json.loads((trial_dir / "trial.json").read_text()))
    values = {row.name: row.value for row in rows}
    assert list(values) == [metric.name for metric in METRICS]
    # A busy link's rate is not told by the few packets that went up; nobody had looked at the hosts' counters.
    others = {*COST, "path_rate_up_bit_per_s", "client_refused_packets", "server_refused_packets"}
    assert {row.note for row in rows if row.value is None and row.name not in others} == {
        "nobody else used the link",
        "the client's address stayed",
        "the client's capture shows no ClientHello",
        "the packets were not decrypted",
        "the trial fetched one object",
        "the trial loaded no page",
        "the trial played no video",
        "the trial uploads nothing",
    }, rows
    for name, expected in EXPECTED[trial_dir.name].items():
        assert values[name] == pytest.approx(expected, abs=1e-6), name


def test_the_client_sees_its_last_byte_just_after_it_arrives(trial_dir: Path) -> None:
    """The arrival that completes the response lies before the client program's own instant, within 1 ms."""
    trial = json.loads((trial_dir / "trial.json").read_text())
    tables = decode_trial(trial_dir).tables
    ttlb_ms = next(row.value for row in compute_trial(trial_dir, tables, trial) if row.name == "ttlb_ms")
    zero_ns = tables["ip_packets"].filter(vantage="client", direction="up")["time_ns"].min()
    seen_ms = (trial["client"]["requests"][0]["last_byte_ns"] - zero_ns) / 1e6
    assert ttlb_ms is not None
    assert 0 < seen_ms - ttlb_ms < 1


def test_captures_and_packet_log_agree(trial_dir: Path) -> None:
    """Each packet of the log is in the captures once per end that saw it, with the same instants and size."""
    tables = decode_trial(trial_dir).tables
    for direction, sender, receiver in (("up", "client", "server"), ("down", "server", "client")):
        log = tables["link_packets"].filter(direction=direction)
        sent = tables["ip_packets"].filter(direction=direction, vantage=sender).sort("packet_index")
        assert sent["time_ns"].to_list() == log.sort("index")["arrival_ns"].to_list()
        assert sent["size_bytes"].to_list() == log.sort("index")["size_bytes"].to_list()
        assert sent["dropped"].is_null().to_list() == (log.sort("index")["action"] == "delivered").to_list()
        received = tables["ip_packets"].filter(direction=direction, vantage=receiver).sort("packet_index")
        delivered = log.filter(action="delivered").sort("index")
        late = (delivered["due_ns"] + delivered["lateness_ns"]).to_list()
        assert received["time_ns"].to_list() == late


def test_packets_leave_the_bottleneck_a_fixed_time_before_they_are_there(trial_dir: Path) -> None:
    """The path's delay is constant: what differs is the time on the edge, 12 us at most for a packet at 1 Gbit/s."""
    log = decode_trial(trial_dir).tables["link_packets"].filter(action="delivered")
    for direction in ("up", "down"):
        rest_ns = log.filter(direction=direction).select(pl.col("due_ns") - pl.col("left_ns")).to_series()
        assert rest_ns.null_count() == 0
        assert 0 <= rest_ns.max() - rest_ns.min() <= 12_500, direction  # type: ignore[operator]


def test_bytes_acknowledged_grow_to_the_whole_response(trial_dir: Path) -> None:
    """One row per ACK, never shrinking, up to everything that the server sent."""
    trial = json.loads((trial_dir / "trial.json").read_text())
    points = bytes_acknowledged(evidence_of(decode_trial(trial_dir).tables, trial))
    # Wireshark: last cumulative acknowledgment 102,015, the SYN included; the HTTP/3 stream is 100,118 bytes long.
    assert (points.height, points["bytes"][-1]) == {"h2": (38, 102_014), "h3": (48, 100_118)}[trial_dir.name]
    assert points["x_ms"].is_sorted()
    assert points["bytes"].is_sorted()


def test_tables_survive_parquet(trial_dir: Path, tmp_path: Path) -> None:
    """What is written is what is read."""
    for name, frame in decode_trial(trial_dir).tables.items():
        frame.write_parquet(tmp_path / name)
        assert pl.read_parquet(tmp_path / name).equals(frame)
