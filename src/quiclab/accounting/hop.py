# SPDX-License-Identifier: Apache-2.0
"""One direction of a link as a queue with one server: what it served when, and what was on its way."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import polars as pl

from quiclab.metrics import Evidence, Unknown

ROUNDING_NS = 50_000
"""Spread of the delay, and lateness of the link, up to which they are no label of their own."""


@dataclass(frozen=True)
class Hop:
    """Packets of one direction, by position in the order in which they came to the link."""

    direction: str
    arrival: list[int]
    index: list[int]
    left: list[int | None]
    """End of service; None where a packet was never served."""
    service: list[int]
    due: list[int | None]
    written: list[int | None]
    """Arrival at the far end; None where it was lost."""
    size: list[int]
    served: list[int]
    """Positions, in the order of service."""
    rank: dict[int, int]
    """Position → place in `served`."""
    opens: list[int]
    """Places in `served` of the packets that began the busy period, for each place."""
    came: list[int]
    """Positions of what arrived at the far end, in the order of that."""
    came_ns: list[int]
    least_ns: int
    """Least time from the end of service to the far end, by the model."""

    def begin(self, position: int) -> int:
        """Begin of service of a packet that was served."""
        left = self.left[position]
        if left is None:
            raise Unknown("a packet that the link's log shows on its way was never served")
        return left - self.service[position]

    def last_came(self, by_ns: int) -> int | None:
        """Position of the last packet that had arrived at the far end by then."""
        at = bisect_right(self.came_ns, by_ns)
        return self.came[at - 1] if at else None

    def first_of_period(self, position: int) -> int:
        """Position of the packet that began the busy period in which this one was served."""
        return self.served[self.opens[self.rank[position]]]


def hop(evidence: Evidence, direction: str) -> Hop:
    """The hop of one direction. Raises Unknown without a log, or where two packets are in service at one time."""
    rows = evidence.table("link_packets").filter(pl.col("direction") == direction, pl.col("action") != "outside_model")
    if rows.is_empty():
        raise Unknown("the trial has no log of its link's packets")
    rows = rows.with_columns(
        pl.when(pl.col("action") == "delivered").then(pl.col("due_ns") + pl.col("lateness_ns")).alias("written_ns")
    ).sort("arrival_ns", "index", maintain_order=True)
    left: list[int | None] = rows["left_ns"].to_list()
    service = rows["service_ns"].to_list()
    served = sorted((p for p, end in enumerate(left) if end is not None), key=lambda p: (left[p], p))
    opens: list[int] = []
    before: int | None = None
    for place, position in enumerate(served):
        end = left[position] or 0
        begin = end - service[position]
        if before is not None and begin < before:
            raise Unknown("the link's log has two packets in service at one time")
        opens.append(opens[-1] if begin == before else place)
        before = end
    written: list[int | None] = rows["written_ns"].to_list()
    came = sorted((p for p, at in enumerate(written) if at is not None), key=lambda p: (written[p], p))
    least = rows.select((pl.col("due_ns") - pl.col("left_ns")).min()).item()
    return Hop(
        direction,
        rows["arrival_ns"].to_list(),
        rows["index"].to_list(),
        left,
        service,
        rows["due_ns"].to_list(),
        written,
        rows["size_bytes"].to_list(),
        served,
        {position: place for place, position in enumerate(served)},
        opens,
        came,
        [at for at in (written[p] for p in came) if at is not None],
        int(least or 0),
    )
