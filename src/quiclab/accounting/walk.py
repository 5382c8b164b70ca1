# SPDX-License-Identifier: Apache-2.0
"""The way back along tight predecessors: from a packet's sending to what let it be sent, hop by hop.

An endpoint sends when the last packet that came to it lets it, or when a timer of its own does. A packet that found a
queue could not be served before those in front of it, so that the way leads through the busy period to its first
packet, and only from there to that packet's sender.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from quiclab.accounting.contents import Content
from quiclab.accounting.edges import Edge
from quiclab.accounting.hop import ROUNDING_NS, Hop
from quiclab.accounting.what import What
from quiclab.metrics import Unknown
from quiclab.metrics.evidence import Direction, End

_MOST_STEPS = 100_000


class Before(enum.Enum):
    """What an endpoint waited for before it sent a packet."""

    ARRIVAL = "the last packet that came to it"
    SENDING = "its own packet before"
    LATEST = "the later one of both"


@dataclass(frozen=True)
class Cause:
    """What the sending of a packet goes back to, and what passes the time from there."""

    before: Before
    what: What


@dataclass(frozen=True)
class Leg:
    """The sending of one packet and the edges that lead back from it to the sending before it, latest first."""

    end: End
    position: int
    sent_ns: int
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Path:
    """Both directions of a link with what their packets carry."""

    up: Hop
    down: Hop
    carried_up: Mapping[int, Content]
    carried_down: Mapping[int, Content]
    way: Direction = "down"
    """Direction of the bodies, whose bottleneck has priority."""

    @property
    def ahead(self) -> Hop:
        """The direction of the bodies."""
        return self.down if self.way == "down" else self.up

    @property
    def sender(self) -> End:
        """End that sends the bodies."""
        return "server" if self.way == "down" else "client"

    def out(self, end: End) -> Hop:
        """The direction in which an endpoint sends."""
        return self.down if end == "server" else self.up

    def into(self, end: End) -> Hop:
        """The direction from which packets come to an endpoint."""
        return self.up if end == "server" else self.down

    def content(self, hop: Hop, position: int) -> Content | None:
        """What a packet carries; None where no record shows it."""
        carried = self.carried_up if hop.direction == "up" else self.carried_down
        return carried.get(hop.index[position])

    def prompted_after_ns(self, end: End, position: int) -> int | None:
        """Time from the last arrival at an endpoint to a packet that it sent; None where nothing had come."""
        sent_ns = self.out(end).arrival[position]
        last = self.into(end).last_came(sent_ns)
        return None if last is None else sent_ns - (self.into(end).written[last] or 0)


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
    came = into.last_came(sent_ns)
    came_ns = None if came is None else into.written[came]
    own = position - 1 if position else None
    wants_own = cause.before is Before.SENDING or (
        cause.before is Before.LATEST and own is not None and (came_ns is None or out.arrival[own] >= came_ns)
    )
    if own is not None and (wants_own or came is None):
        return [_waits(cause.what, out.arrival[own], sent_ns, out, position)], (end, own)
    if came is None or came_ns is None:
        return [], None
    edges = [_waits(cause.what, came_ns, sent_ns, out, position), *crossing(path, into, came)]
    sender: End = "client" if end == "server" else "server"
    return edges, (sender, into.first_of_period(came))


def _waits(what: What, from_ns: int, until_ns: int, out: Hop, position: int) -> Edge:
    return Edge(what, from_ns, until_ns, out.index[position], out.direction)


def crossing(path: Path, hop: Hop, position: int) -> list[Edge]:
    """Edges from a packet's arrival at the far end back to the sending of the one that began its busy period."""
    first = hop.first_of_period(position)
    left_ns, begin_ns = hop.left[position], hop.begin(first)
    if left_ns is None:
        raise Unknown("a packet that the link's log shows on its way was never served")
    edges = flight(hop, position)
    if hop.direction != path.way:
        what = What.LINK_UP if hop.direction == "up" else What.LINK_DOWN
        edges.append(Edge(what, begin_ns, left_ns, hop.index[position], hop.direction))
    else:
        edges.extend(reversed(service(path, hop.rank[first], hop.rank[position] + 1)))
    edges.append(Edge(What.UNEXPLAINED, hop.arrival[first], begin_ns, hop.index[first], hop.direction))
    return edges


def flight(hop: Hop, position: int) -> list[Edge]:
    """Edges from a packet's arrival at the far end back to the end of its service."""
    left_ns, due_ns, written_ns = hop.left[position], hop.due[position], hop.written[position]
    if left_ns is None or due_ns is None or written_ns is None:
        raise Unknown("a packet that was to arrive was lost")
    late_from = due_ns if written_ns - due_ns > ROUNDING_NS else written_ns
    usual = left_ns + hop.least_ns
    jitter_from = usual if late_from - usual > ROUNDING_NS else late_from
    what = What.PROPAGATION_UP if hop.direction == "up" else What.PROPAGATION_DOWN
    ends = ((What.LATE, late_from, written_ns), (What.JITTER, jitter_from, late_from), (what, left_ns, jitter_from))
    return [Edge(each, start, end, hop.index[position], hop.direction) for each, start, end in ends]


def service(path: Path, first: int, end: int) -> list[Edge]:
    """Edges of service of the packets with the bodies' direction at places [first, end); a run of one kind is one edge.

    The share of headers in a run of first-time bytes stands at its end.
    """
    hop = path.ahead
    edges: list[Edge] = []
    place = first
    while place < end:
        what, payload, size, packets = _kind(path, hop.served[place]), 0, 0, place
        while place < end and _kind(path, position := hop.served[place]) is what:
            content = path.content(hop, position)
            payload += content.payload_bytes if content else 0
            size += hop.size[position]
            place += 1
        edges.extend(_run(hop, what, packets, place, payload, size))
    return edges


def _kind(path: Path, position: int) -> What:
    content = path.content(path.ahead, position)
    return content.what if content else What.SERVED


def _run(hop: Hop, what: What, first: int, end: int, payload: int, size: int) -> list[Edge]:
    opener, closer = hop.served[first], hop.served[end - 1]
    begin_ns, left_ns = hop.begin(opener), hop.left[closer] or 0
    index, packets = hop.index[opener], end - first
    if what not in (What.PAYLOAD, What.OTHER_OBJECT) or not size:
        return [Edge(what, begin_ns, left_ns, index, hop.direction, packets, size)]
    cut_ns = begin_ns + (left_ns - begin_ns) * payload // size
    return [
        Edge(what, begin_ns, cut_ns, index, "down", packets, payload),
        Edge(What.HEADERS, cut_ns, left_ns, index, "down", packets, size - payload),
    ]
