# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: a sender that keeps no more than a fixed amount until it is acknowledged.

Windows, credit and such a buffer look alike on the link. What tells the buffer is that unacknowledged bytes, of QUIC
those *of a stream*, stop at one number, to the byte, again and again, for which a packet is cut. A congestion window
lets whole packets out, and grows. Of QUIC a round number will do that is no number of full packets. Where the sender's
log shows its window, the number need be neither, but it must be acknowledgments that let the sender go on from there: a
program that writes in pieces goes on by itself. A buffer need not be refilled with the first acknowledgment: some are
when a part of them is free.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.unacknowledged import unacknowledged
from quiclab.why.account.captured_window import CapturedWindow
from quiclab.why.account.edges import PROMPT_NS
from quiclab.why.account.series import Steps, steps

_TIMES = 3
"""Number of times that a stream must have stopped there."""
_ROUND = (1000, 1024)
"""Sizes of buffers are multiples of these."""
_CUT = 0.9
"""Share of a full packet below which one counts as cut."""
_LET_GO = 0.8
"""Share of the stops from which the sender must go on within 1 ms of an acknowledgment, where its size is not round."""


@dataclass(frozen=True)
class SendBuffer:
    """Unacknowledged bytes of the streams that a sender stopped at the size of its buffer; over TCP of its one."""

    sizes: Mapping[int | None, int]
    reached: Mapping[int | None, Steps[int]]
    """Unacknowledged bytes of a stream with each packet that has data of it; with one that is cut the size, as some
    libraries keep what is acknowledged until all of a piece is."""

    def full(self, time_ns: int, stream: int | None) -> bool:
        """True if the last packet of a stream before an instant had filled its buffer."""
        key = None if None in self.sizes else stream
        return key in self.sizes and self.reached[key].before(time_ns) == self.sizes[key]


def send_buffer(evidence: Evidence, captured: CapturedWindow, *, knows_window: bool) -> SendBuffer:
    """The buffers that the sender's packets show.

    `knows_window` says that the sender's log shows its congestion window: then `full` counts only where that has room.
    TCP's kernel tells of its window and its buffer by itself.
    """
    if not evidence.quic:
        return SendBuffer({}, {}) if knows_window else _tcp_buffer(captured)
    try:
        rows = unacknowledged(evidence).drop_nulls("stream_id")
    except Unknown:
        return SendBuffer({}, {})
    kept = pl.col("unacknowledged_bytes")
    rows = rows.with_columns(
        kept.max().over("stream_id").alias("size"), pl.col("offset_bytes").diff().over("stream_id").alias("step")
    )
    at_size = kept == pl.col("size"), pl.col("step") > 0
    stopped = rows.group_by("stream_id").agg(
        pl.col("size").first(),
        pl.col("step").max().alias("packet"),
        pl.col("offset_bytes").filter(*at_size).n_unique().alias("times"),
        pl.col("step").filter(*at_size).max().alias("last"),
    )
    told = stopped.filter(pl.col("times") >= _TIMES, pl.col("size") % pl.col("packet") > 0)
    if not knows_window:
        is_round = pl.any_horizontal(pl.col("size") % each == 0 for each in _ROUND)
        told = told.filter(is_round | (pl.col("last") < _CUT * pl.col("packet")))
    sizes = {
        stream: size
        for stream, size in told.select("stream_id", "size").iter_rows()
        if _let_go(rows.filter(pl.col("stream_id") == stream), size) >= _LET_GO
    }
    cut = pl.col("step") < _CUT * pl.col("step").max().over("stream_id")
    filled = pl.when(cut).then("size").otherwise(kept).alias("unacknowledged_bytes")
    sent = rows.with_columns(filled).filter(pl.col("step") > 0)
    return SendBuffer(
        sizes, {each: steps(sent.filter(pl.col("stream_id") == each), "unacknowledged_bytes") for each in sizes}
    )


def _tcp_buffer(captured: CapturedWindow) -> SendBuffer:
    """TCP's buffer by the bytes in flight, where most segments are full, so that a cut one shows in their sum, and
    neither a loss nor the receive window stops them."""
    full = captured.full_bytes
    if full is None or captured.losses.at_ns:
        return SendBuffer({}, {})
    flights = list(zip(captured.in_flight.at_ns, captured.in_flight.values, strict=True))
    sent = [(at_ns, now) for (_, last), (at_ns, now) in pairwise(flights) if now > last]
    came_ns = [at_ns for (_, last), (at_ns, now) in pairwise(flights) if now < last]
    most = max((value for _, value in sent), default=0)
    stops = [(at_ns, next_ns) for (at_ns, value), (next_ns, _) in pairwise(sent) if value == most]
    if not 0 < most % full < _CUT * full or len(stops) < _TIMES:
        return SendBuffer({}, {})
    # The first acknowledgment makes room: where others came before, a program that writes in pieces may have gone on.
    prompt = sum(
        bisect_right(came_ns, at_ns) == bisect_left(came_ns, on_ns - PROMPT_NS) < bisect_right(came_ns, on_ns)
        for at_ns, on_ns in stops
    )
    if prompt < _LET_GO * len(stops) or any(captured.blocked.by(at_ns) for at_ns, _ in stops):
        return SendBuffer({}, {})
    return SendBuffer({None: most}, {None: Steps([at for at, _ in sent], [value for _, value in sent])})


def _let_go(rows: pl.DataFrame, size: int) -> float:
    """Share of the stops of a stream at a size after which it went on within 1 ms of an acknowledgment; 0 where so many
    came that it would by chance half of the time."""
    stops = prompt = 0
    by_chance = 0.0
    acknowledged: list[int] = []
    stopped_ns, reached = None, 0
    for time_ns, offset, kept in rows.select("time_ns", "offset_bytes", "unacknowledged_bytes").iter_rows():
        if offset == reached:
            acknowledged.append(time_ns)
            continue
        if stopped_ns is not None:
            stops += 1
            prompt += bool(acknowledged) and time_ns - acknowledged[-1] <= PROMPT_NS
            by_chance += min(1.0, (len(acknowledged) - 1) * PROMPT_NS / max(1, time_ns - stopped_ns))
        stopped_ns, acknowledged, reached = time_ns if kept == size else None, [], offset
    return prompt / stops if stops and by_chance <= stops / 2 else 0.0
