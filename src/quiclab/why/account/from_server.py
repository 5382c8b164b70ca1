# SPDX-License-Identifier: Apache-2.0
"""What a QUIC server's log shows of one transfer: the level E4.

Acknowledgments say when packets had come to the client: each names the highest, and how long it was held back. With the
way up on top of every instant, that is the client's end as the server sees it. What had held back the packet that ended
a wait is in the server's own log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.evidence.metrics.quic import is_request_stream
from quiclab.why.account.arrivals import Arrivals
from quiclab.why.account.by_server_log import HeldBack
from quiclab.why.account.levels import Level
from quiclab.why.account.one_end import Instant, Seen
from quiclab.why.account.recorded import Recorded, Tables, recorded

_UDP_HEADERS_BYTES = 28
_READ_LATE_NS = 500_000
"""Step of the instants that acknowledgments tell: a program reads them late, and rounds how long they were held."""


@dataclass(frozen=True)
class _Acked:
    """Packets that one acknowledgment names for the first time."""

    came_ns: int
    """Instant at which it came to the server, less the time for which it was held back."""
    size_bytes: int
    numbers: tuple[tuple[int, int], ...]
    """Ranges [from, until) of packet numbers."""


def seen_by_server(tables: Tables) -> Seen:
    """What the server's log shows, with the way up on top of every instant. Raises Unknown where it holds less."""
    of = recorded(tables, "quic")
    stream = _stream(of)
    asked = of.table("frames").filter(pl.col("direction") == "up", pl.col("frame_type") == "stream")["time_ns"].min()
    if not isinstance(asked, int):
        raise Unknown("the connection carries no request")
    sent = _sent(of)
    carriers = _carriers(of, stream)
    groups = [group for group in _acked(of, sent) if group.size_bytes]
    first = next((at for at, group in enumerate(groups) if _holds(group, carriers)), None)
    if first is None:
        raise Unknown("the client acknowledges nothing of the answer")
    last = _last(of, groups, carriers)
    groups = [group for group in groups[first:] if group.came_ns <= last.at_ns]
    held_back = HeldBack(of)
    return Seen(
        Level.E4,
        "quic",
        int(of.packets["time_ns"][0]),
        int(of.packets["size_bytes"][0]),
        Instant.exactly(asked),
        last,
        Arrivals(np.array([each.came_ns for each in groups]), np.array([each.size_bytes for each in groups])),
        groups[0].came_ns,
        0,
        _round_trip_ns(of),
        max(of.resolution_ns, _READ_LATE_NS),
        None,
        _body(of),
        _asked_for(of),
        held=tuple(held_back.part(_opener_ns(each, sent)) for each in groups),
    )


def _stream(of: Recorded) -> int:
    streams = of.table("streams")
    rows = streams.filter([is_request_stream(each) for each in streams["stream_id"]])
    rows = rows.filter(pl.col("down_first_ns").is_not_null())
    if rows.height != 1:
        raise Unknown(f"it holds {rows.height or 'no'} requests with an answer: an account is of one request")
    return int(rows["stream_id"][0])


def _sent(of: Recorded) -> dict[int, tuple[int, int]]:
    """Number of each 1-RTT packet of the server → (instant, size of its datagram)."""
    rows = of.table("packets").filter(
        pl.col("direction") == "down", pl.col("event") == "sent", pl.col("packet_type") == "1RTT"
    )
    told = rows.drop_nulls("packet_number").select("packet_number", "time_ns", "length_bytes").iter_rows()
    return {number: (at, (length or 0) + _UDP_HEADERS_BYTES) for number, at, length in told}


def _carriers(of: Recorded, stream: int) -> pl.DataFrame:
    """Packets with bytes of the answer: number, offset, end, fin."""
    frames = of.table("frames").filter(
        pl.col("direction") == "down",
        pl.col("event") == "sent",
        pl.col("frame_type") == "stream",
        pl.col("stream_id") == stream,
    )
    start = pl.col("offset").fill_null(0)
    end = (start + pl.col("length_bytes").fill_null(0)).alias("end")
    return frames.select("packet_number", start, end, pl.col("fin").fill_null(value=False))


