# SPDX-License-Identifier: Apache-2.0
"""The way back along tight predecessors: from a packet's sending to what let it be sent, hop by hop.

An endpoint sends when the last packet that came to it lets it, or when a timer of its own does. A packet that found
its own flow's packets in a queue could not be served before those in front of it, so that the way leads through all
that was served since the first of them came, and from there to the link before, or to that packet's sender.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quiclab.evidence.metrics import Unknown
from quiclab.evidence.metrics.evidence import Direction, End
from quiclab.model.activity import What
from quiclab.why.account.contents import Content
from quiclab.why.account.edges import Edge
from quiclab.why.account.forward_path import Spot, Way
from quiclab.why.account.hop import ROUNDING_NS, Hop
from quiclab.why.account.service import service

if TYPE_CHECKING:
    from quiclab.why.account.behind_proxy import Origin

_MOST_STEPS = 100_000


class Before(enum.Enum):
    """Event that an endpoint waited for before it sent a packet."""

    ARRIVAL = "the last packet that came to it"
    DATA_ARRIVAL = "the last packet with more than acknowledgments that came to it"
    UNANSWERED = "the second packet with more than acknowledgments that came to it since it sent one, or the only one"
    SENDING = "its own packet before"
    DATA = "its own packet before with more than acknowledgments"
    LATEST = "the later one of both"


@dataclass(frozen=True)
class Cause:
    """Cause that the sending of a packet goes back to, and what passes the time from there."""

    before: Before
    what: What
    by_ns: int | None = None
    """Instant by which the packet had come whose arrival is waited for; None: at any time before the sending."""


@dataclass(frozen=True)
class Leg:
    """The sending of one packet and the edges that lead back from it to the sending before it, latest first."""

    end: End
    position: int
    sent_ns: int
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Path:
    """Both directions of the links between two endpoints with what their packets carry."""

    up: Way
    down: Way
    carried_up: Mapping[int, Content]
    carried_down: Mapping[int, Content]
    way: Direction = "down"
    """Direction of the bodies, whose bottleneck has priority."""
    abandoned: Collection[int] = frozenset()
    """Positions down of packets that are of no use any more by the time at which they are served."""
    shared: bool = False
    """True if other flows use the links."""
    second: Collection[int] = frozenset()
    """Positions down of packets of a second connection, which the client opened from its new address."""
    origin: Origin | None = None
    """The links behind a proxy."""
    siblings: Mapping[str, Collection[Spot]] = field(default_factory=dict)
    """Direction → where packets of the client's other connections are; none where it has one."""

    @property
    def ahead(self) -> Way:
        """The direction of the bodies."""
        return self.down if self.way == "down" else self.up

    @property
    def sender(self) -> End:
        """End that sends the bodies."""
        return "server" if self.way == "down" else "client"

    def out(self, end: End) -> Way:
        """The direction in which an endpoint sends."""
        return self.down if end == "server" else self.up

    def into(self, end: End) -> Way:
        """The direction from which packets come to an endpoint."""
        return self.up if end == "server" else self.down

    def content(self, way: Way, position: int) -> Content | None:
        """Content of a packet; None where no record shows it."""
        carried = self.carried_up if way.direction == "up" else self.carried_down
        return carried.get(way.index[position])

    def sent_before(self, end: End, position: int) -> Iterator[int]:
        """Positions of what an endpoint sent before a packet, latest first, on its connection."""
        before = reversed(range(position))
        return iter(before) if end == "client" else self.on_same_connection(position, before)

    def on_same_connection(self, position: int, others: Iterable[int]) -> Iterator[int]:
        """Other positions down, but only those of the same connection as a packet.

        Over TCP the server still repeats to an address that the client has left, beside what it sends to the new one.
        """
        second = position in self.second
        return (at for at in others if (at in self.second) is second)

    def prompted_after_ns(self, end: End, position: int) -> int | None:
        """Time from the last arrival at an endpoint to a packet that it sent; None where nothing had come."""
        sent_ns = self.out(end).arrival[position]
        last = self.into(end).last_came(sent_ns)
        return None if last is None else sent_ns - (self.into(end).written[last] or 0)

    def kind(self, way: Way, spot: Spot) -> tuple[What, int]:
        """Kind of a packet in a hop, and how many bytes of the transport's streams it has."""
        position = way.owner[spot[0]].get(spot[1])
        if position is None and spot in self.siblings.get(way.direction, ()):
            return What.OTHER_CONNECTION, 0
        if position is None:
            return (What.OTHER_FLOW if self.shared else What.SERVED), 0
        content = self.content(way, position)
        if way.direction == "down" and position in self.abandoned:
            return What.ABANDONED, content.payload_bytes if content else 0
        return (content.what, content.payload_bytes) if content else (What.SERVED, 0)


