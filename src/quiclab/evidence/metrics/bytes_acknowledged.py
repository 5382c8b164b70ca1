# SPDX-License-Identifier: Apache-2.0
"""The table bytes_acknowledged: how the bodies came in, as their receiver's acknowledgments tell it."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

import polars as pl

from quiclab.evidence.metrics import quic, tcp
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.model.tables import TABLES


def bytes_acknowledged(evidence: Evidence) -> pl.DataFrame:
    """One row per ACK that the receiver sends, in order; without rows where the trial's tables cannot tell."""
    try:
        points = _quic(evidence) if evidence.quic else _tcp(evidence)
        rows = sorted((evidence.since_zero_ms(time_ns), total) for time_ns, total in points)
    except Unknown:
        rows = []
    return pl.DataFrame(rows, schema=TABLES["bytes_acknowledged"].schema(), orient="row")


def _tcp(evidence: Evidence) -> Iterator[tuple[int, int]]:
    """Instants and bytes acknowledged so far over TCP, summed over connections that follow one another."""
    total = 0
    for segments in tcp.sent_segments(evidence, evidence.receiver, evidence.way):
        if not segments.end.size:
            continue
        # Payload starts behind the SYN and ends before the FIN, which are acknowledged too.
        first, last = int(segments.start.min()), int(segments.end.max())
        acknowledged = IntervalSet()
        for time_ns, ranges in tcp.acknowledgments(evidence, segments):
            total += sum(acknowledged.add_length(max(start, first), min(end, last)) for start, end in ranges)
            yield time_ns, total


def _quic(evidence: Evidence) -> Iterator[tuple[int, int]]:
    carried: defaultdict[str, defaultdict[int, list[quic.StreamFrame]]] = defaultdict(lambda: defaultdict(list))
    for frame in quic.stream_frames(evidence, evidence.receiver, "received"):
        connection, kind, number = frame.packet
        if kind == "1RTT" and quic.is_request_stream(frame.stream_id):
            carried[connection][number].append(frame)
    numbers = {connection: sorted(packets) for connection, packets in carried.items()}
    acknowledged: defaultdict[str, IntervalSet] = defaultdict(IntervalSet)
    data: defaultdict[tuple[str, int], IntervalSet] = defaultdict(IntervalSet)
    total = 0
    for time_ns, connection, ranges in _acks(evidence):
        known = numbers.get(connection, [])
        for first, last in ranges:
            for start, end in acknowledged[connection].add(first, last + 1):
                newly = known[bisect_left(known, start) : bisect_left(known, end)]
                frames = (frame for number in newly for frame in carried[connection][number])
                total += sum(data[frame.stream].add_length(frame.start, frame.end) for frame in frames)
        yield time_ns, total


def _acks(evidence: Evidence) -> Iterator[tuple[int, str, list[tuple[int, int]]]]:
    """(time_ns, connection, ranges) of each 1-RTT packet with an ACK frame that the receiver sends."""
    departures = quic.departures(evidence, evidence.receiver)
    rows = quic.quic_packets(evidence, evidence.receiver, "sent", "acks").filter(pl.col("packet_type") == "1RTT")
    ranges: defaultdict[tuple[str, int, int], list[tuple[int, int]]] = defaultdict(list)
    columns = ("connection", "packet_number", "time_ns", "first", "last")
    for connection, number, logged_ns, first, last in rows.select(columns).iter_rows():
        ranges[connection, number, logged_ns].append((first, last))
    # A packet that is not found in the capture is placed by the log's clock, set by the packet before it.
    capture_minus_log_ns = None
    for (connection, number, logged_ns), acked in ranges.items():
        if departure := departures.get((connection, "1RTT", number)):
            capture_minus_log_ns = departure[0] - logged_ns
        if capture_minus_log_ns is not None:
            yield logged_ns + capture_minus_log_ns, connection, acked
