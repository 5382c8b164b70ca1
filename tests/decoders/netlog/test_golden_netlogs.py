# SPDX-License-Identifier: Apache-2.0
"""Real NetLogs, each held against a plain reading of the same file, and against the capture."""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quiclab.logs.decoders import Context, FileTables, decoder_of
from quiclab.logs.decoders.netlog import NetLog
from quiclab.model.errors import DecodeError

HERE = Path(__file__).parent
_TYPES = {"INITIAL": "initial", "HANDSHAKE": "handshake", "FORWARD_SECURE": "1RTT"}
_MS = 1_000_000


@cache
def decoded(name: str) -> FileTables:
    """The file, by the decoder that recognises it."""
    path = HERE / f"{name}.json.gz"
    decoder = decoder_of(path)
    assert isinstance(decoder, NetLog)
    return decoder.decode(path, Context())


@cache
def events(name: str) -> list[tuple[str, int, dict[str, Any]]]:
    """(name, time in ms, parameters) of every event."""
    log = json.loads(gzip.decompress((HERE / f"{name}.json.gz").read_bytes()))
    types = {number: type_name for type_name, number in log["constants"]["logEventTypes"].items()}
    return [(types[event["type"]], int(event["time"]), event.get("params", {})) for event in log["events"]]


def plain(name: str, event: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Time and parameters of the events of one type."""
    return ((time, params) for each, time, params in events(name) if each == event)


def test_clock_and_dialect() -> None:
    """The clock is the machine's own in milliseconds; the log gives its offset, and says who wrote it."""
    file = decoded("chromium-h3")
    assert (file.clock, file.resolution_ns) == ("monotonic", _MS)
    # Chromium cuts it to whole milliseconds.
    assert file.realtime_minus_monotonic_ns == 1795294534608 * _MS + _MS // 2
    assert file.dialect.startswith("NetLog 1, Chromium 156.")
    assert {finding.name for finding in file.findings} == {"event_without_table"}
    assert {each.table for each in file.absent} >= {"transport_metrics", "cc_states", "timers"}


def test_padding_is_no_body() -> None:
    """Chromium logs DATA frames of HTTP/2 with their padding; what it read of the body was without."""
    sizes = [params["size"] for _, params in plain("chromium-h2-padded", "HTTP2_SESSION_RECV_DATA") if params["size"]]
    rows = decoded("chromium-h2-padded").tables["http_requests"].rows(named=True)
    assert sizes == [1100] * 10 * len(rows)
    for row in rows:
        assert (row["response_body_bytes"], row["response_decoded_bytes"], row["status"]) == (10_000, 10_000, 200)


def test_a_greased_transport_parameter_stands_alone() -> None:
    """What Chromium has no name for is a parameter by its number, not the end of its neighbour's value."""
    (told,) = (params for _, params in plain("chromium-h3", "QUIC_SESSION_TRANSPORT_PARAMETERS_RECEIVED"))
    assert told["quic_transport_parameters"].endswith("initial_source_connection_id b239f190 0x1891=24a3701346dd697f]")
    parameters = dict(decoded("chromium-h3").tables["parameters"].select("name", "value").rows())
    assert parameters["parameters_set.server.initial_source_connection_id"] == "b239f190"
    assert parameters["parameters_set.server.0x1891"] == "24a3701346dd697f"


def test_packets_sent() -> None:
    """Number, type and instant are the event's; a padded Initial has the length of its datagram's rest."""
    rows = decoded("chromium-h3").tables["packets"].filter(pl.col("event") == "sent")
    expected = [
        (
            _TYPES[params["encryption_level"].removeprefix("ENCRYPTION_")],
            params["packet_number"],
            params["sent_time_us"] * 1000,
        )
        for _, params in plain("chromium-h3", "QUIC_SESSION_PACKET_SENT")
    ]
    assert rows.select("packet_type", "packet_number", "time_ns").rows() == expected
    assert rows["length_bytes"].to_list()[:4] == [1230, 1230, 1230 - 36, 36]
    assert set(rows["connection"]) == {"af0a393bbb647571"}


def test_packets_received() -> None:
    """Every header that was authenticated; the lengths of datagrams with one packet."""
    rows = decoded("chromium-h3").tables["packets"].filter(pl.col("event") == "received")
    expected = [
        (params.get("long_header_type", "").lower() or "1RTT", params["packet_number"])
        for _, params in plain("chromium-h3", "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED")
    ]
    assert rows.select("packet_type", "packet_number").rows() == expected
    sizes = [params["size"] for _, params in plain("chromium-h3", "QUIC_SESSION_PACKET_RECEIVED")]
    told = rows.filter(pl.col("packet_type") == "1RTT")["length_bytes"].to_list()
    # The first 1-RTT packet shared its datagram; the handshake's datagrams are five.
    assert told[1:] == sizes[3:]


def test_frames_and_acknowledgments() -> None:
    """STREAM frames in their order; ranges are what lies between smallest, largest and missing."""
    tables = decoded("chromium-h3").tables
    columns = ("stream_id", "offset", "length_bytes", "fin")
    for event, way in (("received", "RECEIVED"), ("sent", "SENT")):
        rows = tables["frames"].filter(pl.col("event") == event, pl.col("frame_type") == "stream").select(columns)
        params = [params for _, params in plain("chromium-h3", f"QUIC_SESSION_STREAM_FRAME_{way}")]
        assert rows.rows() == [tuple(each[key] for key in ("stream_id", "offset", "length", "fin")) for each in params]
    acks = tables["acks"].filter(pl.col("event") == "received")
    found = [set(range(first, last + 1)) for first, last in acks.select("first", "last").iter_rows()]
    expected = [
        set(range(params["smallest_observed"], params["largest_observed"] + 1)) - set(params["missing_packets"])
        for _, params in plain("chromium-h3", "QUIC_SESSION_ACK_FRAME_RECEIVED")
    ]
    assert set().union(*found) == set().union(*expected)
    stream = tables["streams"].row(by_predicate=pl.col("stream_id") == 0, named=True)
    assert (stream["down_bytes"], stream["down_end"], stream["up_end"]) == (100_118, "fin", "fin")


def test_instants_agree_with_the_capture() -> None:
    """Ticks are CLOCK_MONOTONIC: a packet reaches the link after it was sent, and was received when the link says."""
    with gzip.open(HERE / "chromium-h3.datagrams.csv.gz", "rt") as file:
        datagrams = list(csv.DictReader(file))
    captured = {way: [int(row["time_ns"]) for row in datagrams if row["direction"] == way] for way in ("up", "down")}
    last_sent = decoded("chromium-h3").tables["packets"].filter(pl.col("event") == "sent")["time_ns"][-1]
    assert 0 < captured["up"][-1] - last_sent < _MS
    received = [(time * _MS, params["size"]) for time, params in plain("chromium-h3", "QUIC_SESSION_PACKET_RECEIVED")]
    shown = [(int(row["time_ns"]), int(row["payload_bytes"])) for row in datagrams if row["direction"] == "down"]
    # What came once the browser had closed, nobody read.
    shown = shown[: len(received)]
    assert [size for _, size in shown] == [size for _, size in received]
    # The browser may be late to read, never early; its milliseconds are cut off.
    late = [told - seen for (told, _), (seen, _) in zip(received, shown, strict=True)]
    assert min(late) > -_MS
    assert sorted(late)[len(late) // 2] < _MS


@pytest.mark.parametrize(
    ("name", "version", "transport", "priority"),
    [("chromium-h3", "HTTP/3", "quic", "u=1, i"), ("chromium-h2", "HTTP/2", "tcp", "u=1, i")],
)
def test_the_request(name: str, version: str, transport: str, priority: str) -> None:
    """Every instant in order, on its connection and stream; the bytes of the body are those of the DATA frames."""
    file = decoded(name)
    row = file.tables["http_requests"].row(by_predicate=pl.col("url") == "https://server.test/object", named=True)
    told = (row["http_version"], row["transport"], row["method"], row["status"], row["priority"])
    assert told == (version, transport, "GET", 200, priority)
    assert (row["response_body_bytes"], row["from_cache"], row["error"]) == (100_000, False, None)
    steps = (
        "queued_ns",
        "connect_start_ns",
        "connect_end_ns",
        "send_start_ns",
        "headers_ns",
        "first_byte_ns",
        "last_byte_ns",
    )
    instants = [row[step] for step in steps]
    assert None not in instants
    assert instants == sorted(instants)
    streams = file.tables["streams"].filter(pl.col("kind") == "request")
    assert streams.select("connection", "stream_id").rows() == [(row["connection"], row["stream_id"])]
    others = file.tables["http_requests"].filter(pl.col("url") != row["url"])
    assert set(others["error"]) == {"ERR_NAME_NOT_RESOLVED"}


def test_http2_frames_windows_and_settings() -> None:
    """Frames are the session's events; the window is 65,535 and the increment; settings have their names."""
    tables = decoded("chromium-h2").tables
    frames = tables["http_frames"]
    sizes = [params["size"] for _, params in plain("chromium-h2", "HTTP2_SESSION_RECV_DATA")]
    assert frames.filter(pl.col("frame_type") == "data")["length_bytes"].to_list() == sizes
    assert tables["flow_control"]["limit"].to_list() == [65_535 + 15_663_105, 65_535 + 983_041]
    settings = dict(tables["parameters"].select("name", "value").iter_rows())
    assert settings["settings.client.initial_window_size"] == "6291456"
    assert settings["settings.server.max_concurrent_streams"] == "250"
    assert settings["alpn_information.chosen_alpn"] == "h2"
    steps = tables["handshake"].select("step", "round_trip").rows()
    assert steps[:2] == [("client_hello", 0), ("server_hello", 0)]
    assert steps[-2:] == [("finished", 1), ("new_session_ticket", 1)]


def test_a_log_cut_anywhere_gives_what_came_before(tmp_path: Path) -> None:
    """Rows are a beginning of the whole log's, and the cut is told; one before the first event is refused."""
    whole = gzip.decompress((HERE / "chromium-h3.json.gz").read_bytes())
    full = decoded("chromium-h3").tables["frames"]
    head = whole.index(b'"events":')
    path = tmp_path / "cut.json"
    for end in random.Random(4).sample(range(head + 10, len(whole) - 3), 12):
        path.write_bytes(whole[:end])
        file = NetLog().decode(path, Context())
        assert "truncated_log" in {finding.name for finding in file.findings}
        rows = file.tables.get("frames", full.clear())
        known = rows.drop("packet_number", "time_ns")
        assert known.height == 0 or known[:-8].equals(full.drop("packet_number", "time_ns")[: max(0, known.height - 8)])
    path.write_bytes(whole[: head // 2])
    with pytest.raises(DecodeError):
        NetLog().decode(path, Context())
