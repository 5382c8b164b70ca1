# SPDX-License-Identifier: Apache-2.0
"""Queue before the bottleneck: up at each packet that joins, down as they are served."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from quiclab.model.tables.drop_reasons import Stage, reasons_at
from quiclab.report.figures import _curves
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._series import FURTHER, log_curves


class QueueLength(Figure):
    """Queue before the bottleneck: up at each packet that joins, down as they are served."""

    name = "queue"
    question = "How long is the queue before the bottleneck, and how does each arm fill it?"
    where = Where.PAIR
    overlaid = True
    tables = ("tables/link_packets/*.parquet",)
    columns = _curves.COLUMNS

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the bytes that wait before each bottleneck towards the client, since the client began."""
        return asked.over_blocks(partial(log_curves, of_one=_waiting))

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per point of a curve."""
        return _curves.draw(data, "queue before the bottleneck, bytes", "bytes")


def _waiting(log: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
    """Bytes that wait before a link's bottleneck towards the client, since the client began.

    A point at each packet that joins the queue; where it drains to nothing before the next, a point there and one where
    it begins to fill again.
    """
    further = pl.col("source").str.extract(FURTHER, 2)
    down = log.filter(direction="down").filter(pl.col("action") != "outside_model").sort("arrival_ns")
    sent = pl.col("reason").is_in(reasons_at(Stage.EITHER)) & (pl.col("service_ns") > 0)
    joined_first = pl.col("reason").is_in(reasons_at(Stage.WITHIN, Stage.BEHIND)) | sent
    turned_away = (pl.col("action") == "dropped") & ~joined_first.fill_null(False)
    joined = down.filter(pl.col("arrival_ns") >= zero_ns, ~turned_away).with_columns(
        pl.format("link {}", further).fill_null("waiting").alias("series"),
        (pl.col("queue_bytes").cast(pl.Float64) + pl.col("size_bytes")).alias("y"),
    )
    next_ns = pl.col("arrival_ns").shift(-1).over("series")
    limited = joined.filter(pl.col("service_ns") > 0).with_columns(
        pl.col("left_ns").cast(pl.Float64).alias("drained_ns"), next_ns.alias("next_ns")
    )
    idle = limited.filter(pl.col("next_ns").is_null() | (pl.col("drained_ns") < pl.col("next_ns")))
    points = [
        limited.select("series", pl.col("arrival_ns").cast(pl.Float64).alias("at_ns"), "y"),
        idle.select("series", pl.col("drained_ns").alias("at_ns"), pl.lit(0.0).alias("y")),
        idle.drop_nulls("next_ns").select(
            "series", pl.col("next_ns").cast(pl.Float64).alias("at_ns"), pl.lit(0.0).alias("y")
        ),
    ]
    # Of two points at one instant, empty comes before full.
    return (
        pl.concat(points)
        .sort("series", "at_ns", "y")
        .select("series", ((pl.col("at_ns") - zero_ns) / 1e6).alias("x_ms"), "y")
    )
