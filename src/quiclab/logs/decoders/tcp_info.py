# SPDX-License-Identifier: Apache-2.0
"""Sampled `struct tcp_info` (docs/reference/tcp-info-log.md): one row per sample and connection."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from quiclab.model.errors import DecodeError
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
    return TcpInfoLog(interval, port, ip_version, bool(complete), missed, offset, times, _frame(messages))


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
