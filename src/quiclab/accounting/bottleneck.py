# SPDX-License-Identifier: Apache-2.0
"""A bottleneck over time: the periods in which it served packets, and the gaps between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from quiclab.metrics import Unknown


@dataclass(frozen=True)
class Period:
    """A time without a gap in which the bottleneck served packets, one after the other."""

    from_ns: int
    until_ns: int
    first_index: int
    """Packet that ended the gap before it, `index` in link_packets."""
    packets: int
    size_bytes: int


def busy_periods(packets: pl.DataFrame) -> Iterator[Period]:
    """Periods of service in the order of time, of rows of `link_packets` of one direction.

    Packets that never came to the bottleneck have no `left_ns` and are left out. Raises Unknown where one was served
    while another was.
    """
    served = (
        packets.drop_nulls("left_ns")
        .sort("left_ns", "index")
        .with_columns((pl.col("left_ns") - pl.col("service_ns")).alias("begin_ns"))
    )
    served = served.with_columns((pl.col("begin_ns") - pl.col("left_ns").shift(1)).fill_null(1).alias("gap_ns"))
    if served.filter(pl.col("gap_ns") < 0).height:
        raise Unknown("the link's log has two packets in service at one time")
    periods = (
        served.with_columns((pl.col("gap_ns") > 0).cum_sum().alias("period"))
        .group_by("period", maintain_order=True)
        .agg(
            pl.col("begin_ns").first(),
            pl.col("left_ns").last(),
            pl.col("index").first(),
            pl.len(),
            pl.col("size_bytes").cast(pl.Int64).sum(),
        )
    )
    for _, *row in periods.iter_rows():
        yield Period(*row)