def back(path: Path, end: End, position: int, floor_ns: int, cause: Callable[[End, int], Cause]) -> Iterator[Leg]:
    """Legs of the way back from a packet's sending, latest first, until one reaches `floor_ns` or nothing is before.

    Edges may begin before `floor_ns`. Raises Unknown where the way goes in a circle, which no order of time allows.
    """
    for _ in range(_MOST_STEPS):
        sent_ns = path.out(end).arrival[position]
        if sent_ns <= floor_ns:
            return
        edges, before = _one(path, end, position, cause(end, position))
        yield Leg(end, position, sent_ns, tuple(edges))
        if before is None:
            return
        end, position = before
    raise Unknown("the records of this trial lead back in a circle")


def _one(path: Path, end: End, position: int, cause: Cause) -> tuple[list[Edge], tuple[End, int] | None]:
    """Edges back to the sending before, and that sending; None where there is none."""
    out, into = path.out(end), path.into(end)
    sent_ns = out.arrival[position]
    came = _came_before(path, end, position, cause)
    came_ns = None if came is None else into.written[came]
    with_more = cause.before is Before.DATA
    own = own_with_more(path, end, position) if with_more else next(path.sent_before(end, position), None)
    wants_own = cause.before in (Before.SENDING, Before.DATA) or (
        cause.before is Before.LATEST and own is not None and (came_ns is None or out.arrival[own] >= came_ns)
    )
    if own is not None and (wants_own or came is None):
        return [_waits(cause.what, out.arrival[own], sent_ns, out, position)], (end, own)
    if came is None or came_ns is None:
        return [], None
    edges, first = crossing(path, into, came)
    sender: End = "client" if end == "server" else "server"
    return [_waits(cause.what, came_ns, sent_ns, out, position), *edges], (sender, first)


def _came_before(path: Path, end: End, position: int, cause: Cause) -> int | None:
    """Position of the packet whose arrival let an endpoint send one; None where nothing had come."""
    sent_ns = path.out(end).arrival[position]
    if cause.before is Before.DATA_ARRIVAL:
        return last_with_more(path, end, sent_ns if cause.by_ns is None else cause.by_ns)
    answer = next(path.sent_before(end, position), None)
    if cause.before is Before.UNANSWERED and answer is not None:
        into, answered_ns = path.into(end), path.out(end).arrival[answer]
        since = into.came[into.number_by(answered_ns) : into.number_by(sent_ns)]
        contents = ((at, path.content(into, at)) for at in since)
        data = [at for at, content in contents if not content or content.what is not What.ACKNOWLEDGMENTS]
        if len(data) > 1:
            return data[1]
    return path.into(end).last_came(sent_ns)


def last_with_more(path: Path, end: End, by_ns: int) -> int | None:
    """Position of the last packet with more than acknowledgments that had come to an endpoint by an instant."""
    into = path.into(end)
    came = (into.came[number] for number in reversed(range(into.number_by(by_ns))))
    contents = ((at, path.content(into, at)) for at in came)
    return next((at for at, content in contents if not content or content.what is not What.ACKNOWLEDGMENTS), None)


