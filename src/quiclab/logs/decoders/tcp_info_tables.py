# SPDX-License-Identifier: Apache-2.0
"""Sampled `struct tcp_info` (docs/reference/tcp-info-log.md) as tables: one row per sample and connection."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from quiclab.logs.decoders._api import Absent, Context, FileTables, Finding, Take
from quiclab.model.errors import DecodeError
from quiclab.model.tables import TABLES
from quiclab.store.packed_logs import read_plain

_HEADER = struct.Struct("<8sIIQHBB4xQQq8x")
_MAGIC = b"QLTCPINF"
_RECORD = struct.Struct("<QQII")

_STATES = (
    *("", "ESTABLISHED", "SYN_SENT", "SYN_RECEIVED", "FIN_WAIT_1", "FIN_WAIT_2", "TIME_WAIT", "CLOSED", "CLOSE_WAIT"),
    *("LAST_ACK", "LISTEN", "CLOSING"),
)
"""States by the kernel's numbers, with the names of RFC 9293 section 3.3.2."""

CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
"""Congestion avoidance states by number: enum tcp_ca_state of linux/tcp.h."""

_INFO = (
    *("u1 state_code", "u1 ca_state_code", "u1 retransmits", "u1 probes", "u1 backoff", "u1 options"),
    *("u1 window_scales", "u1 flags"),
    *("u4 rto_us", "u4 ato_us", "u4 snd_mss_bytes", "u4 rcv_mss_bytes"),
    *("u4 unacked", "u4 sacked", "u4 lost", "u4 retrans", "u4 fackets"),
    *("u4 last_data_sent_ms", "u4 last_ack_sent_ms", "u4 last_data_recv_ms", "u4 last_ack_recv_ms"),
    *("u4 pmtu_bytes", "u4 rcv_ssthresh_bytes", "u4 rtt_us", "u4 rttvar_us", "u4 snd_ssthresh", "u4 snd_cwnd"),
    *("u4 advmss_bytes", "u4 reordering", "u4 rcv_rtt_us", "u4 rcv_space_bytes", "u4 total_retrans"),
    *("u8 pacing_rate_bytes_per_s", "u8 max_pacing_rate_bytes_per_s", "u8 bytes_acked", "u8 bytes_received"),
    *("u4 segs_out", "u4 segs_in", "u4 notsent_bytes", "u4 min_rtt_us", "u4 data_segs_in", "u4 data_segs_out"),
    *("u8 delivery_rate_bytes_per_s", "u8 busy_time_us", "u8 rwnd_limited_us", "u8 sndbuf_limited_us"),
    *("u4 delivered", "u4 delivered_ce", "u8 bytes_sent", "u8 bytes_retrans", "u4 dsack_dups", "u4 reord_seen"),
    *("u4 rcv_ooopack", "u4 snd_wnd_bytes", "u4 rcv_wnd_bytes", "u4 rehash", "u2 total_rto"),
    *("u2 total_rto_recoveries", "u4 total_rto_time_ms", "u4 received_ce"),
    *("u4 delivered_e1_bytes", "u4 delivered_e0_bytes", "u4 delivered_ce_bytes"),
    *("u4 received_e1_bytes", "u4 received_e0_bytes", "u4 received_ce_bytes"),
)
"""Fields of struct tcp_info of linux/tcp.h: names without `tcpi_`, with the unit where it is no count of packets.
Fields that a later kernel adds behind them are not read."""

_BBR = ("u8 bbr_bw_bytes_per_s", "u4 bbr_min_rtt_us", "u4 bbr_pacing_gain_256ths", "u4 bbr_cwnd_gain_256ths")
_MEMORY = (
    *("u4 rmem_bytes", "u4 rcvbuf_bytes", "u4 wmem_bytes", "u4 sndbuf_bytes", "u4 fwd_alloc_bytes"),
    *("u4 wmem_queued_bytes", "u4 optmem_bytes", "u4 backlog_bytes", "u4 drops"),
)
_ATTRIBUTES = {2: _INFO, 16: _BBR, 7: _MEMORY}
"""Fields by attribute: INET_DIAG_INFO, INET_DIAG_BBRINFO, INET_DIAG_SKMEMINFO of linux/inet_diag.h."""
_INET_DIAG_CONG = 4


@dataclass(frozen=True)
class TcpInfoLog:
    """Header and samples of a log."""

    interval_ns: int
    local_port: int
    ip_version: int
    complete: bool
    """True if the writer ended by itself; if it was killed, `missed` is not known."""
    missed: int
    """Number of instants that passed without a sample."""
    left_bytes: int
    """Bytes at the end that are no whole sample: of one that was cut off, or of all behind a damaged one."""
    realtime_minus_monotonic_ns: int
    sample_times: pl.DataFrame
    """Columns before_ns and after_ns (CLOCK_MONOTONIC) of every sample, including those without a connection."""
    samples: pl.DataFrame
    """One row per sample and connection; null where the kernel's struct ends before the field."""


@dataclass(frozen=True)
class _Message:
    """One socket in one sample."""

    before_ns: int
    after_ns: int
    family: int
    state: int
    ports: tuple[int, int]
    addresses: tuple[bytes, bytes]
    attributes: dict[int, bytes]


