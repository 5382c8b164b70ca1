# SPDX-License-Identifier: Apache-2.0
"""Size of a window of flow control: what the receiver allows, and how far the sender was ahead when it was used up."""

from __future__ import annotations

from typing import Literal

import polars as pl

from quiclab.why.account.credit import announced_for_streams, limits
from quiclab.why.mechanisms._api import Fact
from quiclab.why.mechanisms._trial import Trial


def beyond(trial: Trial, edges: pl.Series) -> tuple[Fact, ...]:
    """Bytes that were not acknowledged at the beginning of the first wait, and the most in any of them."""
    rows = trial.unacknowledged.select("time_ns", pl.col("connection_unacknowledged_bytes").alias("bytes"))
    begins = pl.DataFrame({"at_ns": [begin for begin, _ in trial.times(edges)]}, schema={"at_ns": pl.Int64})
    held = begins.join_asof(rows.sort("time_ns"), left_on="at_ns", right_on="time_ns")["bytes"].drop_nulls()
    if held.is_empty():
        return ()
    return (
        Fact("first_unacknowledged", float(held[0]), "bytes"),
        Fact("most_unacknowledged", float(held.max()), "bytes"),  # type: ignore[arg-type]
    )


def window(trial: Trial, edges: pl.Series, scope: Literal["stream", "connection"]) -> tuple[Fact, ...]:
    """The window that the receiver began with, named after its role, and what it allowed more in each round trip from
    the first wait to the last."""
    rows = limits(trial.evidence).filter(pl.col("scope") == scope).drop_nulls("limit").sort("time_ns")
    stream = scope == "stream"
    first = announced_for_streams(trial.evidence) if stream else next(iter(rows["limit"].to_list()), None)
    role = "proxy" if trial.evidence.trial.proxy and trial.evidence.receiver == "server" else trial.evidence.receiver
    begun = () if first is None else (Fact(f"window_announced_by_{role}", first, "bytes"),)
    waits = trial.times(edges)
    begin_ns, end_ns = waits[0][0], waits[-1][1]
    if not trial.round_trip_ns or end_ns - begin_ns < 2 * trial.round_trip_ns:
        return begun
    given = 0
    for _, each in rows.group_by("stream_id"):
        by_begin = _highest(each, begin_ns) or (first if stream else 0) or 0
        given += max(0, _highest(each, end_ns) - by_begin)
    return (*begun, Fact("allowed_in_a_round_trip", given * trial.round_trip_ns / (end_ns - begin_ns), "bytes"))


def _highest(rows: pl.DataFrame, until_ns: int) -> int:
    """The highest limit that was given by an instant; 0 before the first."""
    told: list[int] = rows.filter(pl.col("time_ns") <= until_ns)["limit"].to_list()
    return max(told, default=0)
