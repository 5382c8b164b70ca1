# SPDX-License-Identifier: Apache-2.0
"""Several objects on one connection, written by hand: which the transfer waits for, and when each is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from decoders import writers
from unit.evidence.metrics.scenes import ns
from unit.why.account.stories import SEGMENT, Quic, Tcp, evidence_of_scene, limit_row, object_rows, sums

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.why.account import account_of_transfer
from quiclab.why.account.contents import contents, layout

_ROWS = dict[str, list[dict[str, Any]]]
_TWO = {"direction": "download", "objects": [{"name": "a"}, {"name": "b"}]}


def _one_after_the_other(folder: Path, *, at_once: int, **rows: list[dict[str, Any]]) -> Evidence:
    """The first object is sent at 33 ms and acknowledged at 54, which gives a stream; the second is asked for at 64."""
    story = Quic()
    story.down(33, 0, fin=True)
    story.up(44, writers.ack((0, 1)))
    story.tell(54, {"frame_type": "max_streams"})
    story.up(64, writers.stream(0, 30, fin=True, stream_id=4))
    story.down(75, 0, fin=True, stream=4)
    scene = story.end(85, 1150)
    scene.request["last_byte_ns"] = ns(85)
    scene.extra["expected"] = {**_TWO, "concurrency": at_once}
    requests = object_rows(0, 22, 33, 33) + object_rows(4, 64, 75, 75)
    return evidence_of_scene(scene, folder, http_requests=requests, **rows)


def _streams(*limits: tuple[float, int]) -> _ROWS:
    return {"flow_control": [limit_row(ms, "streams_bidi", limit, of="client", way="up") for ms, limit in limits]}


def test_a_limit_on_streams_is_what_the_next_request_waits_for(tmp_path: Path) -> None:
    """42 ms from the first object's service to the second's: the server raises the limit only when it knows that the
    first has come. The client has all that it asks for at once, or would have had a place for it earlier."""
    for at_once in (2, 1):
        evidence = _one_after_the_other(tmp_path, at_once=at_once, **_streams((20, 1), (64, 2)))
        edges = account_of_transfer(evidence)
        assert sums(edges) == {"quic_handshake": 21, "request": 12, "stream_limit": 42, "last_flight": 10}
        limited = {edge.reason for edge in edges if edge.reason.why == "stream_limit"}
        assert {(reason.evidence, reason.event_ns) for reason in limited} == {("flow_control", ns(64))}
    whats = [(str(e.what), e.length_ns / 1e6) for e in edges if e.reason.why == "stream_limit"]
    assert whats == [
        ("propagation_down", 10), ("ack_held", 1), ("propagation_up", 10),
        ("propagation_down", 10), ("propagation_up", 10), ("server", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("limits", [((20, 100),), ((20, 1), (40, 2)), ()], ids=["high", "raised in time", "not told"])
def test_a_client_that_asks_for_one_after_the_other_waits_for_itself(
    limits: tuple[tuple[float, int], ...], tmp_path: Path
) -> None:
    """The same 42 ms: no limit of the server was in the way when the first object was there, at 43 ms."""
    evidence = _one_after_the_other(tmp_path, at_once=1, **_streams(*limits))
    assert sums(account_of_transfer(evidence))["later_request"] == 42


def test_bytes_of_another_object_are_told_apart(tmp_path: Path) -> None:
    """Of each packet that carries an object's bytes for the first time; what is sent again is a retransmission."""
    story = Quic()
    story.up(22.5, writers.stream(0, 30, fin=True, stream_id=4))
    story.down(33, 0)
    story.down(33, 0, stream=4, lost=True)
    story.down(33, 1200, fin=True)
    story.down(53, 0, stream=4)
    story.down(53, 1200, 100, stream=4, fin=True)
    evidence = evidence_of_scene(story.end(63, 3700), tmp_path)
    arrived = {0, 1, 3, 4, 5}
    whats = [str(each.what) for _, each in sorted(contents(evidence, "down", arrived, own=4).items())]
    assert whats == ["handshake", "other_object", "payload", "other_object", "retransmission", "payload"]
    assert "other_object" not in {str(each.what) for each in contents(evidence, "down", arrived).values()}


