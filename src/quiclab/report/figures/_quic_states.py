# SPDX-License-Identifier: Apache-2.0
"""The states of a QUIC sender: as its log names them, else from the window and threshold that it logs."""

from __future__ import annotations

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.model.tables import TABLES
from quiclab.report.figures._series import best_source, transfer_rows

Spans = list[tuple[str, float]]
_GROWING = ("slow_start", "congestion_avoidance")


def spans(study: OpenedStudy, trial_id: str, zero_ns: int, most_bytes: int | None) -> Spans:
    """States with their beginnings in ms since the client's first packet; nothing where no log tells."""
    metrics = _server_rows(study, "transport_metrics", trial_id, zero_ns)
    named = _server_rows(study, "cc_states", trial_id, zero_ns).filter(pl.col("transport").ne_missing("tcp"))
    known = metrics.filter(
        pl.col("transport").ne_missing("tcp") & ~pl.col("estimate") & pl.col("cwnd_bytes").is_not_null()
    )
    source = best_source(named)
    if source is not None:
        changes = named.filter(source=source[0]).select("time_ns", state="new_state")
    elif (source := best_source(known)) is not None:
        changes = _inferred(metrics.filter(source=source[0]), _server_rows(study, "losses", trial_id, zero_ns))
    else:
        return []
    changes = pl.concat([changes, _at_most(known.filter(source=source[0]), changes, most_bytes)])
    changes = _held_back(_server_rows(study, "flow_control", trial_id, zero_ns).filter(source=source[0]), changes)
    return [((state), (time_ns - zero_ns) / 1e6) for time_ns, state in changes.sort("time_ns").rows()]


def _server_rows(study: OpenedStudy, name: str, trial_id: str, zero_ns: int) -> pl.DataFrame:
    rows = study.trial_table(name, trial_id)
    rows = TABLES[name].empty() if rows is None else rows
    return transfer_rows(rows.filter((pl.col("vantage") == "server") & pl.col("time_ns").is_not_null()), zero_ns)


def _inferred(metrics: pl.DataFrame, losses: pl.DataFrame) -> pl.DataFrame:
    """States by RFC 9002 section 7.3: slow start below the threshold, and recovery for a round trip after a loss."""
    told = metrics.sort("time_ns").with_columns(
        pl.col("ssthresh_bytes", "cwnd_bytes", "phase", "smoothed_rtt_ms").forward_fill(),
        pl.col("pto_count").forward_fill().fill_null(0),
    )
    lost = losses.filter(pl.col("direction") == "down").select("time_ns", lost_ns="time_ns").sort("time_ns")
    told = told.join_asof(lost, on="time_ns")
    recovering = (pl.col("time_ns") - pl.col("lost_ns")) / 1e6 < pl.col("smoothed_rtt_ms")
    below = pl.col("ssthresh_bytes").is_null() | (pl.col("cwnd_bytes") < pl.col("ssthresh_bytes"))
    return told.select(
        "time_ns",
        state=pl.when(pl.col("pto_count") > 0).then(pl.lit("timeout"))
        .when(pl.col("phase").is_not_null()).then(pl.col("phase"))
        .when(recovering).then(pl.lit("recovery"))
        .when(below).then(pl.lit("slow_start"))
        .otherwise(pl.lit("congestion_avoidance")),
    )  # fmt: skip


def _at_most(metrics: pl.DataFrame, changes: pl.DataFrame, most_bytes: int | None) -> pl.DataFrame:
    """Instants at which the window reaches its bound and leaves it again, while it could grow."""
    empty = changes.clear()
    if most_bytes is None or not metrics.height:
        return empty
    full = metrics.sort("time_ns").select("time_ns", full=pl.col("cwnd_bytes") >= most_bytes)
    full = full.filter(pl.col("full") != pl.col("full").shift(1, fill_value=False))
    told = full.join_asof(changes.sort("time_ns"), on="time_ns").filter(pl.col("state").is_in(_GROWING))
    return told.select("time_ns", state=pl.when("full").then(pl.lit("maximum_window")).otherwise(pl.col("state")))


def _held_back(limits: pl.DataFrame, changes: pl.DataFrame) -> pl.DataFrame:
    """`changes` with the state in which the peer's limit held the sender back: from `blocked` until the next limit."""
    steps = limits.filter((pl.col("direction") == "down") & pl.col("scope").is_in(["connection", "stream"])).sort(
        "time_ns"
    )
    blocked = steps.filter(pl.col("event") == "blocked").select("time_ns", state=pl.lit("flow_limited"))
    if not blocked.height:
        return changes
    freed = steps.filter(pl.col("event") != "blocked").select("time_ns", freed_ns="time_ns")
    ends = blocked.select("time_ns").join_asof(freed, on="time_ns", strategy="forward").drop_nulls().unique("freed_ns")
    after = (
        ends.select(time_ns="freed_ns").sort("time_ns").join_asof(changes.sort("time_ns"), on="time_ns").drop_nulls()
    )
    return pl.concat([changes, blocked, after.select("time_ns", "state")])
