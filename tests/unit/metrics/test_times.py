# SPDX-License-Identifier: Apache-2.0
"""Times of trials that were written by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from decoders import writers
from unit.metrics import scenes

from quiclab.decoders.trial import decode_trial
from quiclab.metrics.evidence import Evidence, Unknown
from quiclab.metrics.times import goodput_bit_per_s, ttfb_ms, ttlb_ms
from quiclab.tables import TABLES


def test_tcp_times_count_from_the_lost_syn(tmp_path: Path) -> None:
    """Zero is the departure of the client's first packet even if the link dropped it, here a second before the next."""
    metrics = scenes.tcp_scene().metrics(tmp_path)
    assert metrics["setup_ms"].value == pytest.approx(1041)
    assert metrics["ttfb_ms"].value == pytest.approx(1061)


def test_tcp_ends_with_the_segment_that_fills_the_hole(tmp_path: Path) -> None:
    """Not with the highest sequence number, which came before it, nor with the alert that comes behind the response."""
    assert scenes.tcp_scene().metrics(tmp_path)["ttlb_ms"].value == pytest.approx(1084)


def test_what_answers_the_clients_fin_is_no_part_of_the_response(tmp_path: Path) -> None:
    """A program may tell late that it has all: what the server says to its FIN at 1097 ms has come by then."""
    scene = scenes.tcp_scene()
    scene.send("down", 1098, writers.tcp("down", 2**32 - 150 + 532, bytes(24), ack=273))
    scene.request["last_byte_ns"] = scenes.ns(1200)
    assert scene.metrics(tmp_path)["ttlb_ms"].value == pytest.approx(1096)


def test_a_decrypted_response_ends_where_it_was_whole(tmp_path: Path) -> None:
    """Whatever came behind it before the client program told; not where another response is not seen whole."""
    scene = scenes.tcp_scene()
    scene.request["last_byte_ns"] = scenes.ns(1096.5)
    trial = scene.lay_out(tmp_path)
    tables = decode_trial(tmp_path).tables
    source = tables["sources"].filter(pl.col("format") == "pcapng", pl.col("vantage") == "client")["source"][0]
    row = {"source": source, "vantage": "client", "time_ns": scenes.ns(1041), "last_byte_ns": scenes.ns(1084)}
    seen = pl.DataFrame([row], schema=TABLES["http_requests"].schema())
    assert ttlb_ms(Evidence(tables, trial)) == pytest.approx(1096)
    assert ttlb_ms(Evidence({**tables, "http_requests": seen}, trial)) == pytest.approx(1084)
    trial["client"]["requests"].append(scene.request)
    assert ttlb_ms(Evidence({**tables, "http_requests": seen}, trial)) == pytest.approx(1096)


def test_a_client_that_tells_nothing_is_timed_by_its_decrypted_capture(tmp_path: Path) -> None:
    """Over TCP: the first and the last byte of the body as they could be read; not where a response was not whole."""
    scene = scenes.tcp_scene()
    scene.request = {}
    trial = scene.lay_out(tmp_path)
    tables = decode_trial(tmp_path).tables
    source = tables["sources"].filter(pl.col("format") == "pcapng", pl.col("vantage") == "client")["source"][0]
    at = {"time_ns": scenes.ns(1041), "first_byte_ns": scenes.ns(1061), "last_byte_ns": scenes.ns(1084)}
    row = {"source": source, "vantage": "client", "status": 200, "response_body_bytes": 400, **at}
    evidence = [
        Evidence({**tables, "http_requests": pl.DataFrame([seen], schema=TABLES["http_requests"].schema())}, trial)
        for seen in (row, {**row, "last_byte_ns": None}, {**row, "status": 404})
    ]
    assert (ttfb_ms(evidence[0]), ttlb_ms(evidence[0])) == (pytest.approx(1061), pytest.approx(1084))
    assert goodput_bit_per_s(evidence[0]) == pytest.approx(3200 / 1.084)
    for lacking in evidence[1:]:
        with pytest.raises(Unknown, match="its capture does not show each response to its end"):
            ttlb_ms(lacking)


def test_goodput_is_body_bits_over_time_to_last_byte(tmp_path: Path) -> None:
    """400 bytes in 1084 ms."""
    assert scenes.tcp_scene().metrics(tmp_path)["goodput_bit_per_s"].value == pytest.approx(3200 / 1.084)


def test_the_last_packet_is_the_last_before_the_close(tmp_path: Path) -> None:
    """Packets that arrive after the client closed do not count: it closes at 500 ms, when TCP has seen nothing yet."""
    tcp = scenes.tcp_scene().metrics(tmp_path)["to_last_packet_ms"]
    assert tcp.value is None
    assert tcp.note == "the client's capture holds no packet from the server"
    (tmp_path / "quic").mkdir()
    assert scenes.quic_scene().metrics(tmp_path / "quic")["to_last_packet_ms"].value == pytest.approx(68)


def test_what_answers_the_clients_fin_is_not_the_last_packet(tmp_path: Path) -> None:
    """It is there in time over a short path only: the data that came before counts, over every path."""
    scene = scenes.tcp_scene()
    scene.send("down", 1107, writers.tcp("down", 2**32 - 150 + 532, ack=273))
    scene.extra["client"] = {"requests": [scene.request], "close_ns": scenes.ns(1200)}
    assert scene.metrics(tmp_path)["to_last_packet_ms"].value == pytest.approx(1096)


@pytest.mark.parametrize("server_log", [True, False], ids=["by packet number", "by order and size"])
def test_quic_packets_are_placed_by_the_capture(server_log: bool, tmp_path: Path) -> None:
    """The log's whole milliseconds and unknown start leave no trace: the instants are those of the datagrams."""
    metrics = scenes.quic_scene(server_log=server_log).metrics(tmp_path)
    assert metrics["setup_ms"].value == pytest.approx(21)
    assert metrics["ttfb_ms"].value == pytest.approx(43)
    assert metrics["ttlb_ms"].value == pytest.approx(68)


def test_the_clients_own_view_counts_from_its_start(tmp_path: Path) -> None:
    """Start of the request to the last byte, both by the client program."""
    assert scenes.quic_scene().metrics(tmp_path)["ttlb_client_ms"].value == pytest.approx(69.2)


def test_without_an_end_of_stream_the_time_is_null(tmp_path: Path) -> None:
    """A transfer that was cut has no last byte, and the note says why."""
    scene = scenes.quic_scene()
    assert scene.client_qlog
    scene.client_qlog.records = [each for each in scene.client_qlog.records if each["data"]["raw"]["length"] != 142]
    row = scene.metrics(tmp_path)["ttlb_ms"]
    assert (row.value, row.note) == (None, "nothing at the client's end shows the end of the response")


def test_without_logs_everything_is_null_with_a_note(tmp_path: Path) -> None:
    """An empty trial gives every metric, unknown, each with its reason."""
    scene = scenes.Scene("h3")
    assert all(row.value is None and row.note for row in scene.metrics(tmp_path).values())
