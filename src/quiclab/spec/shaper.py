# SPDX-License-Identifier: Apache-2.0
"""`burst` and `peak_rate`: the token bucket that shapes a rate, and what it needs beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quiclab.model.study import Direction
from quiclab.model.units import Bitrate, ByteCount


def shaper_problems(direction: Direction, rates: Sequence[Bitrate], mtu: int) -> Iterator[tuple[str, str]]:
    """Keys that do not fit together, each with what to do. `rates` are those of the direction, now and later."""
    burst, peak = direction.burst, direction.peak_rate
    if burst is None:
        if peak is not None:
            yield "peak_rate", 'it is the speed of a burst; write a "burst" such as "32 KB" too, or leave it out'
        return
    if direction.trace is not None:
        yield "burst", 'tokens come at a "rate"; a "trace" has its own bursts: leave "burst" out'
        return
    if not rates:
        yield "burst", 'tokens come at a "rate", and none is fixed here; write one'
        return
    full_packet = ByteCount(mtu + direction.overhead.bytes)
    if burst.bytes < full_packet.bytes:
        yield "burst", f"a burst of {burst} has no room for one packet of {full_packet}"
    fastest = max(rates)
    if peak is not None and peak <= fastest:
        yield "peak_rate", f"{peak} is not above the rate of {fastest}: a burst would be no faster than what follows"
