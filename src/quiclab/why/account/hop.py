# SPDX-License-Identifier: Apache-2.0
"""One direction of one link as a queue with one server: what it served when, and what was on its way.

A flow *has* the queue from the arrival of one of its packets that finds none of its own there until the last of those
that follow has been served. Without another flow that is the queue's busy period.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from quiclab.evidence.metrics import Unknown

ROUNDING_NS = 50_000
"""Spread of the delay, and lateness of the link, up to which they are no label of their own."""


@dataclass(frozen=True)
class Hop:
    """Packets of one direction of a link, by position in the order in which they came to it."""

    link: str
    """The link's log: `source` in link_packets."""
    direction: str
    arrival: list[int]
    index: list[int]
    flow: list[int]
    left: list[int | None]
    """End of service; None where a packet was never served."""
    service: list[int]
    due: list[int | None]
    written: list[int | None]
    """Instant at which the link wrote it at the far end; None where it did not."""
    whole: list[bool]
    """True for each packet whose bits the link left as they were, and that is no copy: what an endpoint takes."""
    size: list[int]
    served: list[int]
    """Positions, in the order of service."""
    ends: list[int]
    """Ends of service, in that order."""
    rank: dict[int, int]
    """Position → place in `served`."""
    least_ns: int
    """Least time from the end of service to the far end, by the model."""

    def begin(self, position: int) -> int:
        """Begin of service of a packet that was served."""
        return self.end(position) - self.service[position]

    def end(self, position: int) -> int:
        """End of service. Raises Unknown for a packet that was never served."""
        left = self.left[position]
        if left is None:
            raise Unknown("a packet that the link's log shows on its way was never served")
        return left


def hop(rows: pl.DataFrame) -> Hop:
    """The hop of the rows of link_packets of one direction of a link, without what was outside the model.

    Raises Unknown where two packets are in service at one time.
    """
    rows = rows.with_columns(
        pl.when(pl.col("action") == "delivered").then(pl.col("due_ns") + pl.col("lateness_ns")).alias("written_ns"),
        pl.when("duplicate").then(0).otherwise("service_ns").alias("service_ns"),
    ).sort("arrival_ns", "index", "duplicate", maintain_order=True)
    left = in_order_of_service(rows)
    service: list[int] = rows["service_ns"].to_list()
    served = sorted((p for p, end in enumerate(left) if end is not None), key=left.__getitem__)  # type: ignore[arg-type]
    ends = [end for p in served if (end := left[p]) is not None]
    before = 0
    for position, end in zip(served, ends, strict=True):
        if end - service[position] < before:
            raise Unknown("the link's log has two packets in service at one time")
        before = end
    due: list[int | None] = rows["due_ns"].to_list()
    ways = (at - end for at, end in zip(due, left, strict=True) if at is not None and end is not None)
    return Hop(
        str(rows["source"][0]),
        str(rows["direction"][0]),
        rows["arrival_ns"].to_list(),
        rows["index"].to_list(),
        rows["flow"].to_list(),
        left,
        service,
        due,
        rows["written_ns"].to_list(),
        (~rows["corrupted"] & ~rows["duplicate"]).to_list(),
        rows["size_bytes"].to_list(),
        served,
        ends,
        {position: place for place, position in enumerate(served)},
        min(ways, default=0),
    )


@dataclass(frozen=True)
class Stay:
    """Times in which a flow has a hop's queue."""

    opener: dict[int, int]
    """Position of a packet of the flow that was served → that of the packet with whose arrival its time began."""

    @classmethod
    def in_hop(cls, hop: Hop, own: Collection[int] | None = None) -> Stay:
        """Find the times of the packets at the positions `own`, in a hop; of all packets if that is None."""
        opener: dict[int, int] = {}
        together: list[int] = []
        first, until_ns = 0, 0
        for position, end in zip(hop.served, hop.ends, strict=True):
            if own is not None and position not in own:
                continue
            arrival = hop.arrival[position]
            if not together or arrival > until_ns:
                opener.update(dict.fromkeys(together, first))
                together, first = [], position
            elif arrival < hop.arrival[first]:  # another one of its connections was served before it
                first = position
            together.append(position)
            until_ns = end
        opener.update(dict.fromkeys(together, first))
        return cls(opener)


def served_since(hop: Hop, time_ns: int, position: int) -> int:
    """Place in a hop's order of service of the first packet that was in service after an instant, up to that at a
    position."""
    return min(bisect_right(hop.ends, time_ns), hop.rank[position])


# The order in which a link's queue served packets: that of arrival, or, of a queue for each flow, another one.
_SATURATED = 0xFFFF_FFFF
"""The log's longest time of service."""


def in_order_of_service(rows: pl.DataFrame) -> list[int | None]:
    """Ends of service of the packets in `rows`, which are in order of arrival; None where one was never served.

    `left_ns` is by order of arrival. A queue for each flow serves the packets of one flow in that order, but not those
    of several: what overtook a packet of another flow, and never one of its own, has been served before it.
    Raises Unknown where a service took longer than the log can say.
    """
    left: list[int | None] = rows["left_ns"].to_list()
    if rows.filter(pl.col("left_ns").is_not_null(), pl.col("service_ns") == _SATURATED).height:
        raise Unknown("the link's log has a packet whose service took longer than the log can say")
    served = rows.with_row_index("position").filter(pl.col("left_ns").is_not_null())
    if served["flow"].n_unique() < 2:
        return left
    usual = served.filter(~pl.col("duplicate"), ~pl.col("reordered")).drop_nulls("due_ns")
    if usual["due_ns"].is_sorted() or not _in_order_within_flows(usual):
        return left
    return _by_due(served, left)


def _in_order_within_flows(usual: pl.DataFrame) -> bool:
    dues: defaultdict[int, list[int]] = defaultdict(list)
    for flow, due in usual.select("flow", "due_ns").iter_rows():
        dues[flow].append(due)
    return all(before <= after for each in dues.values() for before, after in pairwise(each))


def _by_due(served: pl.DataFrame, left: list[int | None]) -> list[int | None]:
    """Ends of service in the order in which packets were due; one that was lost behind the queue, just before the next
    of its flow."""
    turn = pl.col("due_ns").fill_null(strategy="backward").over("flow", order_by="position")
    ordered = served.with_columns(turn=pl.when("reordered").then(None).otherwise(turn)).with_columns(
        pl.col("turn").fill_null(strategy="backward").over("flow", order_by="position")
    )
    found = list(left)
    free_ns = 0
    for position, arrival, service in (
        ordered.sort("turn", "position", nulls_last=True).select("position", "arrival_ns", "service_ns").iter_rows()
    ):
        free_ns = max(arrival, free_ns) + service
        found[position] = free_ns
    return found
