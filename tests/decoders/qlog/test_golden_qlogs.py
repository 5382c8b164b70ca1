# SPDX-License-Identifier: Apache-2.0
"""Real qlogs of three programs, decoded natively and by a plain reading of their JSON: every row must agree."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from quiclab.decoders import Context, decoder_of
from quiclab.metrics.evidence import Evidence, Unknown
from quiclab.metrics.quic import logged
from quiclab.tables import TABLES

GOLDENS = sorted(Path(__file__).parent.glob("*.gz"))
OFFSET_NS = 1_700_000_000_000_000_000
EVENTS = {"packet_sent": "sent", "packet_received": "received", "packet_lost": "lost", "packet_dropped": "dropped"}


def read_plainly(data: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Header and events by the json module."""
    if data.startswith(b"\x1e"):
        header, *events = (json.loads(record) for record in data.split(b"\x1e") if record)
        return header["trace"], events
    (trace,) = json.loads(data)["traces"]
    return trace, trace["events"]


def epoch_ns(trace: dict[str, Any]) -> int:
    """What must be added to the times of a trace."""
    fields = trace["common_fields"]
    if fields.get("time_format") == "relative":
        return 0
    if "reference_time" not in fields:
        return -OFFSET_NS
    whole, fraction = fields["reference_time"]["wall_clock_time"].rstrip("Z").split(".")
    seconds = int(datetime.fromisoformat(whole + "+00:00").timestamp())
    return seconds * 10**9 + int(fraction.ljust(9, "0")) - OFFSET_NS


_KEY = ("vantage", "connection", "event", "time_ns", "packet_type", "packet_number")
COLUMNS = {
    "packets": (*_KEY, "transport", "length_bytes", "trigger"),
    "frames": (*_KEY, "frame_type", "stream_id", "offset", "length_bytes", "fin"),
    "acks": (*_KEY, "first", "last", "ack_delay_us"),
    "transport_metrics": (
        *("vantage", "connection", "time_ns", "cwnd_bytes", "bytes_in_flight", "ssthresh_bytes", "smoothed_rtt_ms"),
        *("min_rtt_ms", "latest_rtt_ms", "rtt_variance_ms", "pacing_rate_bit_per_s", "pto_count"),
    ),
}
"""The columns that a plain reading gives."""


def expected(data: bytes) -> dict[str, pl.DataFrame]:
    """The tables that a log must give."""
    trace, events = read_plainly(data)
    fields = trace["common_fields"]
    who = (trace["vantage_point"]["type"], fields.get("group_id", fields.get("ODCID")))
    zero = epoch_ns(trace)
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
    for event in events:
        name, body = event["name"].split(":")[1], event["data"]
        time_ns = round(event["time"] * 1e6) + zero
        if name in EVENTS:
            header = body.get("header", {})
            key = (*who, EVENTS[name], time_ns, header.get("packet_type"), header.get("packet_number"))
            rows["packets"].append((*key, "quic", body.get("raw", {}).get("length"), body.get("trigger")))
            for frame in body.get("frames", []):
                members = (frame.get(member) for member in ("stream_id", "offset", "length", "fin"))
                rows["frames"].append((*key, frame["frame_type"], *members))
                delay_us = frame["ack_delay"] * 1000 if "ack_delay" in frame else None
                for acked in frame.get("acked_ranges", []):
                    rows["acks"].append((*key, acked[0], acked[-1], delay_us))
        if name == "metrics_updated":
            members = ("bytes_in_flight", "ssthresh", "smoothed_rtt", "min_rtt", "latest_rtt", "rtt_variance")
            values = [body.get(member) for member in (*members, "pacing_rate", "pto_count")]
            rows["transport_metrics"].append((*who, time_ns, body.get("congestion_window", body.get("cwnd")), *values))
    return {
        name: pl.DataFrame(
            rows[name], schema={column: TABLES[name].schema()[column] for column in columns}, orient="row"
        )
        for name, columns in COLUMNS.items()
    }


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.name)
def test_every_row_agrees_with_a_plain_reading(golden: Path, tmp_path: Path) -> None:
    """All rows of packets, frames, acknowledged ranges and metrics are those of the JSON."""
    data = gzip.decompress(golden.read_bytes())
    path = tmp_path / "log"
    path.write_bytes(data)
    decoder = decoder_of(path)
    assert decoder is not None
    file = decoder.decode(path, Context(realtime_minus_monotonic_ns=OFFSET_NS))
    for name, frame in expected(data).items():
        assert frame.height > 0
        assert_frame_equal(file.tables[name].select(frame.columns), frame, abs_tol=1e-9)
    assert all(finding.severity in ("info", "notice") for finding in file.findings)


def test_the_server_and_the_client_name_the_handshake(tmp_path: Path) -> None:
    """ALPN, version and both sides' transport parameters stand in the table handshake."""
    path = tmp_path / "log"
    path.write_bytes(gzip.decompress((Path(__file__).parent / "quic-go-server-100kb.sqlog.gz").read_bytes()))
    decoder = decoder_of(path)
    assert decoder is not None
    handshake = decoder.decode(path, Context()).tables["parameters"]
    said = dict(handshake.select("name", "value").iter_rows())
    assert said["alpn_information.chosen_alpn"] == "h3"
    assert said["version_information.chosen_version"] == "1"
    assert said["parameters_set.remote.initial_max_stream_data_bidi_local"] == "32768"
    assert said["connection_closed.remote.connection_error"] == "no_error"


def test_traces_without_an_id_are_not_taken_for_one_connection(tmp_path: Path) -> None:
    """Two files whose traces name no connection, and one file with two such traces: as many names as traces."""
    trace, events = read_plainly(gzip.decompress((Path(__file__).parent / "aioquic-client-100kb.qlog.gz").read_bytes()))
    for field in ("group_id", "ODCID"):
        trace["common_fields"].pop(field, None)
    rows = sum(event["name"].split(":")[1] in EVENTS for event in events)
    names: list[str] = []
    for file_name, traces in (("a.qlog", [trace]), ("b.qlog", [trace, trace])):
        path = tmp_path / file_name
        path.write_text(json.dumps({"qlog_version": "0.3", "qlog_format": "JSON", "traces": traces}))
        decoder = decoder_of(path)
        assert decoder is not None
        packets = decoder.decode(path, Context()).tables["packets"]
        assert packets.height == rows * len(traces)
        names += packets["connection"].unique(maintain_order=True).to_list()
    assert names == ["a.qlog#1", "b.qlog#1", "b.qlog#2"]
    with pytest.raises(Unknown, match="several connections"):
        sources = pl.DataFrame({"source": ["b.qlog"], "format": ["qlog"]})
        packets = packets.with_columns(source=pl.lit("b.qlog"))
        logged(Evidence({"packets": packets, "sources": sources}, {}), "client", "sent")