def _acked(of: Recorded, sent: dict[int, tuple[int, int]]) -> Iterator[_Acked]:
    """What each acknowledgment of 1-RTT packets is the first to name, in order."""
    rows = of.table("acks").filter(
        pl.col("direction") == "up", pl.col("event") == "received", pl.col("packet_type") == "1RTT"
    )
    named, latest = IntervalSet(), 0
    by_packet = rows.group_by("packet_number", "time_ns", maintain_order=True).agg("first", "last", "ack_delay_us")
    for _, time_ns, firsts, lasts, delays in by_packet.iter_rows():
        new = [part for a, b in zip(firsts, lasts, strict=True) for part in named.add(a, b + 1)]
        size = sum(sent[number][1] for a, b in new for number in range(a, b) if number in sent)
        # The delay is that of the highest packet, which an earlier acknowledgment may have named.
        held_ns = round((delays[0] or 0) * 1000) if any(b == max(lasts) + 1 for _, b in new) else 0
        latest = max(latest, time_ns - held_ns)
        yield _Acked(latest, size, tuple(sorted(new)))


def _holds(group: _Acked, carriers: pl.DataFrame) -> bool:
    numbers = carriers["packet_number"]
    return any(bool(numbers.is_between(a, b - 1).any()) for a, b in group.numbers)


def _opener_ns(group: _Acked, sent: dict[int, tuple[int, int]]) -> int:
    """Sending of the packet before which the server had been silent for longest: it ended a wait."""
    numbers = [number for a, b in group.numbers for number in range(a, b) if number in sent]
    gaps = [(sent[number][0] - sent.get(number - 1, sent[number])[0], -number) for number in numbers]
    return sent[-max(gaps)[1]][0]


def _last(of: Recorded, groups: list[_Acked], carriers: pl.DataFrame) -> Instant:
    """Instant at which all of the answer was acknowledged; where the client closes instead, somewhere until that.

    An acknowledgment tells when the highest packet of those that it names came: an earlier one may have come at any
    time since the acknowledgment before.
    """
    size = int(carriers["end"].max() or 0)  # type: ignore[arg-type]
    if not carriers["fin"].any():
        raise Unknown("it ends before the answer does: let the server log until the connection closes")
    ends = {number: (start, end) for number, start, end, _ in carriers.iter_rows()}
    fins = set(carriers.filter("fin")["packet_number"].to_list())
    have, finished, before_ns, since_ns = IntervalSet(), False, 0, 0
    for group in groups:
        told = False
        for a, b in group.numbers:
            for number in range(a, b):
                told = number in ends  # of the highest in the end: they are in order
                if told:
                    have.add(*ends[number])
                    finished |= number in fins
                    before_ns = group.came_ns
        if finished and have.reach(0) >= size:
            return Instant(group.came_ns, group.came_ns if told else since_ns, group.came_ns)
        since_ns = group.came_ns
    closed = of.table("parameters").filter(pl.col("name").str.starts_with("connection_closed.client"))["time_ns"].min()
    if not isinstance(closed, int) or closed < before_ns:
        raise Unknown("it ends before the client has acknowledged the answer: let the server log until that closes")
    return Instant(closed, before_ns, closed)


def _round_trip_ns(of: Recorded) -> int:
    least = of.table("transport_metrics")["min_rtt_ms"].min()
    return round(least * 1e6) if isinstance(least, float) and least > 0 else 1


def _body(of: Recorded) -> int | None:
    told = of.table("http_requests")
    return told["response_body_bytes"][0] if told.height else None


def _asked_for(of: Recorded) -> str | None:
    told = of.table("http_requests")
    return told["url"][0] if told.height else None
