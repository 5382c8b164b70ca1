# SPDX-License-Identifier: Apache-2.0
"""The bytes of a TCP connection, each of one stream of HTTP/2, by the frames of the sender's capture.

A capture tells the length of each frame, in order, and when its last byte could be read. The bytes between the first
frame and the last are shared out by their lengths, so that TLS's own are spread evenly: a few bytes in a thousand.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.evidence.metrics.evidence import CAPTURES, Direction, End
from quiclab.why.account.segments import segments

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
    frames = [each for each in _frames(evidence, end, direction) if at_ns and each[0] >= at_ns[0]]
    if not frames:
        return Layout([], [])
    first = bisect_left(at_ns, frames[0][0])
    begin = reached[first - 1] if first else reached[0]
    until = reached[bisect_right(at_ns, frames[-1][0]) - 1]
    sizes = [_FRAME_HEADER_BYTES + length for _, _, length in frames]
    ends = [begin + (until - begin) * so_far // sum(sizes) for so_far in accumulate(sizes)]
    return Layout(ends, [stream for _, stream, _ in frames])


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
