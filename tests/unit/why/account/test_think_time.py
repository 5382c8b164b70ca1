# SPDX-License-Identifier: Apache-2.0
"""Servers that think before they answer, while packets come to them that have nothing to do with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from decoders import writers
from unit.evidence.metrics.scenes import ns
from unit.why.account.stories import (
    Quic,
    Tcp,
    evidence_of_scene,
    metrics_row,
    object_rows,
    sample_row,
    sums,
    upload_rows,
)

from quiclab.why.account import Edge, account_of_transfer

_ROWS = dict[str, list[dict[str, Any]]]


def _at_server(edges: list[Edge], why: str = "request") -> float:
    return sum(each.length_ns for each in edges if each.what == "server" and each.reason.why == why) / 1e6


def _thinks(ms: float, *acknowledged: float) -> Quic:
    """The request is there at 32 ms, and so is something that the client is to acknowledge, which it does later."""
    story = Quic()
    story.tell(32, {"frame_type": "handshake_done"})
    for at in acknowledged:
        story.up(at - 10, writers.ack((0, 0)))
    story.down(32 + ms, 0, fin=True)
    return story


@pytest.mark.parametrize("ms", [10, 20, 20.5, 30, 60])
def test_an_acknowledgment_that_comes_meanwhile_is_not_what_the_server_waited_for(ms: float, tmp_path: Path) -> None:
    """Its acknowledgment is there a round trip after the request: before the answer, just before it, or after it."""
    scene = _thinks(ms, 52).end(42 + ms, 1150)
    found = account_of_transfer(evidence_of_scene(scene, tmp_path))
    assert _at_server(found) == ms
    assert sums(found) == {"quic_handshake": 21, "request": 11 + ms, "last_flight": 10}


def test_a_message_of_the_handshake_just_before_the_answer_is_what_it_waited_for(tmp_path: Path) -> None:
    """A server that answers only once it knows that its client is there: nothing of that time is its own."""
    story = Quic()
    story.tell(32, {"frame_type": "handshake_done"})
    story._send("up", 42, [{"frame_type": "crypto", "offset": 90, "length": 60}], 120, "handshake")
    story.down(52.5, 0, fin=True)
    found = account_of_transfer(evidence_of_scene(story.end(62.5, 1150), tmp_path))
    assert _at_server(found) == 0.5


@pytest.mark.parametrize("kept", [True, False])
def test_a_request_that_came_before_the_clients_finished_waits_for_that(kept: bool, tmp_path: Path) -> None:
    """The request is there at 32 ms, the lost Finished at 82; a server may keep the request, or need it again."""
    story = Quic()
    story._send("up", 23, [{"frame_type": "crypto", "offset": 90, "length": 60}], 120, "handshake", lost=True)
    story._send("up", 72, [{"frame_type": "crypto", "offset": 90, "length": 60}], 120, "handshake")
    answers = 82.5
    if not kept:
        story.tell(82.3, {"frame_type": "handshake_done"})
        story.up(92.5, writers.stream(0, 30, fin=True), length=70)
        answers = 103
    story.tell(answers, writers.ack((1 if kept else 2, 2)))
    story.down(answers + 0.1, 0, fin=True)
    finished = {"vantage": "server", "direction": "up", "step": "finished", "time_ns": ns(82)}
    scene = story.end(answers + 10.1, 1150)
    found = account_of_transfer(evidence_of_scene(scene, tmp_path, handshake=[finished]))
    assert _at_server(found) <= 1
    assert sums(found)["probe_timer"] >= 30


def test_a_window_that_is_full_until_an_acknowledgment_comes_keeps_the_answer(tmp_path: Path) -> None:
    """The log shows no room when the acknowledgment comes, and the answer leaves right after it."""
    rows: _ROWS = {"transport_metrics": [metrics_row(31, 12_000, 11_900), metrics_row(52.1, 12_000, 0)]}
    found = account_of_transfer(evidence_of_scene(_thinks(20.5, 52).end(62.5, 1150), tmp_path, **rows))
    assert _at_server(found) == 0
    assert sums(found) == {"quic_handshake": 21, "request": 11, "awaiting_acks": 20.5, "last_flight": 10}


def _asked(came_ms: float, answers_ms: float) -> list[dict[str, Any]]:
    """The row of the server's opened capture."""
    return object_rows(1, came_ms - 10, answers_ms, answers_ms)[1:]


