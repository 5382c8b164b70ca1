# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: a QUIC sender that keeps no more of a stream than a fixed amount until it is acknowledged.

Windows, credit and such a buffer look alike on the link. What tells the buffer is that unacknowledged bytes *of a
stream* stop at one round number, to the byte, again and again, which is no number of full packets. A congestion window
lets whole packets out, and grows. Where the sender's log shows its window, the number need not be round, but it must be
acknowledgments that let the sender go on from there: a program that writes in pieces goes on by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.unacknowledged import unacknowledged
from quiclab.why.account.edges import PROMPT_NS
from quiclab.why.account.series import Steps, steps

_TIMES = 3
"""Number of times that a stream must have stopped there."""
_ROUND = (1000, 1024)
"""Sizes of buffers are multiples of these."""
_LET_GO = 0.8
"""Share of the stops from which the sender must go on within 1 ms of an acknowledgment, where its size is not round."""


@dataclass(frozen=True)
class SendBuffer:
    """Unacknowledged bytes of the streams that a sender stopped at the size of its buffer."""

    sizes: Mapping[int, int]
    kept: Mapping[int, Steps[int]]

    def full(self, time_ns: int, stream: int | None) -> bool:
        """True if a stream's buffer was full just before an instant."""
        if stream is None or stream not in self.sizes:
            return False
        return self.kept[stream].before(time_ns) == self.sizes[stream]


def send_buffer(evidence: Evidence, *, knows_window: bool) -> SendBuffer:
    """The buffers that the sender's packets show; none over TCP, whose kernel tells.

    `knows_window` says that the sender's log shows its congestion window: then `full` counts only where that has room.
    """
    if not evidence.quic:
        return SendBuffer({}, {})
    try:
        rows = unacknowledged(evidence).drop_nulls("stream_id")
    except Unknown:
        return SendBuffer({}, {})
    kept = pl.col("unacknowledged_bytes")
    by_stream = rows.with_columns(
        kept.max().over("stream_id").alias("size"), pl.col("offset_bytes").diff().over("stream_id").alias("step")
    )
    stopped = by_stream.group_by("stream_id").agg(
        pl.col("size").first(),
        pl.col("step").max().alias("packet"),
        pl.col("offset_bytes").filter(kept == pl.col("size")).n_unique().alias("times"),
    )
    told = stopped.filter(pl.col("times") >= _TIMES, pl.col("size") % pl.col("packet") > 0)
    if not knows_window:
        told = told.filter(pl.any_horizontal(pl.col("size") % each == 0 for each in _ROUND))
    sizes = {
        stream: size
        for stream, size in told.select("stream_id", "size").iter_rows()
        if not knows_window or _let_go(rows.filter(pl.col("stream_id") == stream), size) >= _LET_GO
    }
    return SendBuffer(
        sizes, {each: steps(rows.filter(pl.col("stream_id") == each), "unacknowledged_bytes") for each in sizes}
    )


def _let_go(rows: pl.DataFrame, size: int) -> float:
    """Share of the stops of a stream at a size after which it went on within 1 ms of an acknowledgment."""
    stops = prompt = 0
    stopped, acknowledged_ns, reached = False, None, 0
    for time_ns, offset, kept in rows.select("time_ns", "offset_bytes", "unacknowledged_bytes").iter_rows():
        if offset == reached:
            acknowledged_ns = time_ns
        else:
            stops += stopped
            prompt += stopped and acknowledged_ns is not None and time_ns - acknowledged_ns <= PROMPT_NS
            stopped, acknowledged_ns, reached = kept == size, None, offset
    return prompt / stops if stops else 0.0
