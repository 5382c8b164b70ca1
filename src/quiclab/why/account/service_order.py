# SPDX-License-Identifier: Apache-2.0
"""The order in which a link's queue served packets: that of arrival, or, of a queue for each flow, another one."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import polars as pl

from quiclab.evidence.metrics import Unknown

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
