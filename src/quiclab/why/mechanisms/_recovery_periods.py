# SPDX-License-Identifier: Apache-2.0
"""Recovery periods of a QUIC sender by its own log, and the reductions of the window within them.

A reduction begins a recovery period. Losses of packets that were sent before it belong to the same episode, and are to
reduce nothing more (RFC 9002 section 7.3.2).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from quiclab.why.account.series import steps
from quiclab.why.mechanisms._trial import Trial
from quiclab.why.mechanisms._window_course import full_bytes

_NEAR_NS = 5_000_000
"""Distance in time of a log's word of a loss and that of the smaller window."""
_FULL = (0.4, 0.86)
"""Share of the window that a reduction leaves: 0.85 is the most in use. Some senders reduce it bit by bit (RFC 6937),
and persistent congestion takes all but the least (RFC 9002 section 7.6)."""
_LEFT_AT_MOST = 0.495
"""Share of the window that is left of an episode which reduced it twice. No algorithm leaves less than half in one:
half by RFC 9002 section 7.3.2, 0.7 by RFC 9438 section 4.6, and 0.49 is 0.7 twice."""


@dataclass(frozen=True)
class Reduced:
    """Recovery period in which the window was reduced more than once."""

    again_ns: int
    """Instant of the second reduction by the log."""
    until_ns: int | None
    """Instant of the reduction that begins the next period; None of the last."""
    before: int
    """Window before the period, in bytes."""
    once: int
    """Window that its first reduction left."""
    least: int
    """Window that all of them left."""
    reductions: int


@dataclass(frozen=True)
class _Step:
    """One reduction."""

    at_ns: int
    before: int
    after: int
    since_ns: int
    """Instant of the first loss that the log declares about then: the recovery period begins no earlier."""
    sent_ns: int
    """Instant at which the last of the packets was sent that were declared lost about then."""

    @property
    def full(self) -> bool:
        return _FULL[0] <= self.after / self.before <= _FULL[1]


def reduced_again(trial: Trial) -> list[Reduced]:
    """Recovery periods with more than one full reduction, that left less than half of the window.

    None of a sender with a model of the path, whose window is no matter of its losses, of a path that marks packets,
    nor of a log that does not name the lost packets.
    """
    evidence = trial.evidence
    if not evidence.quic or trial.modelled:
        return []
    if evidence.table("link_packets").filter(pl.col("direction") == trial.way, pl.col("ecn_ce")).height:
        return []
    found = _steps(trial)
    begins: list[int] = []
    for at, step in enumerate(found):
        if not begins or step.sent_ns >= found[begins[-1]].since_ns:
            begins.append(at)
    periods = []
    for first, end in pairwise([*begins, len(found)]):
        period = found[first:end]
        full = [step for step in period if step.full]
        if len(full) < 2 or full[0] is not period[0] or full[-1].after > _LEFT_AT_MOST * period[0].before:
            continue
        until_ns = found[end].at_ns if end < len(found) else None
        once = period[0].after
        periods.append(Reduced(full[1].at_ns, until_ns, period[0].before, once, period[-1].after, len(full)))
    return periods


def _steps(trial: Trial) -> list[_Step]:
    """Reductions by a full packet and more, with a loss that the log declares about then and whose packet it shows."""
    own = pl.col("vantage") == trial.evidence.sender, ~pl.col("estimate"), pl.col("transport") == "quic"
    window = steps(trial.evidence.table("transport_metrics").filter(*own), "cwnd_bytes")
    key = ("packet_type", "packet_number")
    losses = trial.evidence.table("losses").filter(*own).select("time_ns", *key).drop_nulls()
    sent = trial.evidence.table("packets").filter(pl.col("vantage") == trial.evidence.sender, pl.col("event") == "sent")
    sent = sent.drop_nulls(("time_ns", *key)).group_by(key).agg(pl.col("time_ns").max().alias("sent_ns"))
    losses = losses.join(sent, on=key, how="left").sort("time_ns")
    at_ns, sent_ns = losses["time_ns"].to_list(), losses["sent_ns"].to_list()
    full = full_bytes(trial)
    found = []
    for at in range(1, len(window.values)):
        before, after, now = window.values[at - 1], window.values[at], window.at_ns[at]
        if after > before - full:
            continue
        first, end = bisect_left(at_ns, now - _NEAR_NS), bisect_right(at_ns, now + _NEAR_NS)
        together = sent_ns[first:end]
        if not together or None in together:
            return []
        found.append(_Step(now, before, after, at_ns[first], max(together)))
    return found
