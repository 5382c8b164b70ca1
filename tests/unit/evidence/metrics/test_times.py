# SPDX-License-Identifier: Apache-2.0
"""Times of trials that were written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from decoders import writers
from trial_records import changed, record
from unit.evidence.metrics import scenes

from quiclab.evidence.metrics import Noted
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.responses import BY_ACCOUNT
from quiclab.evidence.metrics.times import goodput_bit_per_s, ttfb_ms, ttlb_ms
from quiclab.logs.decoders.trial import decode_trial
from quiclab.model.tables import TABLES


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


def decrypted(folder: Path, scene: scenes.Scene, *responses: dict[str, Any]) -> Evidence:
    """The scene as if its capture had been opened and these responses had been seen in it."""
    trial = scene.lay_out(folder)
    tables = decode_trial(folder).tables
    source = tables["sources"].filter(pl.col("format") == "pcapng", pl.col("vantage") == "client")["source"][0]
    own = {"source": source, "vantage": "client", "time_ns": scenes.ns(1041), "status": 200}
    seen = pl.DataFrame([own | each for each in responses], schema=TABLES["http_requests"].schema())
    return Evidence({**tables, "http_requests": seen}, record(trial))


RESPONSE = {"first_byte_ns": scenes.ns(1058), "last_byte_ns": scenes.ns(1084), "response_body_bytes": 400}
VISIT = {"first_byte_ns": scenes.ns(1010), "last_byte_ns": scenes.ns(1020), "response_body_bytes": 400}


def test_a_decrypted_response_is_timed_where_it_could_be_read(tmp_path: Path) -> None:
    """Whatever came behind it before the client program told; nor is a visit before the measured one meant."""
    scene = scenes.tcp_scene()
    scene.request |= {"start_ns": scenes.ns(1030), "last_byte_ns": scenes.ns(1096.5)}
    evidence = decrypted(tmp_path, scene, VISIT, RESPONSE)
    assert (ttfb_ms(evidence), ttlb_ms(evidence)) == (pytest.approx(1058), pytest.approx(1084))


@pytest.mark.parametrize(
    "lacking", [(), (RESPONSE | {"last_byte_ns": None},), (RESPONSE | {"status": 404},)], ids=["none", "cut", "404"]
)
def test_what_the_capture_does_not_show_whole_the_account_tells(lacking: tuple[Any, ...], tmp_path: Path) -> None:
    """With a note: the packets before the program's own instants may be later than those that were needed."""
    scene = scenes.tcp_scene()
    scene.request["last_byte_ns"] = scenes.ns(1096.5)
    evidence = decrypted(tmp_path, scene, *lacking)
    assert ttfb_ms(evidence) == Noted(pytest.approx(1061), BY_ACCOUNT)
    assert ttlb_ms(evidence) == Noted(pytest.approx(1096), BY_ACCOUNT)
    assert goodput_bit_per_s(evidence) == Noted(pytest.approx(3200 / 1.096), BY_ACCOUNT)


OBJECT = {"name": "object", "body_bytes": 400, "sha256": "abc", "direction": "download"}
OTHER = RESPONSE | {"url": "https://server.test/warm-up", "last_byte_ns": scenes.ns(1061)}


@pytest.mark.parametrize("beside", [OTHER, OTHER | {"url": "https://server.test/object", "method": "HEAD"}])
def test_a_response_to_something_else_times_nothing(beside: dict[str, Any], tmp_path: Path) -> None:
    """The connection with what was asked for stayed closed: the account tells, with its note."""
    scene = scenes.tcp_scene()
    scene.extra |= {"expected": OBJECT, "content": "random"}
    scene.request["last_byte_ns"] = scenes.ns(1096.5)
    evidence = decrypted(tmp_path, scene, beside)
    assert ttlb_ms(evidence) == Noted(pytest.approx(1096), BY_ACCOUNT)
    assert ttfb_ms(evidence) == Noted(pytest.approx(1061), BY_ACCOUNT)
    (tmp_path / "both").mkdir()
    both = decrypted(tmp_path / "both", scene, beside, RESPONSE | {"url": "https://server.test/object?again"})
    assert (ttfb_ms(both), ttlb_ms(both)) == (pytest.approx(1058), pytest.approx(1084))


@pytest.mark.parametrize("by_account", [True, False])
def test_no_time_is_shorter_than_the_bytes_took(by_account: bool, tmp_path: Path) -> None:
    """At 1062 ms the handshake's 100 bytes had come and 200 more, whatever the source of that instant."""
    scene = scenes.tcp_scene()
    scene.extra |= {"expected": OBJECT, "content": "random"}
    scene.request["last_byte_ns"] = scenes.ns(1062)
    shown = () if by_account else (RESPONSE | {"last_byte_ns": scenes.ns(1062)},)
    evidence = decrypted(tmp_path, scene, *shown)
    for metric in (ttlb_ms, goodput_bit_per_s):
        with pytest.raises(Unknown, match=r"had not ended at 1062\.0 ms.*only 300 of 400 bytes were there"):
            metric(evidence)


def test_a_log_of_a_response_that_cannot_have_come_gives_no_time(tmp_path: Path) -> None:
    """A client's qlog is a claim, too: its streams end at 68 ms, when far less than the body had come."""
    scene = scenes.quic_scene()
    scene.extra |= {"expected": OBJECT | {"body_bytes": 5000}, "content": "random"}
    row = scene.metrics(tmp_path)["ttlb_ms"]
    assert row.value is None
    assert "had not ended at 68.0 ms" in row.note


def test_one_of_several_responses_is_not_enough(tmp_path: Path) -> None:
    """The client told of two requests, and its capture shows one."""
    scene = scenes.tcp_scene()
    evidence = decrypted(tmp_path, scene, RESPONSE)
    trial = changed(evidence.trial, client={"requests": [scene.request, scene.request]})
    assert isinstance(ttlb_ms(Evidence(evidence.tables, trial)), Noted)


def test_a_client_that_tells_nothing_is_timed_by_its_decrypted_capture(tmp_path: Path) -> None:
    """Over TCP: the first and the last byte of the body as they could be read; not where a response was not whole."""
    scene = scenes.tcp_scene()
    scene.request = {}
    evidence = decrypted(tmp_path, scene, RESPONSE)
    assert (ttfb_ms(evidence), ttlb_ms(evidence)) == (pytest.approx(1058), pytest.approx(1084))
    assert goodput_bit_per_s(evidence) == pytest.approx(3200 / 1.084)
    for number, lacking in enumerate(({"last_byte_ns": None}, {"status": 404})):
        (tmp_path / str(number)).mkdir()
        cut = decrypted(tmp_path / str(number), scene, RESPONSE | lacking)
        with pytest.raises(Unknown, match="no account of its requests, and its capture does not show each response"):
            ttlb_ms(cut)


def test_a_client_that_does_not_say_when_it_closed_is_timed_by_its_fin(tmp_path: Path) -> None:
    """Its FIN is at 1097 ms, the last segment before it at 1096."""
    scene = scenes.tcp_scene()
    scene.extra["client"] = None
    row = scene.metrics(tmp_path)["to_last_packet_ms"]
    assert (row.value, row.note) == (
        pytest.approx(1096),
        "until the packet with which the client closed, as it did not say when it did",
    )


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
    """Start of the request to the first and to the last byte, all by the client program."""
    metrics = scenes.quic_scene().metrics(tmp_path)
    assert metrics["ttfb_client_ms"].value == pytest.approx(44.5)
    assert metrics["ttlb_client_ms"].value == pytest.approx(69.2)


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
