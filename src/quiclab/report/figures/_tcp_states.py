# SPDX-License-Identifier: Apache-2.0
"""The states of a TCP sender, from samples of what its kernel says of the connection.

The kernel's own state `open` says only that nothing is wrong. What the sender does in it follows from the window, its
threshold, what waits to be sent, and what the receiver's window held back.
"""

from __future__ import annotations

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.report.figures._series import transfer_rows

_STARTUP_GAIN, _DRAIN_GAIN = 640, 128
"""BBR's pacing gain in 256ths: 739 in startup, 88 in drain, 192 to 320 while it probes the bandwidth."""
_PROBE_RTT_GAIN = 256
"""BBR's gain of the window while it probes the round-trip time; at all other times it is 512 or 739."""

_TICK_NS = 10_500_000
"""The kernel counts the time that a window held it back in ticks of its own, of 10 ms at the most."""


def spans(study: OpenedStudy, trial_id: str, zero_ns: int) -> tuple[list[tuple[str, float]], float]:
    """States with their beginnings in ms, and the interval of the samples in ms; nothing where there are none."""
    samples = study.trial_table("tcp_info", trial_id)
    if samples is None:
        return [], 0.0
    own = transfer_rows(samples.filter((pl.col("vantage") == "server") & pl.col("ca_state").is_not_null()), zero_ns)
    own = _busy_connection(own.sort("time_ns"))
    if not own.height:
        return [], 0.0
    told = own.select(((pl.col("time_ns") - zero_ns) / 1e6).alias("x_ms"), _state().alias("state"))
    interval = own["time_ns"].diff().drop_nulls().median()
    changed = told.filter(pl.col("state") != pl.col("state").shift(1, fill_value=""))
    return [(state, x_ms) for x_ms, state in changed.rows()], float(interval or 0) / 1e6  # type: ignore[arg-type]


def _busy_connection(samples: pl.DataFrame) -> pl.DataFrame:
    """One sample an instant, of the connection that was last to send something new.

    There is a second one after a change of the client's address.
    """
    sending = samples.with_columns(
        news=(pl.col("bytes_sent").fill_null(0).diff().over("connection", order_by="time_ns").fill_null(1) > 0)
    ).with_columns(
        news_ns=pl.when(pl.col("news")).then(pl.col("time_ns")).forward_fill().over("connection", order_by="time_ns")
    )
    latest = pl.col("news_ns").cum_max()
    return (
        sending.sort("time_ns").filter(pl.col("news_ns") >= latest).unique("time_ns", keep="last", maintain_order=True)
    )


def _state() -> pl.Expr:
    """Expression for the state of a sample: the first of these that holds."""
    held_back = _counting(pl.col("rwnd_limited_us"))
    in_flight = pl.col("unacked").cast(pl.Int64) - pl.col("sacked") - pl.col("lost") + pl.col("retrans")
    nothing_waits = (pl.col("notsent_bytes") == 0) & (in_flight < pl.col("snd_cwnd"))
    pacing, window = pl.col("bbr_pacing_gain_256ths"), pl.col("bbr_cwnd_gain_256ths")
    return (
        pl.when(pl.col("data_segs_out") == 0).then(pl.lit("init"))
        .when(pl.col("ca_state") == "loss").then(pl.lit("timeout"))
        .when(pl.col("ca_state").is_in(["recovery", "cwr"])).then(pl.lit("recovery"))
        .when(held_back).then(pl.lit("flow_limited"))
        .when(nothing_waits).then(pl.lit("application_limited"))
        .when(pacing >= _STARTUP_GAIN).then(pl.lit("startup"))
        .when(pacing <= _DRAIN_GAIN).then(pl.lit("drain"))
        .when(window == _PROBE_RTT_GAIN).then(pl.lit("probe_rtt"))
        .when(pacing.is_not_null()).then(pl.lit("probe_bw"))
        .when(pl.col("snd_cwnd") < pl.col("snd_ssthresh")).then(pl.lit("slow_start"))
        .otherwise(pl.lit("congestion_avoidance"))
    )  # fmt: skip


def _counting(counter: pl.Expr) -> pl.Expr:
    """Filter for rows in which a counter grows, or has just grown and soon will again."""
    time = pl.col("time_ns")
    grew = counter.cast(pl.Int64).diff().over("connection").fill_null(0) > 0
    last, following = (pl.when(grew).then(time).fill_null(strategy=way) for way in ("forward", "backward"))
    between = (time - last <= _TICK_NS) & (following - time <= _TICK_NS)
    return grew | between.fill_null(value=False)
