# SPDX-License-Identifier: Apache-2.0
"""The congestion window of the bodies' sender over time, in packets, as its log or its kernel tells it."""

from __future__ import annotations

from functools import lru_cache

import polars as pl

from quiclab.diagnoses._trial import Trial

_FULL_BYTES = 1200
"""Least size of a datagram that can be full (RFC 9000 section 14.1)."""


def windows(trial: Trial) -> pl.DataFrame:
    """Instants (`time_ns`) and the window from each on, in full packets (`packets`); no row where nothing tells."""
    evidence = trial.evidence
    if not evidence.quic:
        rows = evidence.table("tcp_info").filter(pl.col("vantage") == evidence.sender).drop_nulls("snd_cwnd")
        if rows.height:  # of several connections the one that sends the bodies
            sent = rows.group_by("connection").agg(pl.col("data_segs_out").max()).sort("data_segs_out", "connection")
            rows = rows.filter(pl.col("connection") == sent["connection"][-1])
        # In recovery the kernel keeps it at what is in flight, on its way to the threshold (RFC 6937).
        aim = pl.when(pl.col("ca_state") == "recovery").then(pl.max_horizontal("snd_cwnd", "snd_ssthresh"))
        packets = aim.otherwise("snd_cwnd").cast(pl.Float64).alias("packets")
        return rows.sort("time_ns").select("time_ns", packets)
    rows = evidence.table("transport_metrics").filter(
        pl.col("vantage") == evidence.sender, ~pl.col("estimate"), pl.col("transport") == "quic"
    )
    rows = rows.drop_nulls("cwnd_bytes").sort("time_ns")
    return rows.select("time_ns", (pl.col("cwnd_bytes") / full_bytes(trial)).alias("packets"))


def full_bytes(trial: Trial) -> int:
    """The size that most of a QUIC sender's full datagrams have."""
    sizes = trial.evidence.packets(trial.evidence.sender, trial.way, ("udp",))["payload_bytes"].drop_nulls()
    full = sizes.filter(sizes >= _FULL_BYTES).value_counts().sort("count", "payload_bytes")
    return int(full["payload_bytes"][-1]) if full.height else _FULL_BYTES


@lru_cache(maxsize=1)
def before_each_end(trial: Trial) -> pl.Series:
    """The window just before the end of each edge, in packets; null where nothing tells."""
    ends = trial.account.select(pl.col("until_ns") - 1)
    return ends.join_asof(windows(trial), left_on="until_ns", right_on="time_ns", strategy="backward")["packets"]