def own_with_more(path: Path, end: End, position: int) -> int | None:
    """Position of an endpoint's last packet before one that has more than acknowledgments."""
    out = path.out(end)
    sent = ((at, path.content(out, at)) for at in path.sent_before(end, position))
    return next((at for at, content in sent if not content or content.what is not What.ACKNOWLEDGMENTS), None)


def _waits(what: What, from_ns: int, until_ns: int, out: Way, position: int) -> Edge:
    return Edge(what, from_ns, until_ns, out.index[position], out.direction, link=out.link(position))


def crossing(path: Path, way: Way, position: int) -> tuple[list[Edge], int]:
    """Edges from a packet's arrival at the far end back to the sending that it goes back to, and the packet sent."""
    return way_back(path, way, position, len(way.course[position]))


def way_back(path: Path, way: Way, position: int, links: int, until_ns: int | None = None) -> tuple[list[Edge], int]:
    """Edges from when a packet had passed so many links of its course back to a sending, and the packet sent then.

    At each link they lead through what was served since the endpoint's packets had its queue. `until_ns` is when the
    packet came to where it went next; None is when it was written there.
    """
    if not links:
        return [], position
    number, at = spot = way.course[position][links - 1]
    hop = way.hops[number]
    first = way.waited_behind(spot)
    begin_ns = hop.arrival[way.spot(first, number)[1]]
    edges = flight(hop, at, until_ns)
    if way.direction != path.way:
        what = What.LINK_UP if way.direction == "up" else What.LINK_DOWN
        edges.append(Edge(what, begin_ns, hop.end(at), hop.index[at], way.direction, link=hop.link))
    else:
        edges += reversed(service(path.kind, way, spot, begin_ns))
    before, first = link_before(path, way, first, links - 1)
    return [*edges, *before], first


def queue_back(path: Path, way: Way, position: int, place: int) -> tuple[list[Edge], int]:
    """Edges from the begin of a packet's service at a link of its course back to a sending, and the packet sent."""
    number, _ = spot = way.course[position][place]
    first = way.waited_behind(spot)
    begin_ns = way.hops[number].arrival[way.spot(first, number)[1]]
    edges = reversed(service(path.kind, way, spot, begin_ns, itself=False))
    before, first = link_before(path, way, first, place)
    return [*edges, *before], first


def link_before(path: Path, way: Way, position: int, place: int) -> tuple[list[Edge], int]:
    """Edges from a packet's arrival at a link of its course back to a sending, and the packet sent then."""
    if not place:
        return [], position
    node = at_node(way, position, place)
    edges, first = way_back(path, way, position, place, node.from_ns)
    return [node, *edges], first


def at_node(way: Way, position: int, place: int) -> Edge:
    """The edge of a packet at the node before a link of its course."""
    (before_number, before_at), (number, at) = way.course[position][place - 1 : place + 1]
    before, after = way.hops[before_number], way.hops[number]
    written_ns, until_ns = before.written[before_at], after.arrival[at]
    from_ns = until_ns if written_ns is None else min(written_ns, until_ns)
    return Edge(What.NODE, from_ns, until_ns, after.index[at], after.direction, link=after.link)


def flight(hop: Hop, at: int, until_ns: int | None = None) -> list[Edge]:
    """Edges from when a packet came to the far end of a link back to the end of its service."""
    left_ns, due_ns, written_ns = hop.end(at), hop.due[at], hop.written[at]
    if due_ns is None or written_ns is None:
        raise Unknown("a packet that was to arrive was lost")
    end_ns = written_ns if until_ns is None else until_ns  # the next link may say a little before
    late_from = due_ns if end_ns - due_ns > ROUNDING_NS else end_ns
    usual = left_ns + hop.least_ns
    jitter_from = usual if late_from - usual > ROUNDING_NS else late_from
    what = What.PROPAGATION_UP if hop.direction == "up" else What.PROPAGATION_DOWN
    ends = ((What.LATE, late_from, end_ns), (What.JITTER, jitter_from, late_from), (what, left_ns, jitter_from))
    return [Edge(each, start, end, hop.index[at], hop.direction, link=hop.link) for each, start, end in ends]
