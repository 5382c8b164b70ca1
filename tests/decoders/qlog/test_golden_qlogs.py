# SPDX-License-Identifier: Apache-2.0
"""Real qlogs of many programs, decoded natively and by a plain reading of their JSON: every row must agree."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from decoders.qlog.plain_reading import EVENTS, Trace, read, traces
from polars.testing import assert_frame_equal
from trial_records import record

from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.quic import quic_packets
from quiclab.logs.decoders import Context, FileTables, decoder_of
from quiclab.model.tables import TABLES

HERE = Path(__file__).parent
GOLDENS = sorted(HERE.glob("*.gz"))
OFFSET_NS = 1_700_000_000_000_000_000

RATES = {"neqo": 8, "quiche": 8}
"""Programs that log bytes per second where the drafts ask for bits."""
RAW_ACK_DELAY = ("pcap2qlog", "picoquic")
"""Programs that log the ACK Delay field without its exponent, so that it is no time."""

_KEY = ("vantage", "connection", "event", "time_ns", "direction", "packet_type", "packet_number")
COLUMNS = {
    "packets": (*_KEY, "transport", "length_bytes", "trigger"),
    "frames": (*_KEY, "frame_type", "stream_id", "offset", "length_bytes", "fin"),
    "acks": (*_KEY, "first", "last", "ack_delay_us"),
    "transport_metrics": (
        *("vantage", "connection", "time_ns", "cwnd_bytes", "bytes_in_flight", "ssthresh_bytes", "smoothed_rtt_ms"),
        *("min_rtt_ms", "latest_rtt_ms", "rtt_variance_ms", "pacing_rate_bit_per_s", "pto_count"),
    ),
    "losses": (
        *("vantage", "connection", "time_ns", "direction", "packet_type", "packet_number", "length_bytes", "sent_ns"),
        *("acknowledged_ns", "spurious"),
    ),
    "blocked": (
        *("vantage", "connection", "time_ns", "direction", "scope", "stream_id", "old_state", "new_state", "reason"),
        *("limit", "ready_bytes", "inferred"),
    ),
}
"""The columns that a plain reading gives."""

NAMELESS = {
    "quiche-client.sqlog.gz",
    "quiche-server-blocked.sqlog.gz",
    "neqo-firefox-client.sqlog.gz",
    "openssl-client-losses.sqlog.gz",
}
"""Logs whose header names no connection: their first Initial packet does."""
CUT = {
    "ngtcp2-server-losses.sqlog.gz": {"truncated_record"},
    "picoquic-server-losses.qlog.gz": {"broken_document"},
    "quictrace-draft00-cut.qlog.gz": {"broken_document"},
}
"""Logs that end too early: all but the last because their program was killed."""


def decoded(golden: Path) -> FileTables:
    """A golden as it is, compressed."""
    decoder = decoder_of(golden)
    assert decoder is not None
    return decoder.decode(golden, Context(realtime_minus_monotonic_ns=OFFSET_NS))


def first_initial(trace: Trace) -> str:
    """The Destination Connection ID of the first Initial packet."""
    headers = (body.get("header", {}) for _, name, body in trace.events if name.startswith("packet_"))
    return str(next(header["dcid"] for header in headers if header.get("packet_type") == "initial"))


def expected(golden: Path) -> dict[str, pl.DataFrame]:
    """The tables that a log must give."""
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}
    for trace in traces(gzip.decompress(golden.read_bytes())):
        fields, point = trace.header["common_fields"], trace.header["vantage_point"]
        end = point["type"].lower()
        vantage = end if end in ("client", "server") else None
        sends_up = point.get("flow", end) == "client"
        named = fields.get("group_id", fields.get("ODCID", trace.header.get("description")))
        connection = first_initial(trace) if golden.name in NAMELESS else named
        read(trace, (vantage, connection), ("up", "down") if sends_up else ("down", "up"), OFFSET_NS)
        for name in COLUMNS:
            rows[name] += trace.rows[name]
    rate = RATES.get(golden.name.split("-")[0], 1)
    tables = {
        name: pl.DataFrame(
            rows[name], schema={column: TABLES[name].schema()[column] for column in columns}, orient="row", strict=False
        )
        for name, columns in COLUMNS.items()
    }
    metrics = tables["transport_metrics"]
    tables["transport_metrics"] = metrics.with_columns(pl.col("pacing_rate_bit_per_s") * rate)
    if golden.name.startswith(RAW_ACK_DELAY):
        tables["acks"] = tables["acks"].with_columns(ack_delay_us=pl.lit(None, pl.Float64))
    if golden.name.startswith("quiche"):  # it leaves out the exponent, which is 3 at both ends
        exponent = pl.when(pl.col("packet_type") == "1RTT").then(2**3).otherwise(1)
        tables["acks"] = tables["acks"].with_columns(pl.col("ack_delay_us") * exponent)
    return tables


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.name)
def test_every_row_agrees_with_a_plain_reading(golden: Path) -> None:
    """All rows of packets, frames, acknowledged ranges, metrics and losses are those of the JSON."""
    file = decoded(golden)
    for name, frame in expected(golden).items():
        if frame.height == 0:
            assert name not in file.tables
            continue
        assert_frame_equal(file.tables[name].select(frame.columns), frame, abs_tol=1e-9, rel_tol=1e-9)
    bad = {finding.name for finding in file.findings if finding.severity in ("data_loss", "error")}
    assert bad == CUT.get(golden.name, set())


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.name)
def test_every_byte_of_a_stream_counts_once(golden: Path) -> None:
    """The bytes of each stream and direction are the distinct offsets of its STREAM frames, wherever all are known."""
    file = decoded(golden)
    frames = expected(golden)["frames"].filter(frame_type="stream")
    bytes_of: defaultdict[tuple[Any, ...], set[int]] = defaultdict(set)
    unknown = set()
    for vantage, stream, way, offset, length in (
        frames.filter(pl.col("event") != "lost")
        .select("vantage", "stream_id", "direction", "offset", "length_bytes")
        .iter_rows()
    ):
        bytes_of[vantage, stream, way].update(range(offset or 0, (offset or 0) + (length or 0)))
        if length is None:
            unknown.add((vantage, stream, way))
    found = {
        (row["vantage"], row["stream_id"], way): row[f"{way}_bytes"]
        for row in (file.tables["streams"].to_dicts() if "streams" in file.tables else [])
        for way in ("up", "down")
        if row[f"{way}_first_ns"] is not None
    }
    assert found == {key: None if key in unknown else len(seen) for key, seen in bytes_of.items()}


DIALECTS = {
    "aioquic-client-100kb": ("aioquic, 0.3, JSON", 100),
    "aioquic-draft01-both-ends": ("aioquic, draft-01, JSON", 1_000_000),
    "neqo-firefox-client": ("neqo, 0.3, JSON-SEQ", 10),
    "ngtcp2-client-100kb": ("ngtcp2, 0.3, JSON-SEQ", 1_000_000),
    "ngtcp2-server-losses": ("ngtcp2, 0.3, JSON-SEQ", 1_000_000),
    "openssl-client-losses": ("OpenSSL/3.5.7 (debian-amd64), 0.3, JSON-SEQ", 134 * 1_000_000),
    "pcap2qlog-draft01-new-cid": ("pcap2qlog, draft-01, JSON", 1_000_000),
    "pcap2qlog-draft01-spin-bit": ("pcap2qlog, draft-01, JSON", 1_000_000),
    "picoquic-server-losses": ("picoquic, draft-00, JSON", 1_000),
    "quic-go-server-100kb": ("quic-go v0.63.0, events quic-12, JSON-SEQ", 1),
    "quic-go-server-blocked": ("quic-go v0.65.0, events quic-14, JSON-SEQ", 1),
    "quic-go-server-losses": ("quic-go v0.63.0, events quic-12, JSON-SEQ", 1),
    "quiche-server-blocked": ("quiche, events quic-12, JSON-SEQ", 1_000),
    "quiche-client": ("quiche, events quic-12, JSON-SEQ", 1_000),
    "quictrace-draft00-cut": ("quictrace-to-qlog, draft-00, JSON", 1_000),
    "quinn-server-blocked": ("quinn, 0.3, JSON-SEQ", 10),
    "quinn-server-losses": ("quinn, 0.3, JSON-SEQ", 10),
}


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.name)
def test_a_log_says_who_wrote_it_and_how_exact_its_times_are(golden: Path) -> None:
    """Writer, version and form; the step of its times, in nanoseconds."""
    file = decoded(golden)
    assert (file.dialect, file.resolution_ns) == DIALECTS[golden.name.split(".")[0]]


def test_the_server_and_the_client_name_the_handshake() -> None:
    """ALPN, version and both sides' transport parameters stand in the table parameters."""
    parameters = decoded(HERE / "quic-go-server-100kb.sqlog.gz").tables["parameters"]
    said = dict(parameters.select("name", "value").iter_rows())
    assert said["alpn_information.chosen_alpn"] == "h3"
    assert said["version_information.chosen_version"] == "1"
    assert said["parameters_set.client.initial_max_stream_data_bidi_local"] == "32768"
    assert said["connection_closed.client.connection_error"] == "no_error"
    assert said["settings.server.enable_connect_protocol"] == "true"