def test_over_tcp_frames_say_whose_bytes_a_segment_has(tmp_path: Path) -> None:
    """Two records of four segments each: the first holds a frame of stream 1, the second one of each stream."""
    story = Tcp()
    for number in range(8):
        story.down(51 + (0 if number < 4 else 10), number)
    rows = []
    for ms, stream, length in ((51, 1, 4 * SEGMENT - 9), (61, 3, 3 * SEGMENT - 9), (61, 1, SEGMENT - 9)):
        row = {"source": "raw/server.pcapng", "vantage": "server", "event": "sent", "direction": "down"}
        row |= {"frame_type": "data", "stream_id": stream, "length_bytes": length, "http_version": "HTTP/2"}
        rows.append(row | {"time_ns": ns(ms), "last_byte_ns": ns(ms)})
    evidence = evidence_of_scene(story.end(71, 8), tmp_path, http_frames=rows)
    found = contents(evidence, "down", range(99), own=1)
    segments = [each for _, each in sorted(found.items()) if each.payload_bytes == SEGMENT]
    assert [each.stream for each in segments] == [1, 1, 1, 1, 3, 3, 3, 1]
    assert [str(each.what) for each in segments][4:] == ["other_object"] * 3 + ["payload"]
    assert layout(evidence, "server", "down").stream(1 << 40) is None


def test_objects_that_cannot_be_told_apart_have_no_account(tmp_path: Path) -> None:
    """Without both ends' requests; over more than one connection where nothing tells which had each."""
    evidence = _one_after_the_other(tmp_path, at_once=2)
    without = {name: table for name, table in evidence.tables.items() if name != "http_requests"}
    with pytest.raises(Unknown, match="captures or logs of both ends show all requests"):
        account_of_transfer(Evidence(without, evidence.trial))
    packets = evidence.tables["ip_packets"]
    other = packets.filter(packets["direction"] == "up").head(1).with_columns(src_port=packets["src_port"].head(1) + 1)
    two = {**evidence.tables, "ip_packets": packets.vstack(other)}
    with pytest.raises(Unknown, match="over several connections are told apart only where"):
        account_of_transfer(Evidence(two, evidence.trial))


def test_a_request_that_no_capture_shows_is_read_in_the_only_log(tmp_path: Path) -> None:
    """Early data without its secret: the capture has the response alone, the log has both, and dates them late."""
    evidence = _one_after_the_other(tmp_path, at_once=2, **_streams((20, 1), (64, 2)))
    requests = evidence.tables["http_requests"]
    hidden = requests.with_columns(pl.lit(None, pl.Int64).alias(name) for name in ("send_start_ns", "send_end_ns"))
    later = requests.with_columns(
        pl.lit("raw/log.sqlog").alias("source"), (pl.col("headers_ns", "last_byte_ns") + 700_000).name.keep()
    )
    tables = {**evidence.tables, "http_requests": pl.concat([hidden, later])}
    assert sums(account_of_transfer(Evidence(tables, evidence.trial))) == sums(account_of_transfer(evidence))
    two = {**tables, "http_requests": pl.concat([hidden, later, later.with_columns(source=pl.lit("raw/visit.sqlog"))])}
    with pytest.raises(Unknown, match="show all requests"):
        account_of_transfer(Evidence(two, evidence.trial))


def test_a_request_that_no_server_shows_came_with_the_clients_packet(tmp_path: Path) -> None:
    """Early data without its secret, to a server that logs no requests: its capture has the responses alone."""
    evidence = _one_after_the_other(tmp_path, at_once=2, **_streams((20, 1), (64, 2)))
    requests = evidence.tables["http_requests"]
    at_client = pl.col("vantage") == "client"
    hidden = requests.with_columns(
        pl.when(at_client).then(pl.col(name)).alias(name) for name in ("send_start_ns", "send_end_ns")
    )
    tables = {**evidence.tables, "http_requests": hidden}
    assert sums(account_of_transfer(Evidence(tables, evidence.trial))) == sums(account_of_transfer(evidence))
    packets = evidence.tables["ip_packets"]
    with_request = (pl.col("direction") == "up") & (pl.col("packet_index") == 2)
    lost = packets.filter(~(with_request & (pl.col("vantage") == "server")))
    with pytest.raises(Unknown, match="show all requests"):
        account_of_transfer(Evidence({**tables, "ip_packets": lost}, evidence.trial))
