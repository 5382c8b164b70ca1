# SPDX-License-Identifier: Apache-2.0
"""Set-ups that were written by hand, each with one thing that makes it longer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from decoders import writers
from unit.why.account.stories import (
    USUAL,
    Flight,
    Quic,
    Tcp,
    crypto,
    evidence_of_scene,
    limit_row,
    metrics_row,
    step_row,
    sums,
    timer_row,
)

from quiclab.why.account import account_of_transfer

_ROWS = dict[str, list[dict[str, Any]]]
_CONTROL = writers.stream(0, 9, stream_id=2)


@pytest.mark.parametrize("step", ["hello_retry_request", "retry", "version_negotiation"])
def test_a_round_trip_has_the_name_of_what_answers_it(step: str, tmp_path: Path) -> None:
    """The server's first packet has no ServerHello; the client begins again 5 ms after it, not by a timer."""
    again = crypto(90 if step == "hello_retry_request" else 0)
    flights: tuple[Flight, ...] = (
        ("up", 0, "initial", crypto(0), 1200),
        ("down", 10, "initial", crypto(0), 200),
        ("up", 25, "initial", again, 1200),
        ("down", 35, "initial", crypto(90), 1200),
        ("up", 46, "1RTT", _CONTROL, 1050),
    )
    story = Quic(flights, asks=47)
    story.down(58, 0, fin=True)
    rows = [step_row(20, step), step_row(45, "server_hello")]
    found = sums(account_of_transfer(evidence_of_scene(story.end(68, 1150), tmp_path, handshake=rows)))
    why = "retry" if step == "version_negotiation" else step
    assert found == {why: 25, "quic_handshake": 21, "request": 12, "last_flight": 10}


def _long_chain(*, token: bool) -> Quic:
    """Four packets of the server, of which the last comes a round trip later; it has received 1,200 bytes until then,
    or 2,500 where the client's first flight is longer."""
    flights: list[Flight] = [("up", 0, "initial", crypto(0), 1200)]
    flights += [("down", 10, "handshake", crypto(1150 * number, 1150), 1200) for number in range(4 if token else 3)]
    flights += [
        ("up", 21, "initial", writers.ack((0, 0)), 1200),
        ("down", 31, "handshake", crypto(4600, 1150), 1200),
        ("up", 42, "handshake", crypto(0), 1200),
        ("up", 42, "1RTT", _CONTROL, 1050),
    ]
    story = Quic(tuple(flights), asks=43)
    story.down(54, 0, fin=True)
    return story


def test_a_chain_beyond_three_times_what_came_waits_for_the_client(tmp_path: Path) -> None:
    """3,600 bytes are sent for 1,200; the next packet leaves when the client has sent more. The round trip is the
    limit's; had the server sent as much as that before, a token would have told it the address."""
    evidence = evidence_of_scene(_long_chain(token=False).end(64, 1150), tmp_path)
    expected = {"quic_handshake": 21, "amplification_limit": 21, "request": 12, "last_flight": 10}
    assert sums(account_of_transfer(evidence)) == expected
    free = evidence_of_scene(_long_chain(token=True).end(64, 1150), tmp_path)
    assert sums(account_of_transfer(free)) == {"quic_handshake": 42, "request": 12, "last_flight": 10}


def _early(*, accepted: bool) -> tuple[Quic, _ROWS]:
    """A request in 0-RTT data. Accepted, the response's first three packets leave with the ServerHello and use up three
    times the 1,270 bytes that came; else the client asks again at 23 ms, 3 ms after the answer came."""
    request = writers.stream(0, 30, fin=True)
    flights: list[Flight] = [
        ("up", 0, "initial", crypto(0), 1200),
        ("up", 0, "0RTT", request, 70),
        ("down", 10, "handshake", crypto(0), 100),
    ]
    if accepted:
        flights += [("down", 10, "1RTT", writers.stream(1160 * number, 1160), 1200) for number in range(3)]
    flights.append(("up", 21, "handshake", crypto(0), 1200))
    story = Quic(tuple(flights), asks=None if accepted else 23)
    story.down(31 if accepted else 33, 3480 if accepted else 0, 1160, fin=True)
    story.scene.extra["proof"] = {"early_data": "accepted" if accepted else "rejected"}
    return story, {"handshake": [step_row(20, "server_hello")]}


def test_early_data_leaves_the_response_to_the_amplification_limit(tmp_path: Path) -> None:
    """The request leaves at once, and with it the set-up is over; what the address costs is a wait of the response."""
    story, rows = _early(accepted=True)
    edges = account_of_transfer(evidence_of_scene(story.end(41, 4540), tmp_path, **rows))
    assert sums(edges) == {"request": 10, "amplification_limit": 21, "last_flight": 10}
    assert sums(edges, "what") == {"propagation_up": 20, "propagation_down": 20, "client": 1}


