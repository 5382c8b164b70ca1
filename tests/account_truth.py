# SPDX-License-Identifier: Apache-2.0
"""Times that one can find by hand in the packets of a trial, without any account of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from quiclab.compare.study_tables import OpenedStudy


def trials_of(study: Path) -> dict[str, list[str]]:
    """Arm → its verified trials."""
    rows = OpenedStudy(study).table("trials").filter(status="verified").sort("block")
    return {str(arm): each["trial_id"].to_list() for (arm,), each in rows.group_by("arm", maintain_order=True)}


def by_why(study: Path, trial: str) -> dict[str, float]:
    """Reason → ms, by the account."""
    totals = OpenedStudy(study).trial_table("account_totals", trial)
    assert totals is not None
    return dict(totals.group_by("why").agg(pl.col("total_ns").sum() / 1e6).iter_rows())


def silences(study: Path, trial: str, least_ms: float) -> Iterator[float]:
    """Lengths, in ms, of the times in which nothing came to the server and it sent nothing, each ended by data that it
    sends again: what waiting for a retransmission timeout looks like in packets."""
    opened = OpenedStudy(study)
    log, captured = opened.trial_table("link_packets", trial), opened.trial_table("ip_packets", trial)
    assert log is not None
    assert captured is not None
    came = sorted(
        (log.filter(direction="up", action="delivered")).select(pl.col("due_ns") + pl.col("lateness_ns")).to_series()
    )
    sent = captured.filter(vantage="server", direction="down", protocol="tcp").drop_nulls("packet_index")
    places = log.filter(direction="down").select(pl.col("index").alias("packet_index"), "arrival_ns")
    seen: set[int] = set()
    before = 0
    for sequence, length, at in (
        sent.join(places, on="packet_index")
        .sort("arrival_ns")
        .select("tcp_seq", "payload_bytes", "arrival_ns")
        .iter_rows()
    ):
        heard = bisect_right(came, at)
        since = max(before, came[heard - 1] if heard else 0)
        if length and sequence in seen and at - since >= least_ms * 1e6:
            yield (at - since) / 1e6
        if length:
            seen.add(sequence)
        before = at


def timeouts_counted(study: Path, trial: str) -> int:
    """Retransmission timeouts of the server's connection, as its kernel counted them."""
    rows = OpenedStudy(study).trial_table("tcp_info", trial)
    assert rows is not None
    return int(rows.filter(vantage="server")["total_rto"].max() or 0)  # type: ignore[arg-type]


def idle_with(study: Path, trial: str, unacknowledged_bytes: int) -> float:
    """Time, in ms, in which the link had nothing to send to the client, each such time with so many bytes of the
    response's stream not acknowledged when it began."""
    opened = OpenedStudy(study)
    log, rows = opened.trial_table("link_packets", trial), opened.trial_table("unacknowledged", trial)
    assert log is not None
    assert rows is not None
    served = log.filter(direction="down").drop_nulls("left_ns").sort("left_ns")
    gaps = served.select(
        pl.col("left_ns").alias("time_ns"),
        (pl.col("left_ns").shift(-1) - pl.col("service_ns").shift(-1) - pl.col("left_ns")).alias("gap_ns"),
    )
    stream = rows.filter(pl.col("stream_id") == 0).select("time_ns", "unacknowledged_bytes").sort("time_ns")
    held = gaps.join_asof(stream, on="time_ns").filter(pl.col("unacknowledged_bytes") == unacknowledged_bytes)
    return float(held["gap_ns"].sum()) / 1e6