def test_requests_are_put_together_from_http_events() -> None:
    """Method, URL, status and the size of the body, with the instants in their order."""
    (request,) = decoded(HERE / "quic-go-server-100kb.sqlog.gz").tables["http_requests"].to_dicts()
    assert (request["method"], request["status"], request["response_body_bytes"]) == ("GET", 200, 102_400)
    assert request["url"].startswith("https://")
    instants = [request[f"{name}_ns"] for name in ("send_start", "headers", "first_byte", "last_byte")]
    assert instants == sorted(instants)


def test_the_handshake_is_told_by_its_packets() -> None:
    """The flights of a handshake without Retry, by the round trip in which each came."""
    steps = decoded(HERE / "quiche-client.sqlog.gz").tables["handshake"]
    assert steps.filter(pl.col("round_trip") == 0)["step"].to_list()[:2] == ["client_hello", "server_hello"]


def test_what_a_program_never_logs_is_said() -> None:
    """ngtcp2 logs no HTTP and no timers; quinn no frames: absent is not zero."""
    absent = {(each.table, each.column) for each in decoded(HERE / "ngtcp2-client-100kb.sqlog.gz").absent}
    assert {("http_requests", None), ("timers", None), ("losses", "rule")} <= absent
    assert ("acks", None) not in absent
    absent = {(each.table, each.column) for each in decoded(HERE / "quinn-server-losses.sqlog.gz").absent}
    assert {("frames", None), ("acks", None), ("losses", "spurious")} <= absent


