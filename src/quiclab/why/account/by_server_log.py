# SPDX-License-Identifier: Apache-2.0
"""What had held back a packet of a QUIC server, by its own log alone: its window, its credit, or something else."""

from __future__ import annotations

from itertools import accumulate

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.evidence.metrics.quic import is_request_stream
from quiclab.model.cause import Why
from quiclab.why.account.blocked_log import own_word
from quiclab.why.account.edges import PROMPT_NS
from quiclab.why.account.levels import PARTS, Level, Part
from quiclab.why.account.recorded import Recorded
from quiclab.why.account.series import Steps
from quiclab.why.account.timers import expired
from quiclab.why.account.window import logged_window

_DATAGRAM_BYTES = 1200
"""Least size of a datagram (RFC 9000 section 14.1)."""


class HeldBack:
    """The server's own log, asked what had held back a packet."""

    def __init__(self, of: Recorded) -> None:
        evidence = Evidence(dict(of.tables), {"protocol": "h3"})
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
        """Whether the answer's stream or the connection had reached its limit just before an instant."""
        used = self._used.before(time_ns)
        limits = (steps.before(time_ns) for steps in self._limits)
        return used is not None and any(sent > 0 and sent == limit for sent, limit in zip(used, limits, strict=True))

    def _full(self, since_ns: int, sent_ns: int) -> bool:
        """Whether no datagram fitted into the window at some instant since the packet before.

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
