# SPDX-License-Identifier: Apache-2.0
"""Aligning a qlog's packets with the datagrams of a capture."""

from __future__ import annotations

import random

from quiclab.metrics.join import LoggedPacket, align


def short(*lengths: int) -> list[LoggedPacket]:
    """1-RTT packets."""
    return [LoggedPacket(length, "1RTT") for length in lengths]


def test_coalesced_packets_share_a_datagram() -> None:
    """Long headers may be followed by more; a short header ends the datagram."""
    packets = [
        LoggedPacket(151, "initial"),
        LoggedPacket(1049, "handshake"),
        LoggedPacket(165, "handshake"),
        *short(51, 40),
    ]
    assert align(packets, [1200, 216, 40]) == [0, 0, 1, 1, 2]


def test_padding_behind_an_initial_belongs_to_no_packet() -> None:
    """A client that pads the datagram, not the packet, as RFC 9000 section 14.1 allows."""
    assert align([LoggedPacket(516, "initial"), *short(700)], [1200, 700]) == [0, 1]


def test_datagrams_that_the_socket_dropped_are_skipped() -> None:
    """The log never saw them."""
    sizes = [1200, 1201, 60, 1203, 1204, 61, 1206, 1207]
    assert align(short(*sizes[:2], *sizes[4:]), sizes) == [0, 1, 4, 5, 6, 7]


def test_packets_without_a_datagram_are_null() -> None:
    """They stay unplaced; those around them do not."""
    assert align(short(10, 11, 999, 12, 13), [10, 11, 12, 13]) == [0, 1, None, 2, 3]


def test_packets_that_waited_for_keys_are_placed_before() -> None:
    """A 1-RTT packet that came before the handshake ended is logged behind it."""
    packets = [LoggedPacket(300, "handshake"), *short(700, 500, 501, 502, 503, 504, 505)]
    assert align(packets, [700, 300, 500, 501, 502, 503, 504, 505]) == [1, 0, 2, 3, 4, 5, 6, 7]


def test_logs_that_do_not_belong_together_are_not_joined() -> None:
    """Nothing fits: nothing is placed."""
    assert align(short(*range(1000, 1200)), list(range(10, 200))) == [None] * 200


def test_scattered_drops_are_found_again() -> None:
    """Two hundred packets of many sizes, one in twenty dropped by the socket: every packet finds its own datagram."""
    rng = random.Random(3)
    datagrams = [rng.randrange(40, 1400) for _ in range(200)]
    kept = [index for index in range(200) if rng.random() > 0.05]
    assert align(short(*(datagrams[index] for index in kept)), datagrams) == kept
