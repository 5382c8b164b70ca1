# SPDX-License-Identifier: Apache-2.0
"""The account of what comes before the bodies: the handshake, round trip by round trip, and the request's way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.evidence.metrics.evidence import End
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.amplification import Amplification
from quiclab.why.account.critical_path import Before, Cause, Leg, Path, back, crossing, last_with_more, queue_back
from quiclab.why.account.edges import PROMPT_NS, Edge, Reason
from quiclab.why.account.handshakes import at_client
from quiclab.why.account.request import Answering

_ANSWERS = ("syn_ack", "server_hello", "hello_retry_request", "retry", "version_negotiation")
"""Steps of the server's that make a round trip one of the handshake."""


@dataclass(frozen=True)
class Trip:
    """A round trip, from one sending of the client to what follows the answer."""

    begin_ns: int
    edges: tuple[Edge, ...]
    """Latest first."""
    servers: tuple[Leg, ...]
    repeats: bool
    """True if the client's sending that follows it repeats what was lost."""
    receipt: bool = False
    """True if the client's sending that begins it has acknowledgments alone."""

    @property
    def until_ns(self) -> int:
        """End of the trip."""
        return self.edges[0].until_ns if self.edges else self.begin_ns


@dataclass(frozen=True)
class SetUp:
    """Handshake and other events before the bodies, as far as they are known."""

    evidence: Evidence
    path: Path
    amplification: Amplification
    asked_ns: int | None = None
    """Instant at which the server had the whole request that it answers first, of an upload all of it; None where
    nothing shows it."""

    def set_up_edges(self, position: int, zero_ns: int) -> list[Edge]:
        """Edges from the client's first packet to the one at a position up that can carry the request, in order."""
        trips = self._trips("client", position, zero_ns - 1, [])
        edges = (
            edge for trip in trips for edge in self._with_reasons(trip, self._trip_reason(trip), lost=trip.repeats)
        )
        return _cut(reversed(list(edges)), zero_ns)

    def request_edges(self, position: int, place: int, from_ns: int) -> list[Edge]:
        """Edges from the departure of the first packet that can carry the request to the begin of service of the first
        packet of the bodies' sender, at a position in its direction, by the link at a place of its course, in order.

        A round trip in which the handshake goes on, as after early data, is one of the handshake; all others before the
        client repeats what was lost are time of its timer.
        """
        queued, first = queue_back(self.path, self.path.ahead, position, place)
        edges: list[Edge] = []
        lost = False
        for number, trip in enumerate(self._trips(self.path.sender, first, from_ns, queued)):
            # The last one ends with the response, whatever else comes to the client meanwhile.
            goes_on = number and self._answers(trip).intersection(_ANSWERS)
            lost |= trip.repeats
            of_set_up = self._trip_reason(trip) if goes_on or self._limited(trip) else None
            edges += self._with_reasons(trip, of_set_up, lost=trip.repeats if of_set_up else lost)
        return _cut(reversed(list(self._kept_back(edges, first))), from_ns)

    def _kept_back(self, edges: Iterable[Edge], position: int) -> Iterator[Edge]:
        """The edges of a request, latest first; from its arrival on the server's transport is why, where that had the
        answer and kept it until an acknowledgment came."""
        if self.path.sender == "client":
            yield from edges
            return
        sent_ns = self.path.ahead.arrival[position]
        answering, came = self._answering, self.path.up.last_came(sent_ns)
        came_ns = 0 if came is None else self.path.up.written[came] or 0
        if answering is None or came_ns <= answering.came_ns or not answering.held(sent_ns, came_ns):
            yield from edges
            return
        reason = answering.kept_for(sent_ns, came_ns)
        for edge in edges:
            if edge.until_ns > answering.came_ns and edge.reason.why is Why.REQUEST and edge.from_ns < sent_ns:
                yield replace(edge.clipped(answering.came_ns), reason=reason)
                edge = replace(edge, until_ns=max(edge.from_ns, answering.came_ns))
            yield edge

    @cached_property
    def _answering(self) -> Answering | None:
        known = self.asked_ns is not None
        return Answering(self.evidence, self.path, self.amplification, self.asked_ns or 0) if known else None

    def answer_edges(self, position: int, from_ns: int) -> list[Edge]:
        """Edges from the arrival of an upload's last byte to that of the packet at a position down that completes the
        server's answer, in order; a proxy's answer waits for that of its origin."""
        down = self.path.down
        edges, first = crossing(self.path, down, position)
        origin, sent_ns = self.path.origin, down.arrival[first]
        last = origin.answered(sent_ns, from_ns) if origin else None
        if origin is not None and last is not None:
            edges += origin.edges(last, sent_ns, from_ns)
        else:
            edges += [edge for leg in back(self.path, "server", first, from_ns, self._cause) for edge in leg.edges]
        usual = Reason(Why.ANSWER, "ip_packets")
        named = (replace(e, reason=self._timer() if e.what is What.TIMER else usual) for e in reversed(edges))
        return _cut(named, from_ns)

    def repeated_edges(self, end: End, position: int, from_ns: int) -> list[Edge]:
        """Edges back from a sending at one end to an instant before it, latest first; a timer's have that as reason."""
        edges = [edge for trip in self._trips(end, position, from_ns, []) for edge in trip.edges]
        named = (replace(e, reason=self._timer()) if e.what is What.TIMER else e for e in edges)
        return [edge.clipped(from_ns) for edge in named if edge.until_ns > from_ns]

    def _trips(self, end: End, position: int, floor_ns: int, edges: list[Edge]) -> list[Trip]:
        """Round trips of the way back from a packet's sending to `floor_ns`, latest first; `edges` come after it."""
        trips: list[Trip] = []
        servers: list[Leg] = []
        repeats = end == "client" and self._repeats(position)
        for leg in back(self.path, end, position, floor_ns, self._cause):
            if leg.end == "client" and (leg.end, leg.position) != (end, position):
                began = self.path.content(self.path.up, leg.position)
                receipt = began is not None and began.what is What.ACKNOWLEDGMENTS
                trips.append(Trip(leg.sent_ns, tuple(edges), tuple(servers), repeats, receipt))
                edges, servers, repeats = [], [], self._repeats(leg.position)
            elif leg.end == "server":
                servers.append(leg)
            edges += leg.edges if end == "client" else self._over_origin(leg)
        if edges:
            trips.append(Trip(max(floor_ns, 0), tuple(edges), tuple(servers), repeats))
        return trips

    def _over_origin(self, leg: Leg) -> Iterable[Edge]:
        """Edges back from the sending of an answer, latest first; a proxy asks its origin before it."""
        if leg.end != "server":
            return leg.edges
        asked = self._asked_for(leg.sent_ns)
        came = self.path.up.last_came(leg.sent_ns) if asked is None else asked
        return leg.edges if came is None else over_origin(self.path, leg, self.path.up.written[came] or 0)

    def _asked_for(self, sent_ns: int) -> int | None:
        """Position up of the packet for which a proxy asked the origin whose data it has had since; None without any.

        What the client sends meanwhile is not what it waited for: an acknowledgment for what came before the answer,
        or, where it is known when the proxy had the request whole, anything after that.
        """
        origin = self.path.origin
        last = origin.last_data(sent_ns) if origin else None
        asked = last_with_more(self.path, "server", self._had_request_by(sent_ns))
        if origin is None or last is None or asked is None:
            return None
        return asked if (origin.path.down.written[last] or 0) > (self.path.up.written[asked] or 0) else None

    def _had_request_by(self, sent_ns: int) -> int:
        """Instant by which a proxy had the request for what it sends at another one."""
        known_ns = self.path.origin.asked_ns if self.path.origin else None
        return sent_ns if known_ns is None else min(known_ns, sent_ns)

    def _again(self, end: End, position: int) -> bool:
        content = self.path.content(self.path.out(end), position)
        return content is not None and content.again

    def _repeats(self, position: int) -> bool:
        """True if the client's packet at a position repeats something, or probes."""
        return self._again("client", position) or self._cause("client", position).what is What.TIMER

    def _cause(self, end: End, position: int) -> Cause:
        """Cause that a sending before the bodies goes back to: a timer where it repeats something unprompted, or
        probes.

        A TCP client has next to nothing on its way whose acknowledgment could show a loss: it repeats by its timer
        alone, which runs from what it sent last, whatever came just before.
        """
        if not self.evidence.quic and end == "client" and self._again(end, position):
            return Cause(Before.DATA, What.TIMER)
        sent_ns = self.path.out(end).arrival[position]
        if end == "server" and self._asked_for(sent_ns) is not None:
            return Cause(Before.DATA_ARRIVAL, What.SERVER, self._had_request_by(sent_ns))
        after_ns = self.path.prompted_after_ns(end, position)
        content = self.path.content(self.path.out(end), position)
        unprompted = after_ns is None or after_ns > PROMPT_NS
        if unprompted and content is not None and content.unasked:
            return Cause(Before.LATEST, What.TIMER)
        if end == "server" and not (content is not None and content.again) and self._makes_answer(sent_ns):
            return Cause(Before.DATA_ARRIVAL, What.SERVER, self.asked_ns)
        return Cause(Before.ARRIVAL, What.CLIENT if end == "client" else What.SERVER)

    def _makes_answer(self, sent_ns: int) -> bool:
        """True if the server had the request, and what came to it since then is not what it waited for."""
        answering, came = self._answering, self.path.up.last_came(sent_ns)
        if answering is None or came is None or not answering.has_it(sent_ns):
            return False
        return (self.path.up.written[came] or 0) > answering.came_ns and not answering.let_go(came, sent_ns)

    def _timer(self) -> Reason:
        return Reason(Why.PROBE_TIMER if self.evidence.quic else Why.LOSS_TIMER, "ip_packets")

    def _with_reasons(self, trip: Trip, why: Why | None, *, lost: bool) -> list[Edge]:
        """Edges of a round trip with their reason: of the handshake, or of the request if `why` is None; `lost` says
        whether the client repeats something after it.
        """
        timer = self._timer() if why is None else Reason(Why.SET_UP_LOSS, "ip_packets")
        usual = timer if lost else Reason(Why.REQUEST, "ip_packets") if why is None else Reason(why, "handshake")
        return [
            edge if edge.reason.why is Why.ORIGIN else replace(edge, reason=timer if edge.what is What.TIMER else usual)
            for edge in trip.edges
        ]

    def _answers(self, trip: Trip) -> set[str]:
        """Messages of the handshake that came to the client within a round trip."""
        within = (pl.col("time_ns") > trip.begin_ns) & (pl.col("time_ns") <= trip.until_ns + PROMPT_NS)
        return set(self._first_steps.filter(within, pl.col("direction") == "down")["step"].to_list())

    @cached_property
    def _first_steps(self) -> pl.DataFrame:
        """Steps as the client first saw each: a repetition takes the handshake no further."""
        return at_client(self.evidence).sort("time_ns").unique(["direction", "step"], keep="first", maintain_order=True)

    def _trip_reason(self, trip: Trip) -> Why:
        came = self._answers(trip)
        if trip.receipt and any(self._again("server", leg.position) for leg in trip.servers):
            return Why.SET_UP_LOSS  # what was lost of the round trip before comes again
        if "hello_retry_request" in came:
            return Why.HELLO_RETRY_REQUEST
        if not self.evidence.quic:
            hello_ns = self._first_steps.filter(pl.col("step") == "client_hello")["time_ns"].min()
            before_hello = trip.until_ns <= hello_ns if isinstance(hello_ns, int) else "syn_ack" in came
            return Why.TCP_HANDSHAKE if before_hello else Why.TLS_ROUND_TRIP
        if "retry" in came or "version_negotiation" in came:
            return Why.RETRY
        return Why.AMPLIFICATION_LIMIT if self._limited(trip) else Why.QUIC_HANDSHAKE

    def _limited(self, trip: Trip) -> bool:
        """True if the server sent what was new of its handshake only when more had come from the client."""
        return any(
            (content := self.path.content(self.path.down, leg.position)) is not None
            and content.set_up
            and not content.again
            and self.amplification.limited(leg.sent_ns, self._came_ns(leg))
            for leg in trip.servers
        )

    def _came_ns(self, leg: Leg) -> int | None:
        """Instant of the last arrival at the server before a sending: it may have sent other packets since."""
        came = self.path.up.last_came(leg.sent_ns)
        return None if came is None else self.path.up.written[came]


def over_origin(path: Path, leg: Leg, came_ns: int) -> Iterable[Edge]:
    """Edges back from the sending of an answer to a request that came at an instant, latest first; a proxy asks its
    origin between the two."""
    origin = path.origin
    last = origin.last_data(leg.sent_ns) if origin else None
    if origin is None or last is None or (origin.path.down.written[last] or 0) <= came_ns:
        return leg.edges
    return [*origin.edges(last, leg.sent_ns, came_ns), *leg.edges[1:]]


def _cut(edges: Iterable[Edge], from_ns: int) -> list[Edge]:
    return [edge.clipped(from_ns) for edge in edges if edge.until_ns > from_ns or not edge.length_ns]