def _settings_acknowledged(answers_ms: float) -> Tcp:
    """Over HTTP/2: the request is there at 51 ms, with it the server's settings leave, whose acknowledgment is data."""
    story = Tcp()
    packet = writers.tcp("down", 101, writers.tls(23, 40), ack=272)
    story.scene.send("down", 51.1, packet)
    story.scene.send("up", 61.2, writers.tcp("up", 272, writers.tls(23, 26), ack=101 + 40))
    body = writers.tcp("down", 101 + 40, writers.tls(23, 1000), ack=272 + 26)
    story.scene.send("down", answers_ms, body)
    return story


@pytest.mark.parametrize("ms", [10, 20.5, 45])
def test_settings_of_http2_that_are_acknowledged_meanwhile_are_not_the_request(ms: float, tmp_path: Path) -> None:
    """Their acknowledgment comes at 71.2 ms, and carries data of TCP's."""
    scene = _settings_acknowledged(51 + ms).end(61 + ms, 1)
    scene.request["body_bytes"] = 900
    found = account_of_transfer(evidence_of_scene(scene, tmp_path, http_requests=_asked(51, 51 + ms)))
    assert _at_server(found) == ms
    assert sums(found)["request"] == 10 + ms


def test_an_answer_that_the_kernel_kept_until_an_acknowledgment_came_is_not_the_programs_time(tmp_path: Path) -> None:
    """Samples show its bytes unsent since 55 ms; what lets them go, at 71.2 ms, acknowledges the settings."""
    scene = _settings_acknowledged(71.5).end(81.5, 1)
    scene.request["body_bytes"] = 900
    samples = [sample_row(at, notsent_bytes=unsent) for at, unsent in ((52, 0), (55, 1022), (70, 1022), (73, 0))]
    found = account_of_transfer(evidence_of_scene(scene, tmp_path, http_requests=_asked(51, 71.5), tcp_info=samples))
    assert _at_server(found) == 0
    assert sums(found)["awaiting_acks"] == 20.5


@pytest.mark.parametrize("ms", [5, 20, 60])
def test_a_server_that_thinks_about_an_upload_has_its_answers_time(ms: float, tmp_path: Path) -> None:
    """All of it is there at 43 ms; acknowledgments of the server's credit come later."""
    story = Quic(asks=None)
    story.up(33, writers.stream(0, 1150, fin=True), length=1200)
    story.tell(43, {"frame_type": "max_data", "maximum": 1 << 20})
    story.up(53, writers.ack((0, 0)))
    story.down(43 + ms, 0, 30, fin=True)
    scene = story.end(53 + ms, 1150)
    scene.extra["expected"] = {"direction": "upload", "name": "body", "body_bytes": 1150}
    found = account_of_transfer(evidence_of_scene(scene, tmp_path, http_requests=upload_rows(43)))
    assert _at_server(found, "answer") == ms


def test_without_keys_nothing_says_what_the_request_is(tmp_path: Path) -> None:
    """Over TCP a capture that is closed shows a server with nothing to send, not that it thinks about a request."""
    scene = _settings_acknowledged(111).end(121, 1)
    scene.request["body_bytes"] = 900
    samples = [sample_row(at, notsent_bytes=0) for at in range(52, 112, 5)]
    found = account_of_transfer(evidence_of_scene(scene, tmp_path, tcp_info=samples))
    assert _at_server(found, "application") == pytest.approx(60, abs=0.2)
    assert ns(0) == found[0].from_ns