def test_traces_without_an_id_are_not_taken_for_one_connection(tmp_path: Path) -> None:
    """Two files whose traces name no connection, and one file with two such traces: as many names as traces."""
    data = gzip.decompress((HERE / "aioquic-client-100kb.qlog.gz").read_bytes())
    data = data.replace(b'"dcid"', b'"xcid"').replace(b'"original_destination_connection_id"', b'"x"')
    (trace,) = json.loads(data)["traces"]
    trace["common_fields"] = {}
    rows = sum(event["name"].split(":")[1] in EVENTS for event in trace["events"])
    names: list[str] = []
    for file_name, several in (("a.qlog", [trace]), ("b.qlog", [trace, trace])):
        path = tmp_path / file_name
        path.write_text(json.dumps({"qlog_version": "0.3", "qlog_format": "JSON", "traces": several}))
        decoder = decoder_of(path)
        assert decoder is not None
        packets = decoder.decode(path, Context()).tables["packets"]
        assert packets.height == rows * len(several)
        names += packets["connection"].unique(maintain_order=True).to_list()
    assert names == ["a.qlog#1", "b.qlog#1", "b.qlog#2"]
    with pytest.raises(Unknown, match="several connections"):
        sources = pl.DataFrame({"source": ["b.qlog"], "format": ["qlog"]})
        packets = packets.with_columns(source=pl.lit("b.qlog"))
        quic_packets(Evidence({"packets": packets, "sources": sources}, record({})), "client", "sent")
