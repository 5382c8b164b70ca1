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
    """Packets of the body as they came to the sender's link."""

    at_ns: npt.NDArray[np.int64]
    until: npt.NDArray[np.int64]
    """Bytes up to and with each packet; one element more than `at_ns`, the first 0."""
    most: npt.NDArray[np.int64]
    """The largest flight, bytes within a round trip, up to and with each packet; the first 0, as of `until`."""

    def between(self, from_ns: int, until_ns: int) -> int:
        """Bytes that came to the link within a time, its end not included."""
        first, last = np.searchsorted(self.at_ns, (from_ns, until_ns))
        return int(self.until[last] - self.until[first])

    def next(self, from_ns: int) -> int | None:
        """The instant of the first packet from an instant on; None without one."""
        at = int(np.searchsorted(self.at_ns, from_ns))
        return int(self.at_ns[at]) if at < len(self.at_ns) else None


@lru_cache(maxsize=1)
def _sent(trial: Trial) -> _Sent | None:
    """The packets of the body; None where the path's round trip, or the body's begin, is not known."""
    body = (~trial.why(*_SET_UP)).arg_true()
    if body.is_empty() or not trial.round_trip_ns:
        return None
    rows = trial.ahead.filter(pl.col("index").is_in(list(trial.own)))
    begin_ns = rows.filter(pl.col("left_ns") > trial.account["from_ns"][int(body[0])])["arrival_ns"].min()
    if not isinstance(begin_ns, int):
        return None
    rows = rows.filter(pl.col("arrival_ns") >= begin_ns).sort("arrival_ns")
    at_ns = rows["arrival_ns"].to_numpy().astype(np.int64)
    until = np.concatenate(([0], np.cumsum(rows["size_bytes"].to_numpy().astype(np.int64))))
    first = np.searchsorted(at_ns, at_ns - trial.round_trip_ns, side="right")
    flights = until[1:] - until[first]
    return _Sent(at_ns, until, np.concatenate(([0], np.maximum.accumulate(flights))))


def begin_of_body(trial: Trial) -> int | None:
    """Instant at which the first packet of the body came to the sender's link; None where that is not known."""
    sent = _sent(trial)
    return None if sent is None else int(sent.at_ns[0])


def grows(trial: Trial, edges: pl.Series) -> pl.Series:
    """Keep those of some edges, waits for a full window, that lie behind a flight larger than all before it.

    All of them where no flight is known.
    """
    sent = _sent(trial)
    if sent is None:
        return edges
    from_ns = trial.account["from_ns"].to_numpy()
    before = sent.most[np.searchsorted(sent.at_ns, from_ns - trial.round_trip_ns, side="right")]
    by_then = sent.most[np.searchsorted(sent.at_ns, from_ns, side="right")]
    return edges & pl.Series(by_then >= _GROWS * before)


def flights(trial: Trial) -> tuple[Fact, ...]:
    """The window that the sender begins with, by what it let out before the first wait in which that was full.

    Where it was not full in the first round trip, and its program had not held it back either, it had grown by then: of
    the first one only the least is known.
    """
    sent = _sent(trial)
    if sent is None:
        return ()
    begin_ns, trip_ns = int(sent.at_ns[0]), trial.round_trip_ns
    full = trial.account.filter(trial.why(Why.SLOW_START))["from_ns"]
    held_back = trial.account.filter(trial.why(*_PROGRAM))["from_ns"]
    at_ns = int(full[0]) if full.len() else None
    if at_ns is None or (at_ns > begin_ns + trip_ns and not (held_back < at_ns).any()):
        return (Fact(f"first_flight{AT_LEAST}", sent.between(begin_ns, begin_ns + trip_ns), "bytes"),)
    first, next_ns = sent.between(at_ns - trip_ns, at_ns + 1), sent.next(at_ns + 1)
    second = 0 if next_ns is None else sent.between(next_ns, next_ns + trip_ns)
    growth = (Fact("growth_per_round_trip", second / first, ""),) if first and second else ()
    return (Fact("first_flight", first, "bytes"), Fact("second_flight", second, "bytes"), *growth)