def read_tcp_info_log(path: Path) -> TcpInfoLog:
    """Decode a whole file; a last record that was cut off is left out. Raises DecodeError."""
    try:
        data = read_plain(path)
        if data[:8] != _MAGIC:
            raise ValueError("it does not begin with QLTCPINF")
        _, version, size, interval, port, ip_version, complete, _, missed, offset = _HEADER.unpack_from(data)
        if version != 1:
            raise ValueError(f"version {version} is not known: only 1 is")
        records = list(_records(data, size))
        messages = [each for before, after, body in records for each in _messages(before, after, body)]
    except (OSError, ValueError, struct.error) as error:
        raise DecodeError(f"cannot decode {path}: {error}", "the file is damaged, or of another format") from error
    times = pl.DataFrame(
        [record[:2] for record in records], schema={"before_ns": pl.Int64, "after_ns": pl.Int64}, orient="row"
    )
    left = max(0, len(data) - size - sum(_RECORD.size + len(body) for _, _, body in records))
    return TcpInfoLog(interval, port, ip_version, bool(complete), missed, left, offset, times, _frame(messages))


def _records(data: bytes, position: int) -> Iterator[tuple[int, int, bytes]]:
    while position + _RECORD.size <= len(data):
        before, after, length, _ = _RECORD.unpack_from(data, position)
        position += _RECORD.size
        if position + length > len(data):
            return
        if max(before, after) >= 1 << 63:
            raise ValueError(f"a sample at {max(before, after)} ns, which is beyond every clock")
        yield before, after, data[position : position + length]
        position += length


def _messages(before: int, after: int, body: bytes) -> Iterator[_Message]:
    """Messages of one sample: each is a struct nlmsghdr, an inet_diag_msg, and attributes."""
    position = 0
    while position < len(body):
        (length,) = struct.unpack_from("<I", body, position)
        if length < 88 or position + length > len(body):
            raise ValueError(f"a message of {length} bytes stands where {len(body) - position} are left")
        family, state = body[position + 16], body[position + 17]
        ports = struct.unpack_from("!HH", body, position + 20)
        addresses = body[position + 24 : position + 40], body[position + 40 : position + 56]
        attributes = dict(_attributes(body[position + 88 : position + length]))
        yield _Message(before, after, family, state, ports, addresses, attributes)
        position += (length + 3) & ~3


def _attributes(body: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position + 4 <= len(body):
        length, kind = struct.unpack_from("<HH", body, position)
        if length < 4:
            raise ValueError(f"an attribute of {length} bytes")
        yield kind, body[position + 4 : position + length]
        position += (length + 3) & ~3


def _frame(messages: Sequence[_Message]) -> pl.DataFrame:
    identity = pl.DataFrame(
        [
            (
                *(each.before_ns, each.after_ns, _address(each.family, each.addresses[0]), each.ports[0]),
                *(_address(each.family, each.addresses[1]), each.ports[1], _name(_STATES, each.state)),
                each.attributes.get(_INET_DIAG_CONG, b"").rstrip(b"\0").decode("ascii", "replace") or None,
                len(each.attributes[2]) if 2 in each.attributes else None,
            )
            for each in messages
        ],
        schema={
            "before_ns": pl.Int64,
            "after_ns": pl.Int64,
            "local_address": pl.String,
            "local_port": pl.UInt16,
            "remote_address": pl.String,
            "remote_port": pl.UInt16,
            "state": pl.String,
            "congestion_control": pl.String,
            "info_length_bytes": pl.UInt16,
        },
        orient="row",
    )
    columns = [
        column
        for kind, fields in _ATTRIBUTES.items()
        for column in _columns([each.attributes.get(kind, b"") for each in messages], fields)
    ]
    flags = pl.col("flags")
    return identity.hstack(columns).select(
        pl.exclude("state_code", "ca_state_code", "window_scales", "flags"),
        pl.col("ca_state_code").replace_strict(dict(enumerate(CA_STATES)), default=None).alias("ca_state"),
        (flags & 1 == 1).alias("delivery_rate_app_limited"),
    )


def _columns(values: Sequence[bytes], fields: Sequence[str]) -> Iterator[pl.Series]:
    """One column per field of a C struct, null where a value ends before the field does."""
    split = [field.split(" ") for field in fields]
    layout = np.dtype([(name, "<" + code) for code, name in split])
    joined = b"".join([value[: layout.itemsize].ljust(layout.itemsize, b"\0") for value in values])
    rows = np.frombuffer(joined, layout)
    lengths = pl.Series([len(value) for value in values], dtype=pl.UInt32)
    end = 0
    for code, name in split:
        end += int(code[1:])
        column = pl.Series(name, rows[name].astype(np.dtype(code)))
        yield pl.select(pl.when(lengths >= end).then(column).alias(name)).to_series()


def _address(family: int, raw: bytes) -> str:
    """Address as text; an IPv4 address inside an IPv6 one (RFC 4291 section 2.5.5.2) becomes IPv4."""
    if family == socket.AF_INET:
        return socket.inet_ntop(socket.AF_INET, raw[:4])
    if raw.startswith(bytes(10) + b"\xff\xff"):
        return socket.inet_ntop(socket.AF_INET, raw[12:])
    return socket.inet_ntop(socket.AF_INET6, raw)


def _name(names: Sequence[str], number: int) -> str | None:
    return names[number] if 0 < number < len(names) else None


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
        elif log.left_bytes:
            told = f"{log.left_bytes} bytes at its end are no whole sample: it was cut off or is damaged"
            findings.append(Finding("truncated_log", "data_loss", 1, told))
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
