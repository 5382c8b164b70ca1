# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why* where no log of the sender is: its congestion window by the bytes that its capture has in flight.

A sender that an acknowledgment prompts had a limit of its own until then. Two limits leave their mark in the bytes in
flight (RFC 5681 sections 3.1 and 3.2, RFC 9002 sections 7.3.1 and 7.3.2). In slow start they grow by what is
acknowledged, so that they double within a round trip, which no buffer, no credit and no program of constant speed lets
happen. After a loss there are fewer than before it until the window has grown again, while all other limits are where
they were. What shows neither stays without a name.

A window in slow start is known from then on: it grows by every byte that is acknowledged. A flight of just that size
has it full, also where the data or another limit end before the next flight could show its growth.

Behind slow start, and before any loss, the flights of all further round trips tell more. Where each is as large as the
one before or larger, and they grow little by little, slow start was left: no buffer, credit or program grows like
that. Where they do not grow at all, it is a bound of the window, or of something else that is as constant; over
QUIC a buffer and credit show by themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.cause import Why
from quiclab.why.account.edges import Reason
from quiclab.why.account.kernel import in_the_links_log, models_the_path
from quiclab.why.account.series import Steps, steps

_DOUBLES = 1.5
"""Growth of the bytes in flight within a round trip that only slow start has; with delayed acknowledgments it is that
(RFC 5681 section 3.1, RFC 3465)."""
_GROWS = 1.15
"""Growth from which on it is told by what lets it grow, where something ends it before it has reached that."""
_BY_ACKS = (0.75, 1.25)
"""Growth of the bytes in flight by the byte that is acknowledged: 1 in slow start, 0 at a limit that is constant, at
most a half in congestion avoidance (RFC 9438 section 4.4), and more where a program had held them back."""
_FEW_TRIPS, _MANY_TRIPS = 6, 10
"""Round trips behind slow start over which flights must have grown for it to have been left, and must not have for the
window to be at a bound: congestion avoidance adds a packet in two round trips at least (RFC 9438 section 4.3)."""
_LEAST_BYTES = 2 * 1_200
"""Bytes in flight below which no window is full: two segments or datagrams are the least of one (RFC 5681 section 3.1,
RFC 9002 section 7.2)."""
_LEAST_FULL_BYTES = 500
"""Payload below which a packet is taken for one without data, or with little: the least that TCP takes for full is 536
(RFC 9293 section 3.7.1)."""
_AS_MUCH = 0.95
"""Share from which on as much is in flight as at another time: a full window, or one that no loss has reduced."""
_EVIDENCE = "transport_metrics"
AT_A_BOUND = "unacknowledged"
"""Evidence of a window that is full, was never reduced, and does not grow."""


