# SPDX-License-Identifier: Apache-2.0
"""Limits of a sender by the bytes that its capture has in flight: 40 ms and segments of 1,448 bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from quiclab.model.cause import Why
from quiclab.why.account.captured_window import CapturedWindow
from quiclab.why.account.edges import Reason
from quiclab.why.account.series import Steps

_MS = 1_000_000
_TRIP_NS = 40 * _MS
_SEGMENT = 1_448
_NEVER: Steps[bool] = Steps([], [])


def _flights(*segments: int) -> Iterator[tuple[int, int]]:
    """Bytes in flight of one flight a round trip: none is left when its acknowledgment comes, and then the next one
    leaves."""
    for trip, number in enumerate(segments):
        yield trip * _TRIP_NS, number * _SEGMENT


def _window(*segments: int, lost_ms: float | None = None) -> CapturedWindow:
    at = [*_flights(*segments)]
    lost_ns = None if lost_ms is None else round(lost_ms * _MS)
    events = [] if lost_ns is None else [(lost_ns, Reason(Why.WINDOW_AFTER_LOSS, "transport_metrics", lost_ns, 7))]
    return CapturedWindow(
        Steps([time for time, _ in at], [flight for _, flight in at]),
        Steps([time for time, _ in events], [reason for _, reason in events]),
        _TRIP_NS,
        _NEVER,
    )


def _why(window: CapturedWindow, trip: int) -> Why | None:
    found = window.reason(trip * _TRIP_NS)
    return None if found is None else found.why


def test_a_window_that_doubles_is_in_slow_start() -> None:
    """Slow start is told in every round trip until the flight that no larger one follows."""
    window = _window(10, 20, 40, 80, 80)
    assert [_why(window, trip) for trip in (1, 2, 3, 4)] == [Why.SLOW_START, Why.SLOW_START, Why.SLOW_START, None]


@pytest.mark.parametrize("segments", [(20, 20, 20, 20), (20, 22, 24, 26), (20, 12, 7, 20)])
def test_what_does_not_double_has_no_name(segments: tuple[int, ...]) -> None:
    """A constant limit may be a buffer or a largest window; and what grows slowly may be anything."""
    assert _why(_window(*segments), 1) is None


def test_so_few_bytes_fill_no_window() -> None:
    """A handshake's last packets are no full window, and what follows them is no growth of one."""
    assert _why(_window(1, 10, 20), 1) is None
    assert _why(_window(1, 10, 20), 2) is Why.SLOW_START


def test_a_window_below_that_of_a_loss_was_reduced_by_it() -> None:
    """The reduced window is told, with its loss, until as much is in flight as before."""
    window = _window(20, 40, 40, 28, 30, 39, 41, 42, lost_ms=81)
    assert [_why(window, trip) for trip in (4, 5)] == [Why.WINDOW_AFTER_LOSS, Why.WINDOW_AFTER_LOSS]
    assert [_why(window, trip) for trip in (6, 7)] == [None, None]
    found = window.reason(4 * _TRIP_NS)
    assert found is not None
    assert (found.event_ns, found.event_packet) == (81 * _MS, 7)


def test_a_limit_that_a_loss_did_not_move_is_no_window() -> None:
    """A limit that holds as much in flight after a loss as before is a buffer or the program."""
    assert _why(_window(20, 20, 20, 20, 20, lost_ms=41), 4) is None


def test_without_a_round_trip_nothing_shows() -> None:
    """Growth is told by round trips."""
    window = _window(10, 20, 40)
    assert CapturedWindow(window.in_flight, window.losses, None, _NEVER).reason(_TRIP_NS) is None
    assert window.reason(-1) is None


def test_a_receive_window_without_room_comes_first() -> None:
    """A full receive window is told although the bytes in flight double when it opens."""
    window = replace(_window(10, 20, 40), blocked=Steps([10 * _MS, 40 * _MS], [True, False]))
    assert [_why(window, trip) for trip in (1, 2)] == [Why.RECEIVE_WINDOW, Why.SLOW_START]
