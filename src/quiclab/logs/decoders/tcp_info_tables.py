# SPDX-License-Identifier: Apache-2.0
"""Sampled `struct tcp_info` (docs/reference/tcp-info-log.md) as tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from quiclab.logs.decoders._api import Absent, Context, FileTables, Finding, Take
from quiclab.logs.decoders.tcp_info import TcpInfoLog, read_tcp_info_log
from quiclab.model.tables import TABLES

_NO_SSTHRESH = 0x7FFFFFFF
_NO_MIN_RTT = 0xFFFFFFFF
_NO_RATE = 0xFFFFFFFFFFFFFFFF


class TcpInfo:
    """Samples of the kernel's TCP connections: `server.tcpinfo` and `origin.tcpinfo` of a trial."""

    format = "tcp_info"
    versions = ("1",)
    tables = ("tcp_info", "tcp_limits", "transport_metrics", "cc_states")
    clock = "CLOCK_MONOTONIC of the machine that ran the trial; each connection was looked at between two instants."

    def sniff(self, head: bytes) -> bool:
        """True if the header has the magic number."""
        return head.startswith(b"QLTCPINF")

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode into one row per sample and connection, and one per change of the congestion control's state."""
        del take
        log = read_tcp_info_log(path)
        samples = _connection_samples(log, context)
        tables = {
            "tcp_info": samples,
            "tcp_limits": tcp_limits(samples),
            "transport_metrics": _metrics(samples),
            "cc_states": _states(samples),
        }
        tables = {
            name: frame.select(TABLES[name].decoder_schema.names()) for name, frame in tables.items() if frame.height
        }
        findings = []
        if not log.complete:
            findings.append(Finding("truncated_log", "data_loss", 1, "the program that took the samples was killed"))
        if log.missed:
            findings.append(Finding("missed_samples", "notice", log.missed, "instants that passed without a sample"))
        spans = (log.sample_times["after_ns"] - log.sample_times["before_ns"]).to_list()
        return FileTables(
            tables,
            tuple(findings),
            absent=(Absent("cc_states", "trigger", "a look at a connection does not say why it is as it is"),),
            dialect=f"version 1, every {log.interval_ns / 1e6:g} ms",
            clock="monotonic",
            resolution_ns=max(1, *spans, 1),
            realtime_minus_monotonic_ns=None,
        )


def _connection_samples(log: TcpInfoLog, context: Context) -> pl.DataFrame:
    """Samples with the columns that all tables of connections have."""

    def end(which: str) -> pl.Expr:
        address = pl.col(f"{which}_address")
        bracketed = pl.when(address.str.contains(":", literal=True)).then("[" + address + "]").otherwise(address)
        return pl.concat_str(bracketed, pl.lit(":"), pl.col(f"{which}_port").cast(pl.String))

    # The port that the log asked the kernel for is the server's.
    local_is_client = context.vantage == "client" and not log.local_port
    client, server = ("local", "remote") if local_is_client else ("remote", "local")
    return log.samples.with_columns(
        vantage=pl.lit(context.vantage, pl.String),
        connection=pl.concat_str(end(client), pl.lit("-"), end(server)),
        time_ns=(pl.col("before_ns") + pl.col("after_ns")) // 2,
    )


def _metrics(samples: pl.DataFrame) -> pl.DataFrame:
    mss = pl.col("snd_mss_bytes").cast(pl.UInt64)

    def unless(name: str, nothing: int, *more: int) -> pl.Expr:
        return pl.when(~pl.col(name).is_in([nothing, *more])).then(pl.col(name))

    def milliseconds(name: str, *nothing: int) -> pl.Expr:
        return unless(name, 0, *nothing).cast(pl.Float64) / 1000

    return samples.select(
        "vantage",
        "connection",
        "time_ns",
        transport=pl.lit("tcp"),
        cwnd_bytes=pl.col("snd_cwnd").cast(pl.UInt64) * mss,
        bytes_in_flight=(segments_in_flight() * pl.col("snd_mss_bytes").cast(pl.Int64)).cast(pl.UInt64),
        ssthresh_bytes=unless("snd_ssthresh", _NO_SSTHRESH).cast(pl.UInt64) * mss,
        smoothed_rtt_ms=milliseconds("rtt_us"),
        min_rtt_ms=milliseconds("min_rtt_us", _NO_MIN_RTT),
        latest_rtt_ms=pl.lit(None, pl.Float64),
        rtt_variance_ms=milliseconds("rttvar_us"),
        pacing_rate_bit_per_s=unless("pacing_rate_bytes_per_s", _NO_RATE).cast(pl.Float64) * 8,
        bandwidth_bit_per_s=pl.col("bbr_bw_bytes_per_s").cast(pl.Float64) * 8,
        phase=pl.lit(None, pl.String),
        pto_count=pl.col("retransmits").cast(pl.UInt32),
        estimate=pl.lit(value=False),
    )


def _states(samples: pl.DataFrame) -> pl.DataFrame:
    before = pl.col("ca_state").shift(1).over("connection")
    return (
        samples.filter(pl.col("ca_state").is_not_null())
        .with_columns(old_state=before, new_state=pl.col("ca_state"))
        .filter(pl.col("old_state").is_null() | (pl.col("old_state") != pl.col("new_state")))
        .select(
            "vantage",
            "connection",
            "time_ns",
            "old_state",
            "new_state",
            transport=pl.lit("tcp"),
            trigger=pl.lit(None, pl.String),
            estimate=pl.lit(value=False),
        )
    )


# The limits of a TCP connection between two samples: the differences of what the kernel counts (tcp_get_info of Linux,
# net/ipv4/tcp.c).
#
# Its clocks exclude each other: the kernel adds the three up to `tcpi_busy_time`, and runs the one of the send buffer
# rather than that of the receive window (tcp_chrono_start, net/ipv4/tcp_output.c).
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
