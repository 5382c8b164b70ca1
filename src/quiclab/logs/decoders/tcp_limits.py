# SPDX-License-Identifier: Apache-2.0
"""What limited a TCP connection between two samples: the differences of what the kernel counts (tcp_get_info of Linux,
net/ipv4/tcp.c).

Its clocks exclude each other: the kernel adds the three up to `tcpi_busy_time`, and runs the one of the send buffer
rather than that of the receive window (tcp_chrono_start, net/ipv4/tcp_output.c).
"""

from __future__ import annotations

import polars as pl

_NS_PER_US = 1000
_BEYOND = 1 << 53
"""Microseconds or bytes that no connection comes to."""
_CLOCKS = {
    "busy_ns": "busy_time_us", "receive_window_ns": "rwnd_limited_us", "send_buffer_ns": "sndbuf_limited_us"
}  # fmt: skip


def segments_in_flight() -> pl.Expr:
    """Segments in flight, as the kernel counts: those that SACK reported or that are considered lost are not, those
    sent again are."""
    unacked, sacked, lost, again = (pl.col(name).cast(pl.Int64) for name in ("unacked", "sacked", "lost", "retrans"))
    return (unacked - sacked - lost + again).clip(0)


def tcp_limits(samples: pl.DataFrame) -> pl.DataFrame:
    """Rows of `tcp_limits`, from the samples of `tcp_info`: one for each pair of neighbours of one connection.

    Counters that run backwards are those of a later connection between the same ports: no row spans both.
    """

    def before(name: str) -> pl.Expr:
        return pl.col(name).shift(1).over("connection", order_by="time_ns")

    def grown(name: str) -> pl.Expr:
        count = pl.when(pl.col(name) < _BEYOND).then(pl.col(name)).cast(pl.Int64)
        return count - count.shift(1).over("connection", order_by="time_ns")

    full = segments_in_flight() >= pl.col("snd_cwnd")
    marked = samples.with_columns(full=full).with_columns(
        since_ns=before("time_ns"),
        **{name: grown(clock) * _NS_PER_US for name, clock in _CLOCKS.items()},
        window_full=pl.col("full") & before("full"),
        least_notsent_bytes=pl.min_horizontal("notsent_bytes", before("notsent_bytes")),
        # A null on either side is a null, not the other side.
        known=pl.col("notsent_bytes").is_not_null() & before("notsent_bytes").is_not_null(),
        unacked_bytes=pl.col("unacked").cast(pl.UInt64) * pl.col("snd_mss_bytes").cast(pl.UInt64),
        acked_bytes=grown("bytes_acked"),
        delivery_rate_bit_per_s=pl.when(pl.col("delivery_rate_bytes_per_s") > 0).then(
            pl.col("delivery_rate_bytes_per_s").cast(pl.Float64) * 8
        ),
        application_limited=pl.col("delivery_rate_app_limited"),
    )
    steps = marked.filter(
        pl.col("since_ns").is_not_null(),
        *(pl.col(name).fill_null(0) >= 0 for name in (*_CLOCKS, "acked_bytes")),
    )
    return steps.with_columns(
        other_busy_ns=pl.col("busy_ns") - pl.col("receive_window_ns") - pl.col("send_buffer_ns"),
        least_notsent_bytes=pl.when("known").then("least_notsent_bytes"),
        acked_bytes=pl.col("acked_bytes").cast(pl.UInt64),
    )
