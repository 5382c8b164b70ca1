# SPDX-License-Identifier: Apache-2.0
"""Distance of a sender ahead of the acknowledgments when it had no more credit."""

from __future__ import annotations

import polars as pl

from quiclab.why.mechanisms._api import Fact
from quiclab.why.mechanisms._trial import Trial


def beyond(trial: Trial, edges: pl.Series) -> tuple[Fact, ...]:
    """Bytes that were not acknowledged at the beginning of the first wait, and the most in any of them."""
    rows = trial.evidence.table("unacknowledged").select(
        "time_ns", pl.col("connection_unacknowledged_bytes").alias("bytes")
    )
    begins = pl.DataFrame({"at_ns": [begin for begin, _ in trial.times(edges)]}, schema={"at_ns": pl.Int64})
    held = begins.join_asof(rows.sort("time_ns"), left_on="at_ns", right_on="time_ns")["bytes"].drop_nulls()
    if held.is_empty():
        return ()
    return (
        Fact("first_unacknowledged", float(held[0]), "bytes"),
        Fact("most_unacknowledged", float(held.max()), "bytes"),  # type: ignore[arg-type]
    )
