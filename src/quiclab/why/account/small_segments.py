# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: TCP segments that are not full, and when they were acknowledged.

Nagle's algorithm, as Linux has it in Minshall's version, keeps a segment that is not full back for as long as an
earlier one that was not full is not acknowledged (RFC 9293 section 3.7.4). So an acknowledgment of the last such
segment lets the next one go, however much room the window has.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.why.account.series import Steps

_HALF = 1 << 31


@dataclass(frozen=True)
class SmallSegments:
    """A TCP sender's segments that were not full."""

    sent_ns: list[int]
    ends: list[int]
    """Offset behind each segment's last byte."""
    acknowledged: Steps[int]
    """Offset up to which all was acknowledged, as it came to the sender."""

    def outstanding(self, sent_ns: int) -> bool:
        """True if the last segment that was not full before an instant was not acknowledged by then."""
        last = bisect_left(self.sent_ns, sent_ns) - 1
        return last >= 0 and (self.acknowledged.by(sent_ns) or 0) < self.ends[last]

    def let_go(self, sent_ns: int, came_ns: int) -> bool:
        """True if what came at an instant was the acknowledgment of the last segment that was not full before one sent
        at another instant."""
        last = bisect_left(self.sent_ns, sent_ns) - 1
        if last < 0:
            return False
        before, after = self.acknowledged.before(came_ns), self.acknowledged.by(came_ns)
        return after is not None and (before or 0) < self.ends[last] <= after


def small_segments(evidence: Evidence, full_bytes: int | None) -> SmallSegments:
    """Segments with fewer than `full_bytes` of data that the sender's capture shows; none where that is not known."""
    if evidence.quic or not full_bytes:
        return SmallSegments([], [], Steps([], []))
    way, back = evidence.way, "down" if evidence.upload else "up"
    sent = evidence.packets(evidence.sender, way, ("tcp",)).drop_nulls("tcp_seq")
    came = evidence.packets(evidence.sender, back, ("tcp",)).drop_nulls("tcp_ack")  # type: ignore[arg-type]
    if sent.is_empty():
        return SmallSegments([], [], Steps([], []))
    first = int(sent["tcp_seq"][0])
    with_data = sent.filter(pl.col("payload_bytes") > 0)
    starts = _unwrapped(with_data["tcp_seq"].to_list(), first)
    rows = zip(with_data["time_ns"], starts, with_data["payload_bytes"], strict=True)
    small = [(at, start + length) for at, start, length in rows if length % full_bytes]
    acknowledged = Steps(came["time_ns"].to_list(), list(_unwrapped(came["tcp_ack"].to_list(), first)))
    return SmallSegments([at for at, _ in small], [end for _, end in small], acknowledged)


def _unwrapped(numbers: list[int], first: int) -> Iterator[int]:
    """Sequence numbers as offsets from the first one, without wrap-around."""
    last, offset = first, 0
    for number in numbers:
        offset += (number - last + _HALF) % (1 << 32) - _HALF
        last = number
        yield offset
