# SPDX-License-Identifier: Apache-2.0
"""Sampled `struct tcp_info` (docs/reference/tcp-info-log.md) as tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from quiclab.logs.decoders._api import Absent, Context, FileTables, Finding, Take
from quiclab.logs.decoders.tcp_info import TcpInfoLog, read_tcp_info_log
from quiclab.logs.decoders.tcp_limits import segments_in_flight, tcp_limits
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
        """Whether the header has the magic number."""
        return head.startswith(b"QLTCPINF")

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode into one row per sample and connection, and one per change of the congestion control's state."""
        del take
        log = read_tcp_info_log(path)
        samples = _named(log, context)
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


def _named(log: TcpInfoLog, context: Context) -> pl.DataFrame:
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
