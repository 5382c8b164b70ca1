# SPDX-License-Identifier: Apache-2.0
"""Accounts over links in a row: which of them is the bottleneck is decided for each packet, by where it waited."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoders import writers
from unit.why.account.stories import sums
from unit.why.account.two_links import FAR, NEAR, OverTwoLinks

from quiclab.why.account import Edge, account_of_transfer
from quiclab.why.account.edges import gaps


def _told(edges: list[Edge], why: str) -> list[tuple[str, str | None, float]]:
    return [(str(e.what), e.link, e.length_ns / 1e6) for e in edges if e.reason.why == why and e.what != "headers"]


def test_links_that_take_no_time_to_serve_are_one_longer_way(tmp_path: Path) -> None:
    """Set-up, request and last flight cross both; each edge on its way names its link."""
    story = OverTwoLinks()
    arrived = story.served(33, 0, 0, 0, fin=True)
    edges = account_of_transfer(story.evidence(arrived, 1200, tmp_path))
    assert sums(edges) == {"quic_handshake": 21, "request": 12, "last_flight": 10}
    assert _told(edges, "last_flight") == [("propagation_down", FAR, 6), ("propagation_down", NEAR, 4)]
    assert not any(gaps(edges))


def test_the_slow_link_at_the_server_is_the_bottleneck(tmp_path: Path) -> None:
    """Three packets wait there, 5 ms each; at the client's link none waits for another."""
    story = OverTwoLinks()
    for number in range(3):
        arrived = story.served(33, 1200 * number, 5, 1, fin=number == 2)
    assert arrived == 33 + 15 + 6 + 1 + 4
    edges = account_of_transfer(story.evidence(arrived, 3600, tmp_path))
    assert sums(edges) == {"quic_handshake": 21, "request": 12, "link_busy": 15, "last_flight": 11}
    assert {e.link for e in edges if e.reason.why == "link_busy"} == {FAR}
    assert sum(e.packets or 0 for e in edges if e.reason.why == "link_busy" and e.what == "payload") == 3


def test_the_slow_link_at_the_client_is_the_bottleneck(tmp_path: Path) -> None:
    """The response begins with the first packet's service there, 7 ms after it was sent."""
    story = OverTwoLinks()
    for number in range(3):
        arrived = story.served(33, 1200 * number, 1, 5, fin=number == 2)
    assert arrived == 33 + 1 + 6 + 15 + 4
    edges = account_of_transfer(story.evidence(arrived, 3600, tmp_path))
    assert sums(edges) == {"quic_handshake": 21, "request": 19, "link_busy": 15, "last_flight": 4}
    assert {e.link for e in edges if e.reason.why == "link_busy"} == {NEAR}


def test_a_queue_that_moves_from_one_link_to_the_other_is_followed(tmp_path: Path) -> None:
    """The last packet waits at the client's link behind one that had waited at the server's: 15 ms, 6 on the way."""
    story = OverTwoLinks()
    for number, far_ms in enumerate((1, 8, 1, 1)):
        arrived = story.served(33, 1200 * number, far_ms, 2, fin=number == 3)
    assert arrived == 33 + 9 + 6 + 6 + 4
    edges = account_of_transfer(story.evidence(arrived, 4800, tmp_path))
    assert sums(edges) == {"quic_handshake": 21, "request": 12, "link_busy": 21, "last_flight": 4}
    busy = [(what, link) for what, link, _ in _told(edges, "link_busy")]
    assert busy == [("payload", FAR), ("propagation_down", FAR), ("payload", NEAR)]


def test_a_link_as_fast_as_the_one_before_is_no_bottleneck(tmp_path: Path) -> None:
    """Packets wait for 0.1 ms there, and for milliseconds before: the way through both is no time of a busy link."""
    story = OverTwoLinks()
    for number in range(4):
        arrived = story.served(33, 1200 * number, 2, 2.1 if number == 2 else 2, fin=number == 3)
    assert arrived == pytest.approx(33 + 8 + 6 + 2.1 + 4)
    edges = account_of_transfer(story.evidence(arrived, 4800, tmp_path))
    assert sums(edges) == pytest.approx({"quic_handshake": 21, "request": 12, "link_busy": 8, "last_flight": 12.1})


def test_an_idle_time_ends_where_the_bottleneck_had_last_served(tmp_path: Path) -> None:
    """Two packets, 5 ms each at the client's link until 50; the next comes there at 61: 11 ms idle, 7 on the way."""
    story = OverTwoLinks()
    story.served(33, 0, 1, 5)
    story.served(33, 1200, 1, 5)
    story.up(44, writers.ack((0, 0)))
    arrived = story.served(54, 2400, 1, 5, fin=True)
    assert arrived == 54 + 1 + 6 + 5 + 4
    edges = account_of_transfer(story.evidence(arrived, 3600, tmp_path))
    assert sums(edges) == {
        "quic_handshake": 21,
        "request": 19,
        "link_busy": 15,
        "awaiting_acks": 11,
        "last_flight": 4,
    }
    idle = [(str(e.what), e.link, e.length_ns) for e in edges if e.reason.why == "awaiting_acks"]
    payload = 10**6 * 1200 // 1268
    assert idle == [
        ("propagation_up", FAR, 4_000_000),
        ("payload", FAR, payload),
        ("headers", FAR, 10**6 - payload),
        ("propagation_down", FAR, 6_000_000),
    ]


def test_a_packet_lost_between_the_links_is_followed_as_far_as_it_came(tmp_path: Path) -> None:
    """The second of three is lost at the client's link and sent again; numbers there no longer are the server's."""
    story = OverTwoLinks()
    story.served(33, 0, 1, 1)
    story.served(33, 1200, 1, 1, lost_at=NEAR)
    story.served(33, 2400, 1, 1, fin=True)
    story.up(48, writers.ack((2, 2), (0, 0)))
    arrived = story.served(58, 1200, 1, 1)
    edges = account_of_transfer(story.evidence(arrived, 3600, tmp_path))
    assert sums(edges)["loss_detection"] == 58 - 36  # after the last of three had left the server's link
    assert not any(gaps(edges))
