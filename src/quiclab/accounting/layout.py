# SPDX-License-Identifier: Apache-2.0
"""The bytes of a TCP connection, each of one stream of HTTP/2, by the frames of the sender's capture.

A capture tells when a frame was sent to its end, and its length. All frames of one TLS record end together: between
two such instants the bytes of the connection are shared out in the order and by the lengths of the frames.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import polars as pl

from quiclab.accounting.segments import segments
from quiclab.metrics import Evidence
from quiclab.metrics.evidence import CAPTURES, Direction, End

_FRAME_HEADER_BYTES = 9


@dataclass(frozen=True)
class Layout:
    """Stretches of a connection's bytes, in order, each of one stream."""

    ends: list[int]
    streams: list[int]

    def stream(self, offset: int) -> int | None:
        """The stream that a byte belongs to; None for frames of the connection, and where no frame shows it."""
        at = bisect_right(self.ends, offset)
        return (self.streams[at] or None) if at < len(self.ends) else None


def layout(evidence: Evidence, end: End, direction: Direction) -> Layout:
    """The layout of what one end sent on its only connection."""
    at_ns, reached = _progress(evidence, end, direction)
    ends: list[int] = []
    streams: list[int] = []
    begin = reached[0] if reached else 0
    for last_ns, several in groupby(_frames(evidence, end, direction), key=lambda frame: frame[0]):
        place = bisect_right(at_ns, last_ns)
        if not place:
            continue
        until = reached[place - 1]
        sizes = [(stream, _FRAME_HEADER_BYTES + length) for _, stream, length in several]
        total, so_far = sum(size for _, size in sizes), 0
        for stream, size in sizes:
            so_far += size
            ends.append(begin + (until - begin) * so_far // total)
            streams.append(stream)
        begin = until
    return Layout(ends, streams)


def _progress(evidence: Evidence, end: End, direction: Direction) -> tuple[list[int], list[int]]:
    """Instants of sending, and the offset up to which all had been sent by then."""
    at_ns: list[int] = []
    reached: list[int] = []
    for _, time_ns, _, start, length, _ in segments(evidence, end, direction):
        if length:
            at_ns.append(time_ns)
            reached.append(max(start + length, reached[-1] if reached else 0))
    return at_ns, reached


def _frames(evidence: Evidence, end: End, direction: Direction) -> Iterator[tuple[int, int, int]]:
    """(last byte sent, stream, length) of each frame, in order."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == end)
    rows = evidence.table("http_frames").filter(
        pl.col("source").is_in(captures["source"].to_list()),
        pl.col("direction") == direction,
        pl.col("event") == "sent",
    )
    told = rows.with_columns(pl.col("last_byte_ns").fill_null(pl.col("time_ns"))).drop_nulls("last_byte_ns")
    for last_ns, stream, length in told.select("last_byte_ns", "stream_id", "length_bytes").iter_rows():
        yield last_ns, stream or 0, length or 0
