# SPDX-License-Identifier: Apache-2.0
"""Times at which packets of a packet log left the bottleneck, from their arrival and how long sending them took."""

from __future__ import annotations

import polars as pl

from quiclab.model.tables import LEFT
from quiclab.model.tables.drop_reasons import Stage, reasons_at

_BEHIND = reasons_at(Stage.BEHIND, Stage.EITHER)
"""Reasons for which a packet can be dropped after the bottleneck has sent it; `service_ns` says whether it had."""


def with_departures(packets: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of `link_packets`, in their order, with `left_ns`.

    A transmitter begins with a packet when it is there and the one before has gone: left = max(arrival, left of the one
    before) + service. Summed up: the services so far, and the latest beginning of a busy period that they follow.
    """
    of_queue = ("source", "direction")
    served = (pl.col("service_ns") > 0) & (
        (pl.col("action") == "inside_at_end") | ((pl.col("action") == "dropped") & pl.col("reason").is_in(_BEHIND))
    )
    sent = (pl.col("action") == "delivered") | served
    service_ns = pl.when(sent & ~pl.col("duplicate")).then(pl.col("service_ns").cast(pl.Int64)).otherwise(0)
    so_far_ns = service_ns.cum_sum()
    begun_ns = pl.when(sent).then(pl.col("arrival_ns") - so_far_ns + service_ns)
    left_ns = pl.when(sent).then(so_far_ns + begun_ns.cum_max())
    order = pl.struct("arrival_ns", "index", "duplicate")
    return packets.with_columns(left_ns.over(of_queue, order_by=order).alias(LEFT.name))
