# SPDX-License-Identifier: Apache-2.0
"""The point of the path at which a capture was taken: at the client, or between the ends, and how far from each.

An end answers at once what comes to it. Seen from a point between the ends, each answers a round trip later: to the
client and back, and to the server and back. Of TCP acknowledgments tell which packet they answer; of QUIC without keys
only the handshake does, and the programs' own time is in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.why.account.recorded import Recorded

_AT_ITS_END_NS = {"tcp": 1_000_000, "quic": 10_000_000}
"""Longest time in which an end answers: TCP's kernel, the least of several, or a program that speaks QUIC."""
_EXACT_NS = 200_000
"""Time in which a kernel answers a segment."""
_AT_ONCE = 1 / 6
"""Share of the client's time within which the server must answer for a capture to be the server's beyond doubt."""
_ACK_DELAY_NS = 30_000_000
"""Time for which a client may hold an acknowledgment back: 25 ms (RFC 9000 section 18.2), and some for its program."""
_SILENT_NS = 20_000_000
"""Time without a packet of the client from which it has no more to acknowledge: a queue on the way has gone."""
_SYN = 2

Int64s = npt.NDArray[np.int64]
NEVER = int(np.iinfo(np.int64).max)
"""Instant of what does not happen."""


@dataclass(frozen=True)
class CapturePlace:
    """A point between client and server."""

    client_ns: int
    """Round trip to the client and back."""
    client_least_ns: int
    """Least that it can be, without the time in which the client answers."""
    server_ns: int
    """Round trip to the server and back; of QUIC with the time in which the server answers."""
    exact: bool
    """True if kernels answered, so that both round trips are of the network alone."""

    @property
    def is_server(self) -> bool:
        """True if it is the server's own end; a program of QUIC takes too long to tell that."""
        return self.exact and self.server_ns <= _AT_ITS_END_NS["tcp"]


@dataclass(frozen=True)
class Acknowledgments:
    """Ranges of bytes that one end acknowledges, each when it is first named, in the order of bytes."""

    first: Int64s
    last: Int64s
    at_ns: Int64s

    def first_ns(self, numbers: Int64s) -> Int64s:
        """Instant at which each byte is first named, `NEVER` where it is not."""
        if not len(self.at_ns):
            return np.full(len(numbers), NEVER)
        places = np.maximum(np.searchsorted(self.first, numbers, side="right") - 1, 0)
        named = (self.first[places] <= numbers) & (numbers <= self.last[places])
        found: Int64s = np.where(named, self.at_ns[places], NEVER)
        return found

    def whole_ns(self, number: int) -> int:
        """Instant from which a byte and all before it are named; `NEVER` where it is not."""
        before = self.first <= number
        return int(self.at_ns[before].max()) if before.any() and self.last[before].max() >= number else NEVER


def acknowledgments(of: Recorded, way: str) -> Acknowledgments:
    """TCP's acknowledgments in one direction, cumulative and selective."""
    rows = of.table("acks").filter(pl.col("direction") == way).drop_nulls("last").sort("time_ns", maintain_order=True)
    named, pieces = IntervalSet(), []
    for time_ns, kind, first, last in rows.select("time_ns", "kind", "first", "last").iter_rows():
        new = named.add(0 if kind == "cumulative" else first, last + 1)
        pieces += [(begin, end - 1, time_ns) for begin, end in new]
    columns = np.array(sorted(pieces), dtype=np.int64).reshape(-1, 3).T
    return Acknowledgments(*columns)


def capture_place(of: Recorded) -> CapturePlace | None:
    """The point between the ends at which a capture was taken; None for the client's. Raises Unknown where nothing
    shows how long an end took to answer."""
    if of.up.filter(pl.col("time_ns") >= of.down["time_ns"][0]).is_empty():
        raise Unknown("it ends before the client answers the server's first packet: record until the connection closes")
    return _place_by_acks(of) if of.transport == "tcp" else _place_by_handshake(of)


def _place_by_acks(of: Recorded) -> CapturePlace | None:
    client_ns = _least_ns(of.down, acknowledgments(of, "up"))
    if client_ns <= _AT_ITS_END_NS["tcp"]:
        return None
    server_ns = _least_ns(of.up, acknowledgments(of, "down"))
    return CapturePlace(client_ns, max(0, client_ns - _EXACT_NS), server_ns, exact=True)


