# SPDX-License-Identifier: Apache-2.0
"""Checks of a QUIC sender that let time pass of its own accord: did its pacer hold it back?

A pacer lets a sender have N × congestion_window / smoothed_rtt, with an N of 1.25 as RFC 9002 section 7.7 has it. A
sender that leaves the window open and sends at this very rate is held back by its pacer: were its program slower, its
rate would be lower, and a program without a pacer would have no reason to follow its window. Window and round trip are
those of its log; without one, those that its capture shows of slow start.

A pacer with a rate of its own sends full packets at even intervals. A program that writes in pieces fills no packet at
their ends.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.captured_window import CapturedWindow
from quiclab.why.account.critical_path import Path
from quiclab.why.account.edges import Edge, Reason
from quiclab.why.account.series import Steps, steps
from quiclab.why.account.unprompted import is_new_data

_GAIN = 1.25
_NEAR = 0.1
"""Tolerance around a rate, and between intervals that are even. Pacers let a packet go a timer's step late, and make up
for it later."""
_FEWEST = 8
"""Packets, or intervals, below which nothing is said of a rate: the first of them may be the burst that a pacer
allows."""
_ALONE = 3
"""Even intervals of a row within which nothing came to the sender, so that acknowledgments do not set their pace."""
_BURST_NS, _BURST = 200_000, 10
"""Time between packets that leave at once, and the largest number of these that a pacer lets go (RFC 9002 section 7.7:
the initial window)."""
_FULL_BYTES = 1_228
"""Least size of a full packet over IPv4 (RFC 9000 section 14.1)."""
_Trips = Steps[int] | Steps[float]
_AT_SENDER = (What.SERVER, What.CLIENT)
_PACED = Reason(Why.PACING, "transport_metrics")


def told_by_rate(evidence: Evidence, path: Path, captured: CapturedWindow, edges: Iterable[Edge]) -> list[Edge]:
    """The edges, those of `pacing_or_program` as `pacing` where the sender sent at its pacer's rate."""
    found = list(edges)
    if not evidence.quic or all(edge.reason.why is not Why.PACING_OR_PROGRAM for edge in found):
        return found
    own = pl.col("vantage") == evidence.sender, ~pl.col("estimate"), pl.col("transport") == "quic"
    rows = evidence.table("transport_metrics").filter(*own)
    window = steps(rows, "cwnd_bytes")
    trip_ms: _Trips = steps(rows, "smoothed_rtt_ms")
    if not window.at_ns:
        window, trip_ms = captured.in_slow_start()
    for run in _runs(found, trip_ms):
        if _at_the_rate(path, found[run[0]].until_ns, found[run[-1]].until_ns, window, trip_ms):
            for at in run:
                found[at] = replace(found[at], reason=_PACED)
    return found


def _runs(edges: Sequence[Edge], trip_ms: Steps[int] | Steps[float]) -> list[list[int]]:
    """Places of undecided waits at the sender, in rows in which nothing else holds it back between them: another wait
    ends a row, as does a link that is busy for a round trip."""
    found: list[list[int]] = [[]]
    for at, edge in enumerate(edges):
        trip = trip_ms.by(edge.until_ns)
        if edge.reason.why is Why.PACING_OR_PROGRAM and edge.what in _AT_SENDER:
            found[-1].append(at)
        elif edge.reason.why is not Why.LINK_BUSY or trip is None or edge.length_ns >= trip * 1e6:
            found.append([])
    return [run for run in found if run]


def _at_the_rate(
    path: Path, from_ns: int, until_ns: int, window: Steps[int], trip_ms: Steps[int] | Steps[float]
) -> bool:
    """True if a pacer at RFC 9002 §7.7's rate needs the whole interval for what was sent in it."""
    ahead = path.ahead
    allowed_ns, packets = 0.0, 0
    for position in range(bisect_left(ahead.arrival, from_ns), bisect_left(ahead.arrival, until_ns)):
        content = path.content(ahead, position)
        if content is not None and content.what is What.ACKNOWLEDGMENTS:
            continue
        bytes_, trip = window.by(ahead.arrival[position]), trip_ms.by(ahead.arrival[position])
        if not bytes_ or trip is None:
            return False
        allowed_ns += ahead.size[position] * trip * 1e6 / (_GAIN * bytes_)
        packets += 1
    return packets >= _FEWEST and abs(until_ns - from_ns - allowed_ns) <= _NEAR * allowed_ns


@dataclass(frozen=True)
class _Burst:
    """New data in full packets that left at once."""

    position: int
    """Position of its first packet."""
    at_ns: int
    bytes_: int
    is_full: bool
    """True if each of its packets is full, and there are no more than a pacer lets go."""


def evenly_sent(evidence: Evidence, path: Path, round_trip_ns: int | None) -> frozenset[int]:
    """Positions of a QUIC sender's packets in rows of even intervals between full ones, by which a pacer spreads a
    window of two bursts or more over a round trip."""
    if not evidence.quic or not round_trip_ns:
        return frozenset()
    bursts = _bursts(path)
    even = _even(path, bursts, round_trip_ns)
    return frozenset(burst.position for burst, is_even in zip(bursts, even, strict=True) if is_even)


def _bursts(path: Path) -> list[_Burst]:
    ahead = path.ahead
    groups: list[list[int]] = []
    for position, at_ns in enumerate(ahead.arrival):
        if not is_new_data(path, position):
            continue
        if groups and at_ns - ahead.arrival[groups[-1][-1]] <= _BURST_NS:
            groups[-1].append(position)
        else:
            groups.append([position])
    full = max((ahead.size[at] for group in groups for at in group), default=0)

    def burst(group: Sequence[int]) -> _Burst:
        sizes = [ahead.size[at] for at in group]
        whole = min(sizes) >= max(_FULL_BYTES, full * (1 - _NEAR)) and len(group) <= _BURST
        return _Burst(group[0], ahead.arrival[group[0]], sum(sizes), whole)

    return [burst(group) for group in groups]


def _even(path: Path, bursts: Sequence[_Burst], round_trip_ns: int) -> list[bool]:
    """True for each burst that ends an interval of a row of even ones."""
    came_ns = path.into(path.sender).came_ns
    found = [False] * len(bursts)
    first = 1
    while first < len(bursts):
        end = first
        while end < len(bursts) and _alike(bursts[first - 1 : first + 1], bursts[end - 1 : end + 1]):
            end += 1
        alone = sum(
            bisect_right(came_ns, bursts[at].at_ns) == bisect_right(came_ns, bursts[at - 1].at_ns)
            for at in range(first, end)
        )
        interval_ns = bursts[first].at_ns - bursts[first - 1].at_ns
        if end - first >= _FEWEST and alone >= _ALONE and 2 * interval_ns <= round_trip_ns:
            found[first:end] = [True] * (end - first)
        first = max(end, first + 1)
    return found


def _alike(one: Sequence[_Burst], other: Sequence[_Burst]) -> bool:
    """True if full bursts follow each other at an interval as long as that of two others, and are as large."""
    if not all(burst.is_full for burst in (*one, *other)):
        return False
    interval_ns, other_ns = one[1].at_ns - one[0].at_ns, other[1].at_ns - other[0].at_ns
    near = abs(other_ns - interval_ns) <= _NEAR * interval_ns
    return near and abs(other[0].bytes_ - one[0].bytes_) <= _NEAR * one[0].bytes_