@dataclass(frozen=True)
class CapturedWindow:
    """Bytes in flight of a sender by its capture, with the losses that it shows."""

    in_flight: Steps[int]
    losses: Steps[Reason]
    """The first loss of each round trip: what a window that is reduced since goes back to."""
    round_trip_ns: int | None
    blocked: Steps[bool]
    """True while TCP's receive window has no room for what the sender has to send."""
    full_bytes: int | None = None
    """Size of a full packet in the bytes in flight; None where most packets are not full."""
    shows_others: bool = False
    """True if all else that is constant would show by itself: credit and buffer of a stream, as over QUIC, and no
    congestion control has bounds of its own."""

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
            grows = self._grows(time_ns, before) or self._as_predicted(time_ns, before)
            return Reason(Why.SLOW_START, _EVIDENCE) if grows else self._behind_slow_start(time_ns, before)
        lost_ns = lost.event_ns or 0
        peak = self._most(lost_ns - 2 * self.round_trip_ns, lost_ns)
        since = self._most(lost_ns + self.round_trip_ns, time_ns - 1)
        return lost if max(before, since) < _AS_MUCH * peak else None

    def in_slow_start(self) -> tuple[Steps[int], Steps[float]]:
        """The window, and the smoothed round trip in ms (RFC 9002 section 5.3), while slow start shows and nothing is
        lost; no steps where it does not."""
        lost_ns = self.losses.at_ns[0] if self.losses.at_ns else None
        at_ns = [at for at in self.in_flight.at_ns if lost_ns is None or at < lost_ns]
        if not self._growths or not at_ns:
            return Steps([], []), Steps([], [])
        acknowledged, in_flight = self._acknowledged.values, self.in_flight.values
        windows, trips, smoothed, left = [], [], 0.0, 0
        for at, now in enumerate(at_ns):
            while acknowledged[left] + in_flight[left] < acknowledged[at]:
                left += 1
            if at and acknowledged[at] > acknowledged[at - 1]:
                trip = (now - at_ns[left]) / 1e6
                smoothed = smoothed * 7 / 8 + trip / 8 if smoothed else trip
            trips.append(smoothed or (self.round_trip_ns or 0) / 1e6)
            windows.append(self._predicted(now) + acknowledged[at] - self._acknowledged_by(now))
        return Steps(at_ns, windows), Steps(at_ns, trips)

    def _grows(self, time_ns: int, before: int) -> bool:
        """True if slow start shows behind an instant: as much was in flight as lately, and then grew as only that lets
        it."""
        trip_ns = self.round_trip_ns or 0
        lately = self._most(time_ns - trip_ns, time_ns - 1)
        if before < _AS_MUCH * lately:  # a sender that paces leaves room in its window
            return False
        later = self._most(time_ns, time_ns + trip_ns)
        if later >= _DOUBLES * before or later < _GROWS * before:
            return later >= _DOUBLES * before
        at_ns = next(at for at, value in self.in_flight.within(time_ns - 1, time_ns + trip_ns) if value == later)
        acknowledged = self._acknowledged_by(at_ns + 1) - self._acknowledged_by(time_ns)
        least, most = _BY_ACKS
        return least * acknowledged <= later - before <= most * acknowledged

    def _as_predicted(self, time_ns: int, before: int) -> bool:
        """True if as much is in flight as the window has grown to since slow start last showed."""
        shown = bool(self._growths) and self._growths[0][0] < time_ns
        return shown and before >= _AS_MUCH * self._predicted(time_ns)

    def _predicted(self, time_ns: int) -> int:
        """The window just before an instant by what was acknowledged since slow start last showed, or until it first
        did."""
        then_ns, then = self._growths[max(0, bisect_left(self._growths, (time_ns, 0)) - 1)]
        return then + self._acknowledged_by(time_ns) - self._acknowledged_by(then_ns)

    def _behind_slow_start(self, time_ns: int, before: int) -> Reason | None:
        """Reason why a window that slow start grows no more is full; None where the flights do not show it."""
        trip_ns, full = self.round_trip_ns or 0, self.full_bytes
        from_ns, flights = self._flights_behind
        lately = self._most(time_ns - trip_ns, time_ns - 1)
        if full is None or not flights or time_ns < from_ns or before < min(_AS_MUCH * lately, lately - full):
            return None
        grown = flights[-1] - flights[0]
        rises = all(_AS_MUCH * last <= now <= last + grown / 2 for last, now in pairwise(flights))
        if rises and len(flights) >= _FEW_TRIPS and grown >= 2 * full:
            return Reason(Why.WINDOW_AFTER_EXIT, _EVIDENCE, from_ns)
        flat = len(flights) >= _MANY_TRIPS and max(flights) - min(flights) < full
        return Reason(Why.SLOW_START, AT_A_BOUND) if flat and self.shows_others else None

    @cached_property
    def _flights_behind(self) -> tuple[int, list[int]]:
        """The instant at which slow start last showed, or at which a window was first full, and the largest flight of
        each round trip from then on, until the first loss or the last data."""
        trip_ns = self.round_trip_ns or 0
        flights = list(zip(self.in_flight.at_ns, self.in_flight.values, strict=True))
        sent = [at for (_, last), (at, now) in pairwise(flights) if now > last]
        begun = [at for at, value in flights if value >= _LEAST_BYTES]
        if not trip_ns or not sent or not begun:
            return 0, []
        lost_ns = self.losses.at_ns[0] if self.losses.at_ns else sent[-1]
        from_ns = self._growths[-1][0] if self._growths else begun[0]
        first_ns, end_ns = from_ns + trip_ns, min(lost_ns, sent[-1])
        return from_ns, [self._most(at, at + trip_ns) for at in range(first_ns, end_ns - trip_ns, trip_ns)]

    def _acknowledged_by(self, time_ns: int) -> int:
        """Bytes that were acknowledged before an instant; those that were lost count among them."""
        return self._acknowledged.before(time_ns) or 0

    @cached_property
    def _acknowledged(self) -> Steps[int]:
        values = self.in_flight.values
        fewer = accumulate((max(0, last - now) for last, now in pairwise(values)), initial=0)
        return Steps(self.in_flight.at_ns, list(fewer) if values else [])

    @cached_property
    def _growths(self) -> list[tuple[int, int]]:
        """Instants, before the first loss, at which slow start shows behind an acknowledgment, and the bytes in flight
        just before."""
        first_ns = self.losses.at_ns[0] if self.losses.at_ns else None
        flights = zip(self.in_flight.at_ns, self.in_flight.values, strict=True)
        found = []
        for (_, last), (at_ns, now) in pairwise(flights):
            if first_ns is not None and at_ns >= first_ns:
                break
            before = self.in_flight.before(at_ns) or 0
            if now < last and before >= _LEAST_BYTES and self._grows(at_ns, before):
                found.append((at_ns, before))
        return found

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
        full_packet_bytes(evidence),
        evidence.quic and not models_the_path(evidence.trial.asked.congestion_control),
    )


def full_packet_bytes(evidence: Evidence) -> int | None:
    """Payload of the sender's full packets in its capture; None where less than half of those with data are full, as
    where a network card cuts them."""
    sizes = evidence.packets(evidence.sender, evidence.way)["payload_bytes"].drop_nulls()
    sizes = sizes.filter(sizes >= _LEAST_FULL_BYTES)
    full = sizes.max() if sizes.len() else None
    return full if isinstance(full, int) and 2 * (sizes == full).sum() >= sizes.len() else None


def _blocked(evidence: Evidence) -> Steps[bool]:
    rows = evidence.table("flow_control").filter(
        pl.col("vantage") == evidence.sender,
        pl.col("direction") == evidence.way,
        pl.col("scope") == "receive_window",
        pl.col("event").is_in(["blocked", "unblocked"]),
    )
    rows = rows.sort("time_ns", maintain_order=True)
    return Steps(rows["time_ns"].to_list(), (rows["event"] == "blocked").to_list())