def _least_ns(sent: pl.DataFrame, acks: Acknowledgments) -> int:
    """Least time from a segment that was sent once to its acknowledgment."""
    begins = (pl.col("flags") & _SYN) > 0
    rows = sent.filter(begins | (pl.col("payload_bytes") > 0)).drop_nulls("number")
    rows = rows.filter(pl.len().over("number") == 1)
    number = pl.col("number").cast(pl.Int64)
    last = pl.when(begins).then(number).otherwise(number + pl.col("payload_bytes").cast(pl.Int64) - 1)
    at = rows["time_ns"].cast(pl.Int64).to_numpy()
    named = acks.first_ns(rows.select(last).to_series().to_numpy())
    taken = (named - at)[(named > at) & (named < NEVER)]
    if not len(taken):
        raise Unknown("no segment of it is acknowledged: record both directions until the connection closes")
    return int(taken.min())


def _place_by_handshake(of: Recorded) -> CapturePlace | None:
    """A client answers the server's first packets, and later the first ones after a silence: all late only if it is
    far."""
    came_ns = int(of.down["time_ns"][0])
    sent_ns = of.up.filter(pl.col("time_ns") <= came_ns)["time_ns"].max()
    server_ns = came_ns - (sent_ns if isinstance(sent_ns, int) else came_ns)
    client_ns = min([_first_after(of, came_ns), *_handshake_ns(of)])
    at_end_ns = _AT_ITS_END_NS["quic"]
    least_ns = client_ns - at_end_ns
    if client_ns > at_end_ns and server_ns > _AT_ONCE * client_ns:
        later_ns = _after_silence_ns(of, client_ns)
        client_ns = min(client_ns, later_ns, _answer_ns(of, server_ns))
        least_ns = client_ns - at_end_ns if later_ns < NEVER else 0  # it may be one slow answer of a busy client
    if client_ns <= at_end_ns:
        return None
    return CapturePlace(client_ns, least_ns, server_ns, exact=False)


def _first_after(of: Recorded, came_ns: int) -> int:
    """Time to the client's first acknowledgment of a packet of the server's, or to its next packet, from what it can
    answer: not from packets after which the server had repeated itself, as where what it sent first is lost."""
    acks = of.table("acks")
    told = acks.filter(pl.col("direction") == "up") if "direction" in acks.columns else acks
    first = told["time_ns"].min() if told.height else None
    if not isinstance(first, int):
        first = of.up.filter(pl.col("time_ns") > came_ns)["time_ns"].min()
    return first - _together(of.down, first) if isinstance(first, int) else NEVER


def _together(down: pl.DataFrame, until_ns: int) -> int:
    """Begin of the last packets of the server before an instant that came without a silence between them."""
    before = down.filter(pl.col("time_ns") < until_ns)["time_ns"]
    begins = before.filter(before.diff().fill_null(NEVER) > _SILENT_NS)
    return int(begins[-1]) if len(begins) else until_ns


def _handshake_ns(of: Recorded) -> list[int]:
    """Time from the server's first Handshake packet, or its last repetition, to the client's; nothing where there is
    none."""
    rows = of.table("packets").filter(packet_type="handshake")
    own = rows.filter(direction="up")["time_ns"].min()
    theirs = rows.filter(direction="down").sort("time_ns")
    if not isinstance(own, int) or theirs.filter(pl.col("time_ns") < own).is_empty():
        return []
    return [own - _together(theirs, own)]


def _after_silence_ns(of: Recorded, client_ns: int) -> int:
    """Least time to the client's next packet from one of the server's before which both had been silent, for so long
    that nothing the client had to answer was on its way, were it as far as that."""
    came = of.down.select("time_ns", silent=pl.col("time_ns").diff() > client_ns + _ACK_DELAY_NS).filter("silent")
    at = came["time_ns"].cast(pl.Int64).to_numpy()
    up = np.concatenate(([-NEVER], of.up["time_ns"].cast(pl.Int64).to_numpy(), [NEVER]))
    places = np.searchsorted(up, at, side="right")
    before, after = up[places - 1], up[places]
    answered = (after - at)[(at - _SILENT_NS > before) & (after < NEVER)]
    return int(answered.min()) if len(answered) else NEVER


def _answer_ns(of: Recorded, server_ns: int) -> int:
    """Time from the first packet that can be of an answer to the client's next, which acknowledges it at the client."""
    asked_ns = of.up.filter("app")["time_ns"].min()
    if not isinstance(asked_ns, int):
        return NEVER
    begun_ns = of.down.filter("app", pl.col("time_ns") > asked_ns + server_ns // 2)["time_ns"].min()
    if not isinstance(begun_ns, int):
        return NEVER
    next_ns = of.up.filter(pl.col("time_ns") > begun_ns)["time_ns"].min()
    return next_ns - begun_ns if isinstance(next_ns, int) else NEVER
