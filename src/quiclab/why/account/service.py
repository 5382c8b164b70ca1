# SPDX-License-Identifier: Apache-2.0
"""Service of a link while an endpoint's packets had its queue: runs of one kind are one edge each."""

from __future__ import annotations

from collections.abc import Callable

from quiclab.model.activity import What
from quiclab.why.account.edges import Edge
from quiclab.why.account.forward_path import Spot, Way
from quiclab.why.account.hop import Hop, served_since

Kind = Callable[[Way, Spot], tuple[What, int]]
"""Kind of a packet in a hop, and how many bytes of the transport's streams it has."""


def service(kind: Kind, way: Way, spot: Spot, from_ns: int, *, itself: bool = True) -> list[Edge]:
    """Edges of service from an instant to the end of that of the packet at `spot`, or to its begin, in order.

    The share of headers in a run of first-time bytes stands at its end. Where the queue served nothing, nothing shows
    why.
    """
    number, at = spot
    hop = way.hops[number]
    edges: list[Edge] = []
    place, last = served_since(hop, from_ns, at), hop.rank[at] - (not itself)
    at_ns = from_ns
    while place <= last:
        what, payload, size, first = kind(way, (number, hop.served[place]))[0], 0, 0, place
        begin_ns = max(at_ns, hop.begin(hop.served[place]))
        while place <= last and (found := kind(way, (number, hop.served[place])))[0] is what:
            payload += found[1]
            size += hop.size[hop.served[place]]
            place += 1
        index = hop.index[hop.served[first]]
        if begin_ns > at_ns:
            edges.append(Edge(What.UNEXPLAINED, at_ns, begin_ns, index, way.direction, link=hop.link))
        edges += _run(hop, what, (begin_ns, first, place), payload, size)
        at_ns = hop.ends[place - 1]
    until_ns = hop.end(at) if itself else hop.begin(at)
    if until_ns > at_ns:
        edges.append(Edge(What.UNEXPLAINED, at_ns, until_ns, hop.index[at], way.direction, link=hop.link))
    return edges


def _run(hop: Hop, what: What, run: tuple[int, int, int], payload: int, size: int) -> list[Edge]:
    begin_ns, first, end = run
    until_ns = hop.ends[end - 1]
    index, packets = hop.index[hop.served[first]], end - first
    if what not in (What.PAYLOAD, What.OTHER_OBJECT) or not size:
        return [Edge(what, begin_ns, until_ns, index, hop.direction, packets, size, link=hop.link)]
    cut_ns = begin_ns + (until_ns - begin_ns) * payload // size
    return [
        Edge(what, begin_ns, cut_ns, index, hop.direction, packets, payload, link=hop.link),
        Edge(What.HEADERS, cut_ns, until_ns, index, hop.direction, packets, size - payload, link=hop.link),
    ]
