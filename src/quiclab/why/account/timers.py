# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: timers of a sender that expired, by its own log or, of TCP, by its capture."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.cause import Why
from quiclab.why.account.edges import Reason

_NEAR_NS = 2_000_000
"""Longest time from a timer's end in a log to the packet that follows it."""
_AT_ONCE_NS = 250_000
"""Longest time from a packet's arrival to the losses that a sender declares because of it: of 1,586 that quic-go
declared by packet numbers, on a quiet machine, 99 % came within 0.22 ms."""
_READ_NS = 100_000
"""Longest time between a sender's log of a packet, which some write after all it leads to, and of these losses."""
_OF_TIMER = {"pto": Why.PROBE_TIMER, "rto": Why.LOSS_TIMER, "loss": Why.LOSS_TIMER, "loss_timeout": Why.LOSS_TIMER}
_OF_RULE = {
    "time_threshold": Why.LOSS_TIMER,
    "timeout": Why.LOSS_TIMER,
    "pto_expired": Why.PROBE_TIMER,
    "tail_loss_probe": Why.PROBE_TIMER,
}


@dataclass(frozen=True)
class Expired:
    """Timers that expired, in the order of time."""

    at_ns: list[int]
    reasons: list[Reason]
    declared_ns: list[int]
    """Instants at which the sender's own log declares a loss, in order."""
    by_sending: frozenset[Reason]
    """Reasons that an acknowledgment may be behind as well: a loss by a time threshold that is declared as one comes,
    when it is looked at, too, and a loss that only the capture tells, by what was sent again: of several that one
    timeout declares all but the first wait for an acknowledgment."""

    def reason(self, came_ns: int | None, sent_ns: int, *, prompted: bool) -> Reason | None:
        """The timer that had just ended when a packet was sent, if no packet came to the sender since."""
        first = bisect_left(self.at_ns, max(sent_ns - _NEAR_NS, came_ns or 0))
        end = bisect_right(self.at_ns, sent_ns + 100_000)
        found = self.reasons[first:end]
        return next((each for each in reversed(found) if not (prompted and each in self.by_sending)), None)

    def declared_loss(self, since_ns: int, sent_ns: int) -> bool:
        """True if the sender declared a loss between an instant and its next sending."""
        return bisect_left(self.declared_ns, since_ns) < bisect_right(self.declared_ns, sent_ns + 100_000)


def expired(evidence: Evidence) -> Expired:
    """The sender's timers. A loss that a time threshold declares is one: QUIC's log may not name its timer."""
    sender = pl.col("vantage") == evidence.sender
    timers = evidence.table("timers").filter(sender, pl.col("event") == "expired", pl.col("timer").is_in([*_OF_TIMER]))
    losses = evidence.table("losses").filter(
        sender, pl.col("direction").is_null() | (pl.col("direction") == evidence.way)
    )
    own = losses.filter(~pl.col("estimate"))["time_ns"].sort().to_list()
    losses = losses.filter(pl.col("rule").is_in([*_OF_RULE]))
    if evidence.quic and losses.filter(~pl.col("estimate")).height:  # a log knows better than a capture
        losses = losses.filter(~pl.col("estimate"))
    found = [(at, Reason(_OF_TIMER[name], "timers", at)) for at, name in timers.select("time_ns", "timer").iter_rows()]
    came_ns, read_ns = _arrivals(evidence)
    declared = [
        (
            at,
            estimate or (rule == "time_threshold" and _as_one_came(at, came_ns, read_ns)),
            Reason(_OF_RULE[rule], "losses", at),
        )
        for at, rule, estimate in losses.select("time_ns", "rule", "estimate").iter_rows()
    ]
    found += [(at, reason) for at, _, reason in declared]
    found.sort(key=lambda each: each[0])
    by_sending = frozenset(reason for _, unsure, reason in declared if unsure)
    return Expired([at for at, _ in found], [reason for _, reason in found], own, by_sending)


def _arrivals(evidence: Evidence) -> tuple[list[int], list[int]]:
    """Instants at which packets came to the sender, and at which its log shows packets that came, in order."""
    came = evidence.packets(evidence.sender, "down" if evidence.way == "up" else "up")["time_ns"]
    logged = pl.col("event") == "received", pl.col("transport") == "quic", pl.col("ip_packet").is_null()
    read = evidence.table("packets").filter(pl.col("vantage") == evidence.sender, *logged)["time_ns"]
    return came.sort().to_list(), read.sort().to_list()


def _as_one_came(at_ns: int, came_ns: list[int], read_ns: list[int]) -> bool:
    """True if a packet that came may have led to what a log tells of an instant."""
    return any(
        bisect_left(times, at_ns - before_ns) < bisect_right(times, at_ns + after_ns)
        for times, before_ns, after_ns in ((came_ns, _AT_ONCE_NS, 0), (read_ns, _READ_NS, _READ_NS))
    )
