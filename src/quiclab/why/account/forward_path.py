# SPDX-License-Identifier: Apache-2.0
"""The way of one direction: the links that an endpoint's packets pass one after another, and each packet's course."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.evidence import End
from quiclab.why.account.hop import Hop, Stay

_STAMPS_NS = 500_000
"""Time by which the next link may say that the packet came before the end of the write to one link."""
_AT_A_NODE_NS = 50_000_000
"""Longest time between two links; a packet that takes longer was lost there."""

Spot = tuple[int, int]
"""Number of a hop in a way, and position in it."""


@dataclass(frozen=True)
class Way:
    """Packets of one endpoint by position in the order in which it sent them, and the hops that they pass."""

    direction: str
    hops: list[Hop]
    course: list[tuple[Spot, ...]]
    """Position → where the packet was, link by link, as far as it came."""
    owner: list[dict[int, int]]
    """Position in each hop → position in the way; another flow's packets have none."""
    stays: list[Stay]
    forks: frozenset[int]
    """Hops beside which there is another one, of which a packet takes one."""
    arrival: list[int]
    """Instants at which packets came to their first link."""
    index: list[int]
    """`index` in link_packets, of the first link: the one in the sender's capture."""
    size: list[int]
    written: list[int | None]
    """Arrival at the far end; None where the packet did not come, or came for nobody."""
    arrived_as: dict[int, int]
    """Position → `index` in link_packets, of the last link: the one in the receiver's capture."""
    came: list[int] = field(default_factory=list)
    """Positions of what arrived at the far end, in the order of that."""
    came_ns: list[int] = field(default_factory=list)

    def number_by(self, by_ns: int) -> int:
        """Number of packets that had arrived at the far end by then."""
        return bisect_right(self.came_ns, by_ns)

    def last_came(self, by_ns: int) -> int | None:
        """Position of the last packet that had arrived at the far end by then."""
        at = self.number_by(by_ns)
        return self.came[at - 1] if at else None

    def is_served(self, position: int) -> bool:
        """True if a packet's first link has served it."""
        number, at = self.course[position][0]
        return self.hops[number].left[at] is not None

    def link(self, position: int) -> str:
        """The log of the first link of a packet's course."""
        return self.hops[self.course[position][0][0]].link

    def spot(self, position: int, number: int) -> Spot:
        """Spot of a packet in a hop. Raises Unknown where it did not come to it."""
        found = next((each for each in self.course[position] if each[0] == number), None)
        if found is None:
            raise Unknown("a packet did not pass a link that it should have passed")
        return found

    def waited_behind(self, spot: Spot) -> int:
        """Position of the packet with whose arrival the endpoint's packets began to have a hop's queue."""
        number, at = spot
        opener = self.stays[number].opener.get(at)
        if opener is None:
            raise Unknown("a packet that the link's log shows on its way was never served")
        return self.owner[number][opener]


def way(
    direction: str, stages: Sequence[Sequence[Hop]], own: Collection[int] | None, nobodys: Collection[int] = ()
) -> Way:
    """Put hops in a row together; the links of one stage are alternatives, one for each packet.

    `own` has the positions in the first stage's only hop of the packets that this endpoint sent, None for all;
    `nobodys` has the indices, at the last link, of packets that came to an address that was gone.
    """
    hops = [hop for stage in stages for hop in stage]
    numbers = _numbered(stages)
    sent = sorted(
        (hops[number].arrival[at], number, at)
        for number in numbers[0]
        for at in range(len(hops[number].arrival))
        if (own is None or at in own) and not _is_copy(hops[number], at)
    )
    following = [_following(hops, before, after) for before, after in pairwise(numbers)]
    course = [_course((number, at), following) for _, number, at in sent]
    owner: list[dict[int, int]] = [{} for _ in hops]
    for position, spots in enumerate(course):
        for number, at in spots:
            owner[number][at] = position
    last = set(numbers[-1])
    written = [_written(hops, spots[-1], last, nobodys) for spots in course]
    came = sorted((p for p, at in enumerate(written) if at is not None), key=written.__getitem__)  # type: ignore[arg-type]
    return Way(
        direction,
        hops,
        course,
        owner,
        [Stay.in_hop(hop, owner[number]) for number, hop in enumerate(hops)],
        frozenset(number for stage in numbers if len(stage) > 1 for number in stage),
        [arrival for arrival, _, _ in sent],
        [hops[number].index[at] for _, number, at in sent],
        [hops[number].size[at] for _, number, at in sent],
        written,
        {p: hops[spots[-1][0]].index[spots[-1][1]] for p, spots in enumerate(course) if spots[-1][0] in last},
        came,
        [at for at in (written[p] for p in came) if at is not None],
    )


def _numbered(stages: Sequence[Sequence[Hop]]) -> list[list[int]]:
    numbers: list[list[int]] = []
    next_number = 0
    for stage in stages:
        numbers.append(list(range(next_number, next_number + len(stage))))
        next_number += len(stage)
    return numbers


def _is_copy(hop: Hop, at: int) -> bool:
    """True if the packet at a position is the link's copy of the one before."""
    return at > 0 and not hop.whole[at] and hop.index[at] == hop.index[at - 1]


def _course(spot: Spot, following: Sequence[dict[Spot, Spot]]) -> tuple[Spot, ...]:
    spots = [spot]
    for each in following:
        after = each.get(spots[-1])
        if after is None:
            break
        spots.append(after)
    return tuple(spots)


def _written(hops: Sequence[Hop], spot: Spot, last: Collection[int], nobodys: Collection[int]) -> int | None:
    number, at = spot
    hop = hops[number]
    return hop.written[at] if number in last and hop.whole[at] and hop.index[at] not in nobodys else None


def _following(hops: Sequence[Hop], before: Sequence[int], after: Sequence[int]) -> dict[Spot, Spot]:
    """Packets that a link wrote → where the next link has them: those of one flow and size keep their order at a
    node."""
    waiting: defaultdict[tuple[int, int], deque[tuple[int, Spot]]] = defaultdict(deque)
    for number in before:
        hop = hops[number]
        for at, written in enumerate(hop.written):
            if written is not None:
                waiting[hop.flow[at], hop.size[at]].append((written, (number, at)))
    for kind, each in waiting.items():
        waiting[kind] = deque(sorted(each))
    found: dict[Spot, Spot] = {}
    for number in after:
        hop = hops[number]
        for at, arrival in enumerate(hop.arrival):
            if _is_copy(hop, at):
                continue
            queue = waiting[hop.flow[at], hop.size[at]]
            while len(queue) > 1 and arrival - queue[0][0] > _AT_A_NODE_NS and queue[1][0] <= arrival:
                queue.popleft()
            if queue and queue[0][0] <= arrival + _STAMPS_NS:
                found[queue.popleft()[1]] = (number, at)
    return found


def arrived_at(evidence: Evidence, way: Way, time_ns: int) -> int:
    """Position of the packet that arrived at the end of its way at an instant. Raises Unknown without one."""
    end: End = "client" if way.direction == "down" else "server"
    packets = evidence.packets(end, "down" if way.direction == "down" else "up")
    arrived = set(packets.filter(pl.col("time_ns") == time_ns)["packet_index"].to_list())
    found = [p for p in way.came if way.written[p] == time_ns and way.arrived_as.get(p) in arrived]
    if not found:
        raise Unknown("the packet with the last byte is not found in the link's log")
    return max(found)
