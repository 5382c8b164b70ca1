# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: the congestion window of a sender's own log, whether it was full, and what last reduced it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.cause import Why
from quiclab.why.account.edges import Reason
from quiclab.why.account.series import Steps, steps

_DATAGRAM_BYTES = 1200
"""Least size of a datagram that can be full (RFC 9000 section 14.1)."""
_STEP_BYTES = 2 * _DATAGRAM_BYTES
"""More than a window grows at once by acknowledgments: one that goes back to what it was takes its reduction back."""
_NEAR_NS = 5_000_000
"""Time after the declaration of a loss within which a reduction of the window is taken for its consequence."""


@dataclass(frozen=True)
class History:
    """Events that tightened a window, in the order of time."""

    events: Steps[Reason]
    evidence: str
    known: bool
    """True if the log would show it."""

    def reason(self, sent_ns: int) -> Reason:
        """Reason why a window that is full at an instant has no more room."""
        last = self.events.by(sent_ns)
        if last is not None:
            return last
        return Reason(Why.SLOW_START if self.known else Why.WINDOW, self.evidence)


@dataclass(frozen=True)
class LoggedWindow:
    """The congestion window of a QUIC sender by its own log."""

    window: Steps[int]
    in_flight: Steps[int]
    history: History
    datagram_bytes: int = _DATAGRAM_BYTES
    """Size of its full datagrams: a program that sends nothing smaller has a full window with less room than that."""

    def room(self, time_ns: int) -> int | None:
        """Bytes that the window has left just before an instant; None where the log does not tell."""
        window, in_flight = self.window.before(time_ns), self.in_flight.before(time_ns)
        return None if window is None or in_flight is None else window - in_flight

    def full(self, time_ns: int) -> bool | None:
        """True if no full datagram fits just before an instant; None where the log does not tell.

        Some senders keep what is in flight below the window: room for exactly one is none to them.
        """
        room = self.room(time_ns)
        return None if room is None else room <= self.datagram_bytes


def logged_window(evidence: Evidence, index_of: dict[int, int]) -> LoggedWindow:
    """The window of the sender's own log. `index_of` has `packet_number` of 1-RTT packets → `index` in link_packets."""
    own = pl.col("vantage") == evidence.sender, ~pl.col("estimate"), pl.col("transport") == "quic"
    rows = evidence.table("transport_metrics").filter(*own)
    window = steps(rows, "cwnd_bytes")
    losses = _losses(evidence)
    lost_ns = losses["time_ns"].to_list()
    lost = [index_of.get(n) if kind == "1RTT" else None for _, n, kind in losses.iter_rows()]
    told_ns = rows["time_ns"].sort().to_list()
    recoveries = [] if _names_losses(evidence) else _recoveries(evidence)
    events: list[tuple[int, Reason]] = []
    undoable: tuple[int, Reason] | None = None
    for at, (before, after) in enumerate(zip(window.values[:-1], window.values[1:], strict=True), start=1):
        if after <= before - _DATAGRAM_BYTES:
            now = window.at_ns[at]
            since_ns = told_ns[max(0, bisect_left(told_ns, now) - 1)]
            reason = _reduced(min(since_ns, now - _NEAR_NS), now, lost_ns, lost)
            if reason.why is Why.WINDOW and _any(recoveries, now - _NEAR_NS, now + _NEAR_NS):
                reason = Reason(Why.WINDOW_AFTER_LOSS, "cc_states", now)
            events.append((now, reason))
            undoable = (before, events[-2][1] if len(events) > 1 else Reason(Why.SLOW_START, "transport_metrics"))
        elif undoable and after > before + _STEP_BYTES and abs(after - undoable[0]) <= _DATAGRAM_BYTES:
            events.append((window.at_ns[at], undoable[1]))
            undoable = None
    events.extend(_exits(evidence, events))
    events.sort(key=lambda event: event[0])
    history = History(
        Steps([at for at, _ in events], [reason for _, reason in events]), "transport_metrics", bool(window.at_ns)
    )
    return LoggedWindow(window, steps(rows, "bytes_in_flight"), history, _datagram_bytes(evidence))


def _losses(evidence: Evidence) -> pl.DataFrame:
    """Losses that the sender declared, by its log; where that declares none, by what the captures show of it."""
    rows = evidence.table("losses").filter(pl.col("vantage") == evidence.sender, pl.col("transport") == "quic")
    logged = rows.filter(~pl.col("estimate"))
    if logged.is_empty():
        logged = rows.filter(pl.col("rule") != "pto_expired")  # a probe reduces no window
    return logged.select("time_ns", "packet_number", "packet_type").sort("time_ns")


def _names_losses(evidence: Evidence) -> bool:
    """True if the sender's log declares any packet lost. Captures show a loss only when its bytes are sent again, which
    may be long after the reduction."""
    own = pl.col("vantage") == evidence.sender, pl.col("transport") == "quic", ~pl.col("estimate")
    return not evidence.table("losses").filter(*own).is_empty()


def _datagram_bytes(evidence: Evidence) -> int:
    """The size that most of the sender's full datagrams have."""
    sizes = evidence.packets(evidence.sender, evidence.way, ("udp",)).select("payload_bytes").drop_nulls()
    full = sizes.filter(pl.col("payload_bytes") >= _DATAGRAM_BYTES).group_by("payload_bytes").len()
    return int(full.sort("len", "payload_bytes")["payload_bytes"][-1]) if full.height else _DATAGRAM_BYTES


def _reduced(since_ns: int, now: int, lost_ns: list[int], lost: list[int | None]) -> Reason:
    """A reduction with the first of the losses that the sender declared with it: since the row before, or about then.

    A log may tell of a new window only with the next acknowledgment.
    """
    first = bisect_left(lost_ns, since_ns)
    end = bisect_right(lost_ns, now + _NEAR_NS)
    if first == end:
        return Reason(Why.WINDOW, "transport_metrics", now)
    # Several may be declared at once: the nearest at or before the reduction, else the first after it.
    at = max(first, min(bisect_right(lost_ns, now), end) - 1)
    while at > first and lost_ns[at - 1] > lost_ns[at] - 1_000_000:
        at -= 1
    return Reason(Why.WINDOW_AFTER_LOSS, "transport_metrics", lost_ns[at], lost[at])


def _recoveries(evidence: Evidence) -> list[int]:
    """Instants at which a log that names no lost packet says that recovery began; none where packets were marked.

    Losses and marks alone begin it (RFC 9002 section 7.3.2).
    """
    if evidence.table("link_packets").filter(pl.col("direction") == evidence.way, pl.col("ecn_ce")).height:
        return []
    own = pl.col("vantage") == evidence.sender, ~pl.col("estimate"), pl.col("new_state") == "recovery"
    return evidence.table("cc_states").filter(*own)["time_ns"].sort().to_list()


def _any(times: list[int], from_ns: int, until_ns: int) -> bool:
    return bisect_left(times, from_ns) < bisect_right(times, until_ns)


def _exits(evidence: Evidence, reductions: list[tuple[int, Reason]]) -> list[tuple[int, Reason]]:
    """The end of slow start without a reduction before it: at most one."""
    states = evidence.table("cc_states").filter(
        pl.col("vantage") == evidence.sender,
        ~pl.col("estimate"),
        pl.col("new_state").is_in(["congestion_avoidance", "recovery"]),
    )
    if states.is_empty() or states["new_state"][0] == "recovery":
        return []
    at = int(states["time_ns"].min())  # type: ignore[arg-type]
    if reductions and reductions[0][0] <= at:
        return []
    return [(at, Reason(Why.WINDOW_AFTER_EXIT, "cc_states", at))]
