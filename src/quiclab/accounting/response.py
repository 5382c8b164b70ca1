# SPDX-License-Identifier: Apache-2.0
"""The account of the bodies: what the bottleneck served, and for each idle time the way back within it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from quiclab.accounting.edges import PROMPT_NS, Edge, Reason
from quiclab.accounting.judge import Judge
from quiclab.accounting.walk import Before, Cause, Path, back, flight, service
from quiclab.accounting.what import What
from quiclab.accounting.why import Why
from quiclab.metrics.evidence import End

_BUSY = Reason(Why.LINK_BUSY, "link_packets")
_LAST = Reason(Why.LAST_FLIGHT, "link_packets")


def response_edges(path: Path, judge: Judge, first: int, completing: int) -> list[Edge]:
    """Edges from the begin of service of the packet at position `first` of the bodies' direction to the arrival of the
    completing one."""
    ahead = path.ahead
    place, last = ahead.rank[first], ahead.rank[completing]
    edges: list[Edge] = []
    while place <= last:
        end = place + 1
        while end <= last and ahead.opens[end] == ahead.opens[place]:
            end += 1
        edges += [replace(edge, reason=_BUSY) for edge in service(path, place, end)]
        if end <= last:
            edges += _idle(path, judge, ahead.served[end], edges[-1].until_ns, last)
        place = end
    edges += [replace(edge, reason=_LAST) for edge in reversed(flight(ahead, completing))]
    return edges


def _idle(path: Path, judge: Judge, opener: int, floor_ns: int, last: int) -> list[Edge]:
    """Edges of an idle time of the bottleneck that the packet at a position in its direction ended, in order."""
    ahead, sender = path.ahead, path.sender
    reasons: dict[int, Reason] = {}

    def reason(position: int) -> Reason:
        if position not in reasons:
            reasons[position] = judge.reason(_with_data(path, position, last), floor_ns)
        return reasons[position]

    def cause(end: End, position: int) -> Cause:
        if end == sender:
            return judge.cause(position, reason(position))
        content = path.content(path.out(end), position)
        after_ns = path.prompted_after_ns(end, position)
        if content is not None and content.again and (after_ns is None or after_ns > PROMPT_NS):
            return Cause(Before.LATEST, What.TIMER)
        data = content is not None and content.what is not What.ACKNOWLEDGMENTS
        return Cause(Before.ARRIVAL, (What.CLIENT if end == "client" else What.SERVER) if data else What.ACK_HELD)

    def edges() -> Iterator[Edge]:
        """Latest first."""
        current = reason(opener)
        waits = ahead.arrival[opener], ahead.begin(opener), ahead.index[opener], ahead.direction
        yield Edge(What.UNEXPLAINED, *waits, reason=current)
        for leg in back(path, sender, opener, floor_ns, cause):
            if leg.end == sender:
                current = reason(leg.position)
            for edge in leg.edges:
                if leg.end == sender and edge is leg.edges[0]:
                    yield replace(edge, reason=current)
                    current = judge.before_arrival(edge.from_ns, current, _with_data(path, leg.position, last))
                    continue
                yield replace(edge, reason=current)

    after_ns = path.prompted_after_ns(sender, opener)
    within = [edge.clipped(floor_ns) for edge in edges() if edge.until_ns > floor_ns]
    return [replace(edge, prompted_after_ns=after_ns) for edge in reversed(within)]


def _with_data(path: Path, position: int, last: int) -> int:
    """The packet itself, or the first with data that was served after it: acknowledgments and probes of the path's MTU
    wait for nothing."""
    ahead = path.ahead
    place = ahead.rank.get(position)
    while place is not None and place <= last:
        content = path.content(ahead, at := ahead.served[place])
        if content is None or content.again or content.what not in (What.ACKNOWLEDGMENTS, What.PROBE):
            return at
        place += 1
    return position
