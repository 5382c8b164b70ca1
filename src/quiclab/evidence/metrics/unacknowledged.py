# SPDX-License-Identifier: Apache-2.0
"""The table unacknowledged: what the sender of the bodies had sent and had no acknowledgment of, stream by stream."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

import polars as pl

from quiclab.evidence.metrics import quic
from quiclab.evidence.metrics.evidence import CAPTURES, Evidence, Unknown
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.model.tables import TABLES

_Piece = tuple[int | None, int, int]
"""Stream (None over TCP), and the half-open range of its offsets."""
_Step = tuple[int, int, str, list[_Piece]]
"""Instant, 0 for what was sent and 1 for what was acknowledged, connection, pieces."""
_SENT = 0
_FIRST_BYTE = 1
"""Sequence number of the first byte of payload, behind the SYN."""


class _Stream:
    def __init__(self) -> None:
        self.sent, self.acknowledged = IntervalSet(), IntervalSet()
        self.sent_bytes = self.acknowledged_bytes = self.offset = 0


class _Connection:
    """All streams of one connection, and the sums over them."""

    def __init__(self) -> None:
        self._streams: defaultdict[int | None, _Stream] = defaultdict(_Stream)
        self._unacknowledged = 0
        self._offsets = 0

    def send(self, stream_id: int | None, start: int, end: int) -> None:
        """Count a range that was sent, or sent again."""
        stream = self._streams[stream_id]
        new, further = stream.sent.add_length(start, end), max(end - stream.offset, 0)
        stream.sent_bytes += new
        stream.offset += further
        self._unacknowledged += new
        self._offsets += further

    def acknowledge(self, stream_id: int | None, start: int, end: int) -> bool:
        """Count a range that was acknowledged, as far as it was sent; whether that is news."""
        stream = self._streams[stream_id]
        new = stream.acknowledged.add_length(start, min(end, stream.offset))
        stream.acknowledged_bytes += new
        self._unacknowledged -= new
        return new > 0

    def row(self, stream_id: int | None) -> tuple[int, ...]:
        """The columns behind `stream_id`."""
        stream = self._streams[stream_id]
        unacknowledged = stream.sent_bytes - stream.acknowledged_bytes
        return stream.offset, stream.acknowledged_bytes, unacknowledged, self._unacknowledged, self._offsets


@lru_cache(maxsize=1)
def unacknowledged(evidence: Evidence) -> pl.DataFrame:
    """One row per change, in the order of time; without rows where the trial's tables cannot tell."""
    try:
        steps = sorted(_quic(evidence) if evidence.quic else _tcp(evidence), key=lambda step: step[:2])
    except Unknown:
        steps = []
    return pl.DataFrame(list(_rows(steps)), schema=TABLES["unacknowledged"].schema(), orient="row")


def _rows(steps: list[_Step]) -> Iterator[tuple[int | str | None, ...]]:
    connections: defaultdict[str, _Connection] = defaultdict(_Connection)
    for time_ns, kind, name, pieces in steps:
        connection = connections[name]
        changed: dict[int | None, None] = {}
        for stream_id, start, end in pieces:
            if kind == _SENT:
                connection.send(stream_id, start, end)
                changed[stream_id] = None
            elif connection.acknowledge(stream_id, start, end):
                changed[stream_id] = None
        for stream_id in changed:
            yield time_ns, name, stream_id, *connection.row(stream_id)


def _quic(evidence: Evidence) -> Iterator[_Step]:
    """Bytes of packets that left the sender's end, and ACK frames that arrived there, step by step."""
    left, came = quic.departures(evidence, evidence.sender), quic.arrivals(evidence, evidence.sender)
    carried: defaultdict[quic.PacketKey, list[_Piece]] = defaultdict(list)
    for frame in quic.stream_frames(evidence, evidence.sender, "sent"):
        if frame.packet in left:
            carried[frame.packet].append((frame.stream_id, frame.start, frame.end))
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for packet, pieces in carried.items():
        yield left[packet][0], _SENT, packet[0], pieces
        # 0-RTT and 1-RTT packets share their numbers.
        numbers[packet[0]].append(packet[2])
    by_number = {(connection, number): pieces for (connection, _, number), pieces in carried.items()}
    for known in numbers.values():
        known.sort()
    acks = quic.quic_packets(evidence, evidence.sender, "received", "acks").filter(pl.col("packet_type") == "1RTT")
    columns = ("connection", "packet_type", "packet_number", "first", "last")
    arrived = (
        (came[name, kind, number], name, first, last)
        for name, kind, number, first, last in acks.select(columns).iter_rows()
        if (name, kind, number) in came
    )
    acknowledged: defaultdict[str, IntervalSet] = defaultdict(IntervalSet)
    for time_ns, name, first, last in sorted(arrived):
        for start, end in acknowledged[name].add(first, last + 1):
            known = numbers[name]
            newly = known[bisect_left(known, start) : bisect_left(known, end)]
            yield time_ns, 1, name, [piece for number in newly for piece in by_number[name, number]]


def _tcp(evidence: Evidence) -> Iterator[_Step]:
    """Segments that left the sender's end and acknowledgments that arrived there, by its capture."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    own = pl.col("source").is_in(captures), pl.col("vantage") == evidence.sender, pl.col("transport") == "tcp"
    sent = evidence.table("packets").filter(*own, pl.col("event") == "sent", pl.col("length_bytes") > 0)
    columns = ("time_ns", "connection", "packet_number", "length_bytes")
    for time_ns, name, number, length in sent.drop_nulls(columns).select(columns).iter_rows():
        start = number - _FIRST_BYTE
        yield time_ns, _SENT, name, [(None, start, start + length)]
    came = evidence.table("acks").filter(*own, pl.col("event") == "received", pl.col("kind") != "dsack")
    for time_ns, name, first, last in came.select("time_ns", "connection", "first", "last").iter_rows():
        yield time_ns, 1, name, [(None, max(first - _FIRST_BYTE, 0), last + 1 - _FIRST_BYTE)]
