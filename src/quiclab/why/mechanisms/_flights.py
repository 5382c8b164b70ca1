# SPDX-License-Identifier: Apache-2.0
"""Flights of the bodies' sender: what it let out in each round trip, and where these grow no more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.model.cause import Why
from quiclab.why.mechanisms._api import Fact
from quiclab.why.mechanisms._trial import Trial

_GROWS = 1.15
"""Growth over the largest flight before it that a flight must have, for the window to have grown: slow start makes it
half as large again at least, whatever part of the packets is acknowledged apart."""
_SHORT = 0.5
"""Share of a round trip below which a wait is one between two acknowledgments of one flight."""
FIRST_FLIGHT = "first_flight"
AT_LEAST = "_at_least"
"""End of the name of a number whose least value alone is known."""
_SET_UP = (
    Why.TCP_HANDSHAKE, Why.TLS_ROUND_TRIP, Why.QUIC_HANDSHAKE, Why.HELLO_RETRY_REQUEST, Why.RETRY, Why.SET_UP,
    Why.AMPLIFICATION_LIMIT, Why.SET_UP_LOSS, Why.REQUEST,
)  # fmt: skip


_PROGRAM = (
    Why.APPLICATION, Why.PACING, Why.NAGLE, Why.CORK, Why.KEPT_IN_KERNEL, Why.PACING_OR_PROGRAM,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Sent:
    """Packets with data as they came to the sender's link, of the handshake too: they fill the window as well."""

    at_ns: npt.NDArray[np.int64]
    until: npt.NDArray[np.int64]
    """Bytes up to and with each packet; one element more than `at_ns`, the first 0."""
    begin_ns: int
    """Arrival of the first packet of the body."""
    most: npt.NDArray[np.int64]
    """The largest flight of the body, bytes within a round trip, up to and with each packet; the first 0, as of
    `until`."""

    def flight(self, from_ns: int, until_ns: int) -> _Flight:
        """Packets that came to the link within a time, its end not included."""
        first, last = np.searchsorted(self.at_ns, (from_ns, until_ns))
        return _Flight(int(last - first), int(self.until[last] - self.until[first]))

    def last(self, at_ns: int) -> int | None:
        """The instant of the last packet up to an instant; None without one."""
        at = int(np.searchsorted(self.at_ns, at_ns, side="right"))
        return int(self.at_ns[at - 1]) if at else None

    def next(self, from_ns: int) -> int | None:
        """The instant of the first packet from an instant on; None without one."""
        at = int(np.searchsorted(self.at_ns, from_ns))
        return int(self.at_ns[at]) if at < len(self.at_ns) else None


@dataclass(frozen=True)
class _Flight:
    """Packets that came to the sender's link within a time."""

    packets: int
    bytes: int

    def as_facts(self, name: str, end: str = "") -> tuple[Fact, ...]:
        """Return the flight as facts of that name: its bytes and its packets."""
        return (Fact(f"{name}{end}", self.bytes, "bytes"), Fact(f"packets_in_{name}{end}", self.packets, ""))


@lru_cache(maxsize=1)
def _sent(trial: Trial) -> _Sent | None:
    """The packets with data; None where the path's round trip, or the body's begin, is not known."""
    body = (~trial.why(*_SET_UP)).arg_true()
    if body.is_empty() or not trial.round_trip_ns:
        return None
    data = trial.data_packets["packet_index"].drop_nulls().unique()
    rows = trial.ahead.filter(pl.col("index").is_in(data.to_list())).sort("arrival_ns")
    begin_ns = rows.filter(pl.col("left_ns") > trial.account["from_ns"][int(body[0])])["arrival_ns"].min()
    if not isinstance(begin_ns, int):
        return None
    at_ns = rows["arrival_ns"].to_numpy().astype(np.int64)
    until = np.concatenate(([0], np.cumsum(rows["size_bytes"].to_numpy().astype(np.int64))))
    first = np.searchsorted(at_ns, at_ns - trial.round_trip_ns, side="right")
    flights = np.where(at_ns >= begin_ns, until[1:] - until[first], 0)
    return _Sent(at_ns, until, begin_ns, np.concatenate(([0], np.maximum.accumulate(flights))))


def begin_of_body(trial: Trial) -> int | None:
    """Instant at which the first packet of the body came to the sender's link; None where that is not known."""
    sent = _sent(trial)
    return None if sent is None else sent.begin_ns


def grows(trial: Trial, edges: pl.Series) -> pl.Series:
    """Keep those of some edges, waits for a full window, that lie behind a flight larger than all before it: of a wait
    all edges or none.

    Acknowledgments may come in several parts: a short wait between two of them is one for the rest of the flight, and
    goes with the long wait before it. All of them where no flight is known.
    """
    sent = _sent(trial)
    if sent is None:
        return edges
    from_ns, until_ns, trip_ns = trial.account["from_ns"], trial.account["until_ns"], trial.round_trip_ns
    grown_ns = -trip_ns
    """End of the last wait behind a larger flight."""

    def is_larger(first: int, after: int) -> bool:
        nonlocal grown_ns
        # Counted to the last arrival and not to the wait's begin: the link served the flight until then.
        full_ns = sent.last(from_ns[first])
        before, by_then = np.searchsorted(sent.at_ns, ((full_ns or 0) - trip_ns, full_ns or 0), side="right")
        if sent.most[by_then] >= _GROWS * sent.most[before]:
            grown_ns = until_ns[after - 1]
            return True
        is_short = until_ns[after - 1] - from_ns[first] < _SHORT * trip_ns
        return bool(is_short and from_ns[first] < grown_ns + trip_ns)

    return trial.keep_runs(edges, is_larger)


def flights(trial: Trial) -> tuple[Fact, ...]:
    """The window that the sender begins with, by what it let out before the first wait in which that was full, and how
    much larger the next flight is: of TCP, whose window counts segments, by packets, of QUIC by bytes.

    Where it was not full in the first round trip, and its program had not held it back either, it had grown by then: of
    the first one only the least is known.
    """
    sent = _sent(trial)
    if sent is None:
        return ()
    trip_ns = trial.round_trip_ns
    waits = trial.times(trial.why(Why.SLOW_START))
    held_back = trial.account.filter(trial.why(*_PROGRAM))["from_ns"]
    full_ns = sent.last(waits[0][0]) if waits else None
    if full_ns is None or (full_ns > sent.begin_ns + trip_ns and not (held_back < full_ns).any()):
        return sent.flight(sent.begin_ns, sent.begin_ns + trip_ns).as_facts(FIRST_FLIGHT, AT_LEAST)
    first, next_ns = sent.flight(full_ns - trip_ns + 1, full_ns + 1), sent.next(full_ns + 1)
    if next_ns is None:
        return first.as_facts(FIRST_FLIGHT)
    second = sent.flight(next_ns, next_ns + trip_ns)
    facts = (*first.as_facts(FIRST_FLIGHT), *second.as_facts("second_flight"))
    if sent.next(next_ns + trip_ns) is None:  # the data, and no window, ended the second one
        return facts
    growth = second.bytes / first.bytes if trial.evidence.quic else second.packets / first.packets
    return (*facts, Fact("growth_per_round_trip", growth, ""))
