# SPDX-License-Identifier: Apache-2.0
"""What the endpoints' qlogs say. Rows keep the order of the log, which matters where its times are coarse."""

from __future__ import annotations

import polars as pl

from quiclab.tables._api import NEVER, Column, Table

_TIME = (
    "CLOCK_MONOTONIC where the log has an epoch; from the log's own start where decode_stats says `no_epoch`, and "
    "CLOCK_REALTIME where it says `no_clock_offset`."
)
_VANTAGE = Column("vantage", pl.String, "", "the log does not say", "Whose log: `client` or `server`.")
_CONNECTION = Column(
    "connection", pl.String, "", NEVER,
    "The log's name of the connection; for the N-th trace of a file that has none: the file's name, `#` and N.",
)  # fmt: skip
_TIME_NS = Column("time_ns", pl.Int64, "ns", NEVER, _TIME)
_PACKET = (
    _VANTAGE,
    _CONNECTION,
    Column("event", pl.String, "", NEVER, "What happened to the packet: `sent`, `received`, `lost` or `dropped`."),
    _TIME_NS,
    Column("packet_type", pl.String, "", "the log does not say", "`initial`, `handshake`, `0RTT`, `1RTT`, `retry`, …"),
    Column("packet_number", pl.UInt64, "", "not readable", "Within its packet number space (RFC 9000 section 12.3)."),
)

QUIC_PACKETS = Table(
    "quic_packets",
    "One packet event in a qlog.",
    (
        *_PACKET,
        Column("length_bytes", pl.UInt64, "bytes", "the log does not say", "The QUIC packet, header and tag included."),
        Column("trigger", pl.String, "", "the log does not say", "Why, in the log's words."),
    ),
)

QUIC_FRAMES = Table(
    "quic_frames",
    "One frame of a packet event.",
    (
        *_PACKET,
        Column("frame_type", pl.String, "", NEVER, "qlog's name of the frame type."),
        Column("stream_id", pl.UInt64, "", "not about a stream", "RFC 9000 section 2.1."),
        Column("offset", pl.UInt64, "bytes", "no STREAM or CRYPTO frame", "Offset of the frame's data."),
        Column("length_bytes", pl.UInt64, "bytes", "the frame has no length", "Length of the frame's data."),
        Column("fin", pl.Boolean, "", "the log does not say, which means false", "Whether the stream ends here."),
    ),
)

QUIC_ACKS = Table(
    "quic_acks",
    "One range of one ACK frame; the packet is the one that carries the frame.",
    (
        *_PACKET,
        Column("first", pl.UInt64, "", NEVER, "Lowest packet number of the range."),
        Column("last", pl.UInt64, "", NEVER, "Highest packet number of the range."),
        Column("ack_delay_us", pl.Float64, "us", "the log does not say", "The ACK Delay field."),
    ),
)

_UNCHANGED = "unchanged since the row before"

TRANSPORT_METRICS = Table(
    "transport_metrics",
    "One update of a sender's recovery state (RFC 9002).",
    (
        _VANTAGE,
        _CONNECTION,
        _TIME_NS,
        Column("cwnd_bytes", pl.UInt64, "bytes", _UNCHANGED, "Congestion window."),
        Column("bytes_in_flight", pl.UInt64, "bytes", _UNCHANGED, "Sent and neither acknowledged nor lost."),
        Column("ssthresh_bytes", pl.UInt64, "bytes", "unchanged, or not set yet", "Slow start threshold."),
        Column("smoothed_rtt_ms", pl.Float64, "ms", _UNCHANGED, "Smoothed round-trip time."),
        Column("min_rtt_ms", pl.Float64, "ms", _UNCHANGED, "Lowest round-trip time."),
        Column("latest_rtt_ms", pl.Float64, "ms", _UNCHANGED, "Latest sample of the round-trip time."),
        Column("rtt_variance_ms", pl.Float64, "ms", _UNCHANGED, "Variation of the round-trip time."),
        Column("pacing_rate_bit_per_s", pl.Float64, "bit/s", "unchanged, or no pacing", "Pacing rate."),
        Column("pto_count", pl.UInt32, "", _UNCHANGED, "Probe timeouts in a row."),
    ),
)

HANDSHAKE = Table(
    "handshake",
    "One member of an event about versions, ALPN, transport parameters, or a connection's start and end.",
    (
        _VANTAGE,
        _CONNECTION,
        _TIME_NS,
        Column("name", pl.String, "", NEVER, "`event.member`, or `event.owner.member` (owner or initiator)."),
        Column("value", pl.String, "", NEVER, "Its value as text; JSON where it is no scalar."),
    ),
)