def test_early_data_that_is_refused_costs_the_round_trip_of_the_set_up(tmp_path: Path) -> None:
    """The request that counts leaves a round trip later; that round trip is the set-up's, not the request's."""
    story, rows = _early(accepted=False)
    found = sums(account_of_transfer(evidence_of_scene(story.end(43, 1150), tmp_path, **rows)))
    assert found == {"quic_handshake": 23, "request": 10, "last_flight": 10}


@pytest.mark.parametrize("lost", ["ServerHello", "ClientHello"])
def test_a_hello_of_quic_that_is_lost_is_a_timer_of_its_sender(lost: str, tmp_path: Path) -> None:
    """Sent again 200 ms later; the round trip is as long as ever."""
    who = ("down", 10.0) if lost == "ServerHello" else ("up", 0.0)
    first = USUAL[1] if lost == "ServerHello" else USUAL[0]
    before = USUAL[:1] if lost == "ServerHello" else ()
    shifted = tuple((way, ms + 200, *rest) for way, ms, *rest in USUAL[len(before) :])
    flights = (*before, first, *shifted)
    story = Quic(flights, asks=222, lost=(len(before),))  # type: ignore[arg-type]
    assert flights[len(before)][:2] == who
    story.down(233, 0, fin=True)
    edges = account_of_transfer(evidence_of_scene(story.end(243, 1150), tmp_path))
    assert sums(edges) == {"set_up_loss": 200, "quic_handshake": 21, "request": 12, "last_flight": 10}
    assert sums(edges, "what")["timer"] == 200


def test_a_server_hello_over_tcp_that_is_lost_is_a_timer_of_the_server(tmp_path: Path) -> None:
    """TCP sends it again after 210 ms, without having heard from the client."""
    story = Tcp(hello_again_ms=210)
    story.down(52, 0)
    found = sums(account_of_transfer(evidence_of_scene(story.end(62, 1), tmp_path)))
    assert (found["set_up_loss"], found["tcp_handshake"], found["tls_round_trip"]) == (210, 20, 21)


def test_a_probe_timeout_of_the_response(tmp_path: Path) -> None:
    """Both last packets are lost; the server's log says that its probe timer ended at 90 ms."""
    story = Quic()
    story.down(33, 0)
    story.up(43, writers.ack((0, 0)))
    story.down(53, 1200, lost=True)
    story.down(53, 2400, fin=True, lost=True)
    story.down(90, 1200)
    story.down(90, 2400, fin=True)
    rows: _ROWS = {"timers": [timer_row(90, "pto")], "transport_metrics": [metrics_row(32, 50_000, 0)]}
    edges = account_of_transfer(evidence_of_scene(story.end(100, 3500), tmp_path, **rows))
    assert sums(edges)["probe_timer"] == 37
    assert sums(edges, "what")["timer"] == 37


def test_credit_of_the_connection_counts_all_streams(tmp_path: Path) -> None:
    """2,400 bytes of the response and 10 of the server's control stream; the stream's own credit is larger."""
    story = Quic()
    story.tell(33, writers.stream(0, 10, stream_id=3))
    story.down(33, 0)
    story.down(33, 1200)
    story.up(43, writers.ack((0, 2)))
    story.down(53, 2400, fin=True)
    limits = [limit_row(0, "connection", 2410), limit_row(53, "connection", 9000), limit_row(0, "stream", 9000, 0)]
    rows: _ROWS = {
        "flow_control": limits,
        "transport_metrics": [metrics_row(32, 50_000, 0), metrics_row(33, 50_000, 2490)],
    }
    found = sums(account_of_transfer(evidence_of_scene(story.end(63, 3500), tmp_path, **rows)))
    assert found["connection_credit"] == 20


def test_the_first_credit_of_a_stream_is_announced_in_the_set_up(tmp_path: Path) -> None:
    """No frame tells of it: the client's transport parameters do, until its first MAX_STREAM_DATA."""
    story = Quic()
    story.down(33, 0)
    story.down(33, 1200)
    story.up(43, writers.ack((0, 1)))
    story.down(53, 2400, fin=True)
    name = "parameters_set.client.initial_max_stream_data_bidi_local"
    announced = [{"source": "raw/server.sqlog", "vantage": "server", "name": name, "value": "2400"}]
    rows: _ROWS = {
        "flow_control": [limit_row(53, "stream", 9000, 0)],
        "transport_metrics": [metrics_row(32, 50_000, 0), metrics_row(33, 50_000, 2480)],
    }
    scene = story.end(63, 3500)
    found = sums(account_of_transfer(evidence_of_scene(scene, tmp_path, parameters=announced, **rows)))
    assert found["stream_credit"] == 20
