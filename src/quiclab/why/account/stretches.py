# SPDX-License-Identifier: Apache-2.0
"""A response as a row of stretches: times in which a link had its packets, and times in which none did.

Which link is the bottleneck is decided for each packet: the last one at which it waited. A wait counts if no other link
kept the packet waiting for longer, or if it is as long as the packet's service there: a link that is as fast as the one
before keeps packets for an instant by chance. A packet that waited nowhere has its bottleneck where it was served for
longest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from quiclab.why.account.critical_path import Path, at_node, flight
from quiclab.why.account.edges import Edge
from quiclab.why.account.forward_path import Spot, Way
from quiclab.why.account.hop import ROUNDING_NS
from quiclab.why.account.service import service


@dataclass(frozen=True)
class Onward:
    """The way of the completing packet behind the last link at which it waited."""

    edges: list[Edge]
    """Latest first."""


@dataclass(frozen=True)
class Busy:
    """Time in which the bottleneck served something, or a packet's way from one bottleneck to the next."""

    edges: list[Edge]
    """Latest first."""


@dataclass(frozen=True)
class Idle:
    """A time in which no bottleneck had a packet, until one came to it."""

    position: int
    """The packet that came."""
    place: int
    """To which link of its course."""
    floor_ns: int


@dataclass(frozen=True)
class Start:
    """Beginning of the response: a packet's service at a link of its course."""

    position: int
    place: int


def stretches(path: Path, way: Way, first: int, completing: int) -> Iterator[Onward | Busy | Idle | Start]:
    """Stretches of a response, latest first, from the completing packet's arrival to the first one's service."""
    places = bottlenecks(way, path.abandoned if way is path.down else ())
    ends = _ends(way, places, first, completing)
    position, place = completing, places.get(completing, 0)
    yield Onward(_onward(path, way, position, place, len(way.course[position])))
    while True:
        spot = number, _ = way.course[position][place]
        hop = way.hops[number]
        opener = way.waited_behind(spot)
        from_ns = hop.arrival[way.spot(opener, number)[1]]
        earlier = next((p for p in reversed(_waits(_times(way, opener))) if p < place), None)
        before = bisect_left(ends, (from_ns, opener, -1)) if opener > first else 0
        if opener <= first or (earlier is None and not before):
            start = next(p for p in range(max(first, opener), position + 1) if _is_served_by(way, p, spot))
            from_ns = hop.begin(way.course[start][place][1])
            yield Busy([*reversed(service(path.kind, way, spot, from_ns))])
            yield Start(start, place)
            return
        yield Busy([*reversed(service(path.kind, way, spot, from_ns))])
        if earlier is None:
            yield Idle(opener, place, ends[before - 1][0])
            _, position, place = ends[before - 1]
            continue
        node = at_node(way, opener, place)
        yield Busy([node, *_onward(path, way, opener, earlier, place, node.from_ns)])
        position, place = opener, earlier


def bottlenecks(way: Way, abandoned: Collection[int] = ()) -> dict[int, int]:
    """Position of each packet that a link served → place of its bottleneck in its course.

    What was abandoned delays others only at links that these pass, too.
    """
    found: dict[int, int] = {}
    for position, course in enumerate(way.course):
        times = _times(way, position)
        if position in abandoned:
            times = [each for each, (number, _) in zip(times, course, strict=False) if number not in way.forks]
        if len(times) == 1:
            found[position] = 0
        elif times:
            longest = max(range(len(times)), key=lambda place, times=times: times[place][1])  # type: ignore[misc]
            found[position] = next(reversed(_waits(times)), longest)
    return found


def _ends(way: Way, places: dict[int, int], first: int, completing: int) -> list[tuple[int, int, int]]:
    """(End of service at its bottleneck, packet, place) of the packets of a response, in order."""
    found = []
    for position in range(first, completing + 1):
        place = places.get(position)
        if place is not None:
            number, at = way.course[position][place]
            found.append((way.hops[number].end(at), position, place))
    return sorted(found)


def _is_served_by(way: Way, position: int, spot: Spot) -> bool:
    """True if the link of a spot has served a packet, too, and not after the one at the spot."""
    number, at = spot
    own = next((each for each in way.course[position] if each[0] == number), None)
    rank = way.hops[number].rank
    return own is not None and own[1] in rank and rank[own[1]] <= rank[at]


def _times(way: Way, position: int) -> list[tuple[int, int]]:
    """Waiting time and service time of a packet at each link of its course that served it."""
    hops = ((way.hops[number], at) for number, at in way.course[position])
    return [(hop.begin(at) - hop.arrival[at], hop.service[at]) for hop, at in hops if hop.left[at] is not None]


def _waits(times: list[tuple[int, int]]) -> list[int]:
    """Places in a course at which a packet waited."""
    longest_ns = max(wait for wait, _ in times)
    return [
        place
        for place, (wait, service) in enumerate(times)
        if wait > ROUNDING_NS and (wait >= service or wait == longest_ns)
    ]


def _onward(path: Path, way: Way, position: int, place: int, links: int, until_ns: int | None = None) -> list[Edge]:
    """Edges from when a packet had passed so many links back to the end of its service at an earlier one."""
    edges: list[Edge] = []
    for each in reversed(range(place, links)):
        spot = number, at = way.course[position][each]
        hop = way.hops[number]
        edges += flight(hop, at, until_ns)
        if each > place:
            edges += reversed(service(path.kind, way, spot, hop.arrival[at]))
            node = at_node(way, position, each)
            edges.append(node)
            until_ns = node.from_ns
    return edges
