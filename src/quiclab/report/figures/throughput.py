# SPDX-License-Identifier: Apache-2.0
"""IP bytes that the link handed to the client, in slices of time."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from quiclab.report.figures import _curves
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._series import at_client, log_curves

_SLICES = 50
"""Parts of a transfer's time, in which throughput is counted."""
_SLICE_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


class Throughput(Figure):
    """IP bytes that the link handed to the client, in slices of time."""

    name = "throughput"
    question = "How fast do bytes reach the client over time, and when do they not?"
    where = Where.PAIR
    overlaid = True
    tables = ("tables/link_packets/*.parquet",)
    columns = _curves.COLUMNS

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return IP bytes that the links at the client handed to it, in Mbit/s, in equal slices of time."""
        return asked.over_blocks(partial(log_curves, of_one=_slices))

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per point of a curve."""
        return _curves.draw(data, "throughput, Mbit/s", "Mbit/s", step=True)


def _slices(log: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
    """IP bytes that the links at the client handed to it, in Mbit/s, in equal slices of time."""
    down = (
        at_client(log)
        .filter(direction="down", action="delivered")
        .select(((pl.col("due_ns") - zero_ns) / 1e6).alias("x_ms"), "size_bytes")
    )
    if not down.height:
        return down.select(pl.lit("").alias("series"), "x_ms", pl.lit(0.0).alias("y"))
    last_ms = float(down["x_ms"].max())  # type: ignore[arg-type]
    slice_ms = next((size for size in _SLICE_MS if last_ms / size <= _SLICES), _SLICE_MS[-1])
    number = (pl.col("x_ms") / slice_ms).floor().cast(pl.Int64).alias("slice")
    summed = down.group_by(number).agg(pl.col("size_bytes").cast(pl.Int64).sum())
    whole = pl.DataFrame({"slice": range(int(last_ms // slice_ms) + 2)}, schema={"slice": pl.Int64})
    return whole.join(summed, on="slice", how="left", maintain_order="left").select(
        pl.lit(f"per {slice_ms:g} ms").alias("series"),
        (pl.col("slice") * slice_ms).alias("x_ms"),
        (pl.col("size_bytes").fill_null(0) * 8 / (slice_ms * 1e3)).alias("y"),
    )
