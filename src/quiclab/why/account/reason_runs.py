# SPDX-License-Identifier: Apache-2.0
"""Spells of an account: edges of the critical path that follow each other with the same reason, as one stretch."""

from __future__ import annotations

import polars as pl

from quiclab.model.activity import What

SPELLS = {
    "why": pl.String,
    "what": pl.String,
    "evidence": pl.String,
    "edge": pl.Int64,
    "edges": pl.Int64,
    "from_ns": pl.Int64,
    "until_ns": pl.Int64,
    "packets": pl.Int64,
    "event_ns": pl.Int64,
    "event_packet": pl.Int64,
}
"""Columns of `spells`: `edge` is the place of the first edge in the account, `edges` their number, `what` everything
that passes the time, the longest first."""


def spells(account: pl.DataFrame) -> pl.DataFrame:
    """Spells of one trial's account in the order of time; no row where the trial has none."""
    if account.is_empty():
        return pl.DataFrame(schema=SPELLS)
    edges = account.with_row_index("edge").with_columns(
        pl.col("why").rle_id().alias("spell"),
        (pl.col("until_ns") - pl.col("from_ns")).alias("length"),
        # Headers are of the packets whose payload stands before them.
        pl.when(pl.col("what") != str(What.HEADERS)).then(pl.col("packets")).alias("packets"),
    )
    whats = edges.group_by("spell", "what").agg(pl.col("length").sum(), pl.col("edge").min())
    listed = whats.sort("length", "edge", descending=[True, False]).group_by("spell").agg(pl.col("what").str.join(", "))
    found = edges.group_by("spell", maintain_order=True).agg(
        pl.col("why").first(),
        pl.col("evidence").unique(maintain_order=True).str.join(", "),
        pl.col("edge").first(),
        pl.len().alias("edges"),
        pl.col("from_ns").first(),
        pl.col("until_ns").last(),
        pl.col("packets").sum(),
        pl.col("event_ns").drop_nulls().last(),
        pl.col("event_packet").drop_nulls().last(),
    )
    together = found.join(listed, on="spell", maintain_order="left")
    return together.select(pl.col(name).cast(kind) for name, kind in SPELLS.items())
