# SPDX-License-Identifier: Apache-2.0
"""One transfer as a QUIC server's log shows it: the level E4.

Acknowledgments say when packets had come to the client: each names the highest, and how long it was held back. With the
way up on top of every instant, that is the client's end as the server sees it. What had held back the packet that ended
a wait is in the server's own log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.evidence.metrics.quic import is_request_stream
from quiclab.model.cause import Why
from quiclab.model.trial_record import TrialRecord
from quiclab.why.account.arrivals import Arrivals
from quiclab.why.account.blocked_log import own_word
from quiclab.why.account.edges import PROMPT_NS
from quiclab.why.account.levels import PARTS, Level, Part
from quiclab.why.account.one_end import Instant, Seen
from quiclab.why.account.recorded import Recorded, Tables, recorded
from quiclab.why.account.series import Steps
from quiclab.why.account.timers import expired
from quiclab.why.account.window import logged_window

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
    """Transfer as the server's log shows it, with the way up on top of every instant. Raises Unknown where it holds
    less."""
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
        raise Unknown(
            f"it holds {rows.height or 'no'} requests with an answer, and of a server's log only a single one is "
            "explained: record one request on a connection of its own, or at the client"
        )
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
    """Packet numbers newly acknowledged by each acknowledgment of 1-RTT packets, in order."""
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


# The reason that had held back a packet of a QUIC server, by its own log alone: window, credit, or something else.
_DATAGRAM_BYTES = 1200
"""Least size of a datagram (RFC 9000 section 14.1)."""


class HeldBack:
    """The server's own log, asked what had held back a packet."""

    def __init__(self, of: Recorded) -> None:
        evidence = Evidence(dict(of.tables), TrialRecord(protocol="h3"))
        self._word, self._timers = own_word(evidence), expired(evidence)
        self._window = logged_window(evidence, {})
        self._limits, self._used = _limits(of), _used(of)
        self._came = Steps(came := of.up["time_ns"].to_list(), came)
        frames = of.table("frames").filter(
            pl.col("direction") == "down",
            pl.col("event") == "sent",
            pl.col("frame_type") == "stream",
            pl.col("stream_id").is_not_null(),
        )
        self._sent = Steps(sent := frames["time_ns"].to_list(), sent)

    def part(self, sent_ns: int) -> Part:
        """The part to which a wait belongs that a packet sent at an instant ended."""
        latest_ns = self._came.by(sent_ns)
        prompted = latest_ns is not None and sent_ns - latest_ns <= PROMPT_NS
        # A program reads several packets before it sends: the first since it last sent is what it had waited for.
        sent_before = self._sent.before(sent_ns)
        came_ns = next(iter(self._came.within(sent_before or 0, sent_ns)), (latest_ns, 0))[0]
        if self._timers.reason(came_ns, sent_ns, prompted=prompted) is not None:
            return Part.OTHER_WAITS
        said = self._word.reason(sent_ns - PROMPT_NS, sent_ns)
        if said is not None:
            found = _part(said)
            return found if found in (Part.WINDOW_FULL, Part.CREDIT_USED_UP) else Part.OTHER_WAITS
        if not prompted or came_ns is None:
            return Part.OTHER_WAITS
        full, spent = self._full(sent_before or 0, sent_ns), self._used_up(came_ns)
        if full and spent:
            return Part.OTHER_WAITS
        return Part.CREDIT_USED_UP if spent else Part.WINDOW_FULL if full else Part.OTHER_WAITS

    def _used_up(self, time_ns: int) -> bool:
        """True if the answer's stream or the connection had reached its limit just before an instant."""
        used = self._used.before(time_ns)
        limits = (steps.before(time_ns) for steps in self._limits)
        return used is not None and any(sent > 0 and sent == limit for sent, limit in zip(used, limits, strict=True))

    def _full(self, since_ns: int, sent_ns: int) -> bool:
        """True if no datagram fitted into the window at some instant since the packet before.

        A log may tell of the room that an acknowledgment made before it tells of the acknowledgment.
        """
        window = self._window.window
        known = ((at, self._window.in_flight.by(at)) for at in (since_ns,))
        steps = [*known, *self._window.in_flight.within(since_ns, sent_ns)]
        told = [(limit, used) for at, used in steps if (limit := window.by(at)) is not None and used is not None]
        return any(limit - used < _DATAGRAM_BYTES for limit, used in told)


def _part(why: Why) -> Part:
    return next((part for part, whys in PARTS[Level.E4].items() if why in whys), Part.OTHER_WAITS)


def _limits(of: Recorded) -> tuple[Steps[int], Steps[int]]:
    """Highest offsets that the server may send: of a request's stream, of the connection."""
    rows = of.table("flow_control").filter(pl.col("event") == "limit", pl.col("direction") == "down")
    rows = rows.drop_nulls("limit").sort("time_ns", maintain_order=True)
    asked = pl.col("stream_id").is_null() | (pl.col("stream_id") % 4 == 0)
    stream, whole = rows.filter(pl.col("scope") == "stream", asked), rows.filter(pl.col("scope") == "connection")
    first, second = (Steps(each["time_ns"].to_list(), list(accumulate(each["limit"], max))) for each in (stream, whole))
    return first, second


def _used(of: Recorded) -> Steps[tuple[int, int]]:
    """Highest offsets that the server has sent, of the answer's stream and of all."""
    frames = of.table("frames").filter(
        pl.col("direction") == "down",
        pl.col("event") == "sent",
        pl.col("frame_type") == "stream",
        pl.col("stream_id").is_not_null(),
    )
    highest: dict[int, int] = {}
    steps: list[tuple[int, int]] = []
    for stream, offset, length in frames.select("stream_id", "offset", "length_bytes").iter_rows():
        highest[stream] = max(highest.get(stream, 0), (offset or 0) + (length or 0))
        steps.append((max((v for k, v in highest.items() if is_request_stream(k)), default=0), sum(highest.values())))
    return Steps(list(accumulate(frames["time_ns"].to_list(), max)), steps)
