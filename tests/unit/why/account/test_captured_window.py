# SPDX-License-Identifier: Apache-2.0
"""Limits of a sender by the bytes that its capture has in flight: 40 ms and segments of 1,448 bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

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


def _acked(*steps: tuple[float, int]) -> CapturedWindow:
    """A window of (ms, segments in flight), without losses."""
    at, values = [round(ms * _MS) for ms, _ in steps], [number * _SEGMENT for _, number in steps]
    return CapturedWindow(Steps(at, values), Steps([], []), _TRIP_NS, _NEVER, _SEGMENT)


def _reason(window: CapturedWindow, ms: float) -> Why | None:
    found = window.reason(round(ms * _MS))
    return None if found is None else found.why


_CUT_SHORT = ((0, 20), (40, 18), (40, 22), (41, 20), (41, 24), (42, 22), (42, 25))
"""Twenty segments; then each acknowledgment of two lets four out, until something stops the sender at 25."""


def test_growth_that_another_limit_ends_is_slow_start_if_acknowledgments_let_it_grow() -> None:
    """The flight grows by a quarter only, but by what is acknowledged."""
    assert _reason(_acked(*_CUT_SHORT), 40) is Why.SLOW_START


@pytest.mark.parametrize(
    "steps",
    [
        ((0, 20), (40, 18), (40, 25)),  # a program that had held it back
        ((0, 20), (40, 15), (40, 20), (45, 15), (45, 21), (50, 15), (50, 23)),  # congestion avoidance, and less
        ((0, 20), (40, 18), (40, 22)),  # too little to tell
    ],
)
def test_other_growth_has_no_name(steps: tuple[tuple[float, int], ...]) -> None:
    """More or less than what was acknowledged, or next to nothing, shows no slow start."""
    assert _reason(_acked(*steps), 40) is None


def test_a_flight_of_the_size_that_the_window_has_grown_to_fills_it() -> None:
    """After ten segments were acknowledged, and let 20 out, the window has 20: it is full with as many, although no
    larger flight follows. With 12 it is not."""
    grown = ((0, 10), (40, 5), (40, 15), (41, 10), (41, 20))
    assert _reason(_acked(*grown, (81, 18), (81, 19)), 81) is Why.SLOW_START
    assert _reason(_acked(*grown, (60, 12), (81, 10), (81, 12)), 81) is None


def _sliding(*segments: int, others: bool = False) -> CapturedWindow:
    """Windows, a round trip each: of each two segments are acknowledged first, and then the rest."""
    steps = [(0.0, segments[0])]
    for trip, (last, now) in enumerate(pairwise(segments), start=1):
        grown = max(0, now - last)
        first = min(2, grown) if grown else 0
        steps += [(40 * trip, last - 2), (40 * trip, last + first)]
        if grown > first:
            steps += [(40 * trip + 1, last + first - (grown - first)), (40 * trip + 1, now)]
    return replace(_acked(*steps), shows_others=others)


def test_flights_that_grow_little_by_little_show_that_slow_start_was_left() -> None:
    """The window doubles once, and then grows by a segment a round trip; the row names when slow start last showed."""
    window = _sliding(10, 20, *range(20, 32))
    assert [_why(window, trip) for trip in (1, 3, 6)] == [Why.SLOW_START, Why.WINDOW_AFTER_EXIT, Why.WINDOW_AFTER_EXIT]
    found = window.reason(6 * _TRIP_NS)
    assert found is not None
    assert found.event_ns == 41 * _MS


@pytest.mark.parametrize(
    "window",
    [
        _sliding(10, 20, *range(20, 24)),  # too few round trips
        replace(_sliding(10, 20, *range(20, 32)), full_bytes=None),
        _sliding(10, 20, *[20] * 6, *[24] * 6),  # all at once, as a buffer grows
    ],
)
def test_other_flights_do_not_show_that_slow_start_was_left(window: CapturedWindow) -> None:
    """Few round trips, packets of unknown size and one step do not tell."""
    assert _why(window, 4) is None


@pytest.mark.parametrize(
    ("trips", "others", "why"),
    [
        (14, True, Why.SLOW_START),
        (14, False, None),  # over TCP a buffer may be as constant
        (6, True, None),  # congestion avoidance may not yet have added a packet
    ],
)
def test_flights_that_never_grow_show_a_bound_where_all_else_would_show_itself(
    trips: int, others: bool, why: Why | None
) -> None:
    """A constant flight of whole packets is a window at its bound over QUIC."""
    found = _sliding(10, *[20] * trips, others=others).reason(4 * _TRIP_NS)
    assert (None if found is None else found.why) is why
    assert found is None or found.evidence == "unacknowledged"


def test_the_window_in_slow_start_is_told_with_its_round_trip() -> None:
    """The window grows by each byte that is acknowledged, from what was in flight when slow start first showed."""
    window, trip_ms = _acked((0, 10), (40, 5), (40, 15), (41, 10), (41, 20)).in_slow_start()
    assert [window.by(ms * _MS) for ms in (0, 40, 41)] == [each * _SEGMENT for each in (10, 15, 20)]
    assert trip_ms.by(41 * _MS) == pytest.approx(40 + 1 / 8)
    assert _acked((0, 10), (40, 10)).in_slow_start()[0].at_ns == []
