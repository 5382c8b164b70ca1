# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why* where no log of the sender is: its congestion window by the bytes that its capture has in flight.

A sender that an acknowledgment prompts had a limit of its own until then. Two limits leave their mark in the bytes in
flight (RFC 5681 sections 3.1 and 3.2, RFC 9002 sections 7.3.1 and 7.3.2). In slow start they double within a round
trip, which no buffer, no credit and no program of constant speed lets happen. After a loss there are fewer than before
it until the window has grown again, while all other limits are where they were. What shows neither stays without a
name.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.cause import Why
from quiclab.why.account.edges import Reason
from quiclab.why.account.kernel import in_the_links_log
from quiclab.why.account.series import Steps, steps

_DOUBLES = 1.5
"""Growth of the bytes in flight within a round trip that only slow start has; with delayed acknowledgments it is that
(RFC 5681 section 3.1, RFC 3465)."""
_LEAST_BYTES = 2 * 1_200
"""Bytes in flight below which no window is full: two segments or datagrams are the least of one (RFC 5681 section 3.1,
RFC 9002 section 7.2)."""
_AS_MUCH = 0.95
"""Share from which on as much is in flight as at another time: a full window, or one that no loss has reduced."""
_EVIDENCE = "transport_metrics"


@dataclass(frozen=True)
class CapturedWindow:
    """Bytes in flight of a sender by its capture, with the losses that it shows."""

    in_flight: Steps[int]
    losses: Steps[Reason]
    """The first loss of each round trip: what a window that is reduced since goes back to."""
    round_trip_ns: int | None
    blocked: Steps[bool]
    """True while TCP's receive window has no room for what the sender has to send."""

    def reason(self, time_ns: int) -> Reason | None:
        """Reason why the sender had waited for the packet that came at an instant; None where its capture does not show
        it."""
        if self.blocked.before(time_ns):
            return Reason(Why.RECEIVE_WINDOW, "flow_control")
        before = self.in_flight.before(time_ns)
        if before is None or before < _LEAST_BYTES or self.round_trip_ns is None:
            return None
        lost = self.losses.by(time_ns)
        if lost is None:
            later = self._most(time_ns, time_ns + self.round_trip_ns)
            lately = self._most(time_ns - self.round_trip_ns, time_ns - 1)
            full = before >= _AS_MUCH * lately  # a sender that paces leaves room in its window
            return Reason(Why.SLOW_START, _EVIDENCE) if full and later >= _DOUBLES * before else None
        lost_ns = lost.event_ns or 0
        peak = self._most(lost_ns - 2 * self.round_trip_ns, lost_ns)
        since = self._most(lost_ns + self.round_trip_ns, time_ns - 1)
        return lost if max(before, since) < _AS_MUCH * peak else None

    def _most(self, from_ns: int, until_ns: int) -> int:
        """Most bytes in flight from one instant to another."""
        within = [value for _, value in self.in_flight.within(from_ns, until_ns)]
        return max([self.in_flight.by(from_ns) or 0, *within])


def captured_window(evidence: Evidence, index_of: dict[int, int]) -> CapturedWindow:
    """The window of the sender by its capture. `index_of` has `packet_number` of QUIC's 1-RTT packets → `index` in
    link_packets."""
    own = pl.col("vantage") == evidence.sender, pl.col("estimate")
    rows = evidence.table("transport_metrics").filter(*own)
    round_trips = rows["min_rtt_ms"].drop_nulls()
    round_trip_ns = round(float(round_trips[-1]) * 1e6) if len(round_trips) else None
    lost = evidence.table("losses").filter(*own, pl.col("direction") == evidence.way, pl.col("rule") != "pto_expired")
    lost = lost.sort("time_ns", maintain_order=True)
    segments = in_the_links_log(evidence, lost)
    events: list[tuple[int, Reason]] = []
    packets = lost.select("time_ns", "packet_number", "packet_type").iter_rows()
    for (time_ns, number, kind), segment in zip(packets, segments, strict=True):
        if events and round_trip_ns is not None and time_ns - events[-1][0] <= round_trip_ns:
            continue
        index = index_of.get(number) if kind == "1RTT" else segment
        events.append((time_ns, Reason(Why.WINDOW_AFTER_LOSS, _EVIDENCE, time_ns, index)))
    return CapturedWindow(
        steps(rows, "bytes_in_flight"),
        Steps([at for at, _ in events], [why for _, why in events]),
        round_trip_ns,
        _blocked(evidence),
    )


def _blocked(evidence: Evidence) -> Steps[bool]:
    rows = evidence.table("flow_control").filter(
        pl.col("vantage") == evidence.sender,
        pl.col("direction") == evidence.way,
        pl.col("scope") == "receive_window",
        pl.col("event").is_in(["blocked", "unblocked"]),
    )
    rows = rows.sort("time_ns", maintain_order=True)
    return Steps(rows["time_ns"].to_list(), (rows["event"] == "blocked").to_list())
