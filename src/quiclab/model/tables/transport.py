# SPDX-License-Identifier: Apache-2.0
"""Tables that QUIC and TCP share; rows keep the order of their log."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from quiclab.model.tables._api import CAPTURED, NEVER, PACKET_INDEX, Column, log_table
from quiclab.model.tables._common import (
    CONNECTION,
    DIRECTION,
    ESTIMATE,
    EVENT,
    PACKET_NUMBER,
    PACKET_TYPE,
    STREAM_ID,
    TIME,
    TRANSPORT,
    VANTAGE,
)

_OF_CONNECTION = (VANTAGE, CONNECTION, TIME, TRANSPORT)

PACKETS = log_table(
    "packets",
    "One event of one packet of a connection: a QUIC packet of a qlog, NetLog or decrypted capture, or a TCP segment.",
    *_OF_CONNECTION,
    EVENT,
    DIRECTION,
    PACKET_TYPE,
    PACKET_NUMBER,
    Column(
        "length_bytes", pl.UInt64, "bytes", "the log does not say",
        "QUIC: the packet, header and tag included. TCP: the payload.",
    ),
    Column("ip_packet", pl.UInt64, "", "not from a capture", "`number` in ip_packets, of the same source."),
    Column("key_phase", pl.Boolean, "", "no 1-RTT packet, or not decrypted", "The Key Phase bit (RFC 9001 section 6)."),
    Column(
        "retransmission", pl.Boolean, "", "QUIC, or the log does not say",
        "TCP: the segment's bytes, or part of them, were seen before in this direction.",
    ),
    Column("trigger", pl.String, "", "the log does not say", "Why, in the log's words."),
    CAPTURED,
    PACKET_INDEX,
)  # fmt: skip

_NO_ECN = "no ECN counts (RFC 9000 section 19.3.2)"

ACKS = log_table(
    "acks",
    "One range of one acknowledgment; the packet is the one that carries it.",
    *_OF_CONNECTION,
    EVENT,
    DIRECTION,
    PACKET_TYPE,
    PACKET_NUMBER,
    Column(
        "kind", pl.String, "", NEVER,
        "`ack` (QUIC), `cumulative` (TCP), `sack` (RFC 2018) or `dsack` (a segment that arrived twice, RFC 2883).",
    ),
    Column("first", pl.UInt64, "", NEVER, "QUIC: lowest packet number of the range. TCP: first sequence number."),
    Column("last", pl.UInt64, "", NEVER, "QUIC: highest packet number of the range. TCP: last sequence number."),
    Column("ack_delay_us", pl.Float64, "us", "TCP, or the log does not say", "The ACK Delay field."),
    Column("ect0", pl.UInt64, "packets", _NO_ECN, "Packets received with ECT(0) so far, in the packet's space."),
    Column("ect1", pl.UInt64, "packets", _NO_ECN, "Packets received with ECT(1) so far, in the packet's space."),
    Column("ce", pl.UInt64, "packets", _NO_ECN, "Packets received with CE so far, in the packet's space."),
)  # fmt: skip

_UNCHANGED = "unchanged since the row before"

TRANSPORT_METRICS = log_table(
    "transport_metrics",
    "One update of a sender's congestion control and recovery state (RFC 9002), as far as its source knows it.",
    *_OF_CONNECTION,
    Column(
        "cwnd_bytes",
        pl.UInt64,
        "bytes",
        _UNCHANGED,
        "Congestion window. Of TCP a capture shows a lower bound (`estimate`): the most in flight within this round "
        "trip and the last one, which is less wherever something else holds the sender back. The window itself stands "
        "in tcp_info, where a trial has samples.",
    ),
    Column(
        "bytes_in_flight",
        pl.UInt64,
        "bytes",
        _UNCHANGED,
        "Sent and neither acknowledged nor lost. Estimated for TCP: neither acknowledged nor in a SACK block. Of QUIC "
        "nothing is estimated once the capture has cut a packet: what that one carried or acknowledged is not known.",
    ),
    Column("ssthresh_bytes", pl.UInt64, "bytes", "unchanged, or not set yet", "Slow start threshold."),
    Column("smoothed_rtt_ms", pl.Float64, "ms", _UNCHANGED, "Smoothed round-trip time."),
    Column("min_rtt_ms", pl.Float64, "ms", _UNCHANGED, "Lowest round-trip time."),
    Column("latest_rtt_ms", pl.Float64, "ms", _UNCHANGED, "Latest sample of the round-trip time."),
    Column("rtt_variance_ms", pl.Float64, "ms", _UNCHANGED, "Variation of the round-trip time."),
    Column("pacing_rate_bit_per_s", pl.Float64, "bit/s", "unchanged, or no pacing", "Pacing rate."),
    Column(
        "bandwidth_bit_per_s", pl.Float64, "bit/s", "unchanged, or no estimate", "The sender's estimate of bandwidth."
    ),
    Column(
        "phase",
        pl.String,
        "",
        "unchanged, or the controller has none",
        "BBR's state: `startup`, `drain`, `probe_bw`, …",
    ),
    Column("pto_count", pl.UInt32, "", _UNCHANGED, "Probe timeouts in a row (TCP: retransmission timeouts)."),
    ESTIMATE,
)

CC_STATES = log_table(
    "cc_states",
    "One change of state of a congestion controller.",
    *_OF_CONNECTION,
    Column("old_state", pl.String, "", "the log does not say", "The state before."),
    Column(
        "new_state", pl.String, "", NEVER,
        "`slow_start`, `congestion_avoidance`, `recovery`, `application_limited`, `persistent_congestion` or the "
        "log's own word.",
    ),
    Column("trigger", pl.String, "", "the log does not say", "Why, in the log's words."),
    ESTIMATE,
)  # fmt: skip

LOSSES = log_table(
    "losses",
    "One packet that its sender declared lost (TCP captures: sent again).",
    *_OF_CONNECTION,
    DIRECTION,
    PACKET_TYPE,
    PACKET_NUMBER,
    Column(
        "length_bytes", pl.UInt64, "bytes", "the log does not say",
        "Length of the packet, as in the table packets.",
    ),
    Column("sent_ns", pl.Int64, "ns", "its sending is not in the log", "Instant at which it was sent.", instant=True),
    Column(
        "rule", pl.String, "", "the log does not say, or shows no reason",
        "`time_threshold`, `reordering_threshold`, `pto_expired` (RFC 9002 section 6), `timeout`, "
        "`fast_retransmit` or `tail_loss_probe` (TCP, estimated; RFC 6298, RFC 5681, RFC 8985), or the log's own word.",
    ),
    Column(
        "acknowledged_ns", pl.Int64, "ns", "never acknowledged", "When an acknowledgment of it arrived after all.",
        instant=True,
    ),
    Column(
        "spurious", pl.Boolean, "", "the log does not show acknowledgments",
        "Whether it was acknowledged after all.",
    ),
    ESTIMATE,
)  # fmt: skip

TIMERS = log_table(
    "timers",
    "One timer that was set, cancelled or has expired. TCP's are inferred from the sender's capture (`estimate`): "
    "those that expired, each with the row that set it; in a row of timeouts `pto_count` of transport_metrics counts.",
    *_OF_CONNECTION,
    Column(
        "timer", pl.String, "", NEVER,
        "`pto` (RFC 9002 section 6.2; TCP: of a tail loss probe, RFC 8985 section 7), `rto` (RFC 6298), `loss`, `ack`, "
        "`idle` or the log's own word.",
    ),
    Column("event", pl.String, "", NEVER, "`set`, `cancelled` or `expired`."),
    PACKET_TYPE,
    Column("delta_ms", pl.Float64, "ms", "not set, or the log does not say", "Time until the timer expires."),
    ESTIMATE,
)  # fmt: skip

FLOW_CONTROL = log_table(
    "flow_control",
    "One change of what a receiver allows, or one moment at which that held a sender back.",
    *_OF_CONNECTION,
    Column("event", pl.String, "", NEVER, "`limit` (allowed from now on), `blocked` or `unblocked`."),
    replace(DIRECTION, doc="The way of the data, or of the opening of streams, that is limited: `up` or `down`."),
    Column(
        "scope", pl.String, "", NEVER,
        "`connection` or `stream` (QUIC's and HTTP/2's), `streams_bidi` or `streams_uni` (their number), "
        "`receive_window` (TCP's own).",
    ),
    STREAM_ID,
    Column(
        "limit", pl.UInt64, "", "the log does not say",
        "Offset up to which data, or the number up to which streams, may be sent. HTTP/2: the first window and all "
        "increments, in bytes of DATA payload.",
    ),
    Column(
        "window_bytes", pl.UInt64, "bytes", "QUIC, or unknown",
        "What may be sent beyond what has been: TCP's receive window; HTTP/2's window as counted at this vantage, "
        "which may be overdrawn (then 0).",
    ),
)  # fmt: skip

BLOCKED = log_table(
    "blocked",
    "One change of whether a sender, or one of its streams, can send what it has, and why, as the sender itself says.",
    *_OF_CONNECTION,
    replace(DIRECTION, doc="The way of the data that is held back: `up` or `down`."),
    Column("scope", pl.String, "", NEVER, "What is held back: the `connection`, a `stream` or its `datagram` frames."),
    STREAM_ID,
    Column("old_state", pl.String, "", "the log does not say", "`blocked` or `unblocked`, before."),
    Column("new_state", pl.String, "", NEVER, "`blocked` or `unblocked`, from now on."),
    Column(
        "reason", pl.String, "", "the log does not say",
        "`scheduling`, `pacing`, `amplification_protection`, `congestion_control`, `connection_flow_control`, "
        "`stream_flow_control`, `stream_id` (the number of streams), `application` (it has nothing to send) or the "
        "log's own word. With `unblocked`: what no longer holds it back.",
    ),
    Column(
        "limit", pl.UInt64, "", "the log does not say",
        "The limit that was reached: an offset of the stream, a sum over the connection, a number of streams, or the "
        "congestion window in bytes, as `reason` says.",
    ),
    Column(
        "ready_bytes", pl.UInt64, "bytes", "the log does not say",
        "What the application had ready at that moment and the transport had not taken.",
    ),
    Column(
        "inferred", pl.Boolean, "", "the log does not say",
        "Whether the program concluded the reason from the numbers of its transport library, rather than being told.",
    ),
)  # fmt: skip

HANDSHAKE = log_table(
    "handshake",
    "One message of a handshake: TCP's segments, TLS messages over either transport, QUIC's Retry and Version "
    "Negotiation.",
    *_OF_CONNECTION,
    DIRECTION,
    Column(
        "step", pl.String, "", NEVER,
        "`syn`, `syn_ack`, `client_hello`, `hello_retry_request`, `server_hello`, `encrypted_extensions`, "
        "`certificate`, "
        "`certificate_verify`, `finished`, `new_session_ticket`, `retry`, `version_negotiation`, `handshake_done`, …",
    ),
    Column(
        "round_trip", pl.UInt32, "", "the log does not show it",
        "How many changes of direction from server to client lie before it: 0 for the client's first flight and the "
        "answer.",
    ),
    Column("length_bytes", pl.UInt64, "bytes", "unknown", "Length of the message."),
    Column(
        "detail", pl.String, "", "nothing to say, or malformed",
        "JSON object of what it offers or chose: `alpn`, `groups`, `key_shares`, `pre_shared_key`, `early_data`, "
        "`version`, `cipher_suite`, `group`; of a SYN `mss`, `window_scale`, `sack_permitted`, `timestamps`, `ecn`, "
        "`window`. Values that mean nothing (RFC 8701) are left out.",
    ),
)  # fmt: skip

TLS_RECORDS = log_table(
    "tls_records",
    "One TLS record over TCP (RFC 8446 section 5.1) that was opened, in the order of the TCP stream.",
    VANTAGE,
    CONNECTION,
    replace(TIME, doc="The record was whole, with all before it. " + TIME.doc),
    EVENT,
    DIRECTION,
    Column(
        "content_type", pl.String, "", NEVER,
        "`handshake`, `application_data`, `alert`, `change_cipher_spec`; `unopened` where a key for what follows may "
        "open it, `other`.",
    ),
    Column(
        "first_byte", pl.UInt64, "", NEVER,
        "Sequence number of its first byte, as `packet_number` in packets counts them: the SYN is 0.",
    ),
    Column("length_bytes", pl.UInt64, "bytes", NEVER, "Length of the record, with its header of 5 bytes."),
    Column("content_bytes", pl.UInt64, "bytes", NEVER, "Length of what it carries, without padding."),
)  # fmt: skip

PARAMETERS = log_table(
    "parameters",
    "One thing that was announced or negotiated: versions, ALPN, transport parameters, SETTINGS, a connection's end.",
    VANTAGE,
    CONNECTION,
    TIME,
    Column(
        "name", pl.String, "", NEVER,
        "`event.member`, or `event.owner.member`: `settings.server.max_frame_size`, "
        "`parameters_set.client.initial_max_data`. `connection_id_updated.server`: packets to the server bear another "
        "Destination Connection ID from here on. The owner is `local` or `remote` where the log does not say whose "
        "it is.",
    ),
    Column("value", pl.String, "", NEVER, "Its value as text; JSON where it is no scalar."),
)  # fmt: skip

FRAMES = log_table(
    "frames",
    "One frame of a QUIC packet (RFC 9000 section 19).",
    VANTAGE,
    CONNECTION,
    TIME,
    EVENT,
    DIRECTION,
    PACKET_TYPE,
    PACKET_NUMBER,
    Column("frame_type", pl.String, "", NEVER, "qlog's name of the frame type."),
    STREAM_ID,
    Column("offset", pl.UInt64, "bytes", "no STREAM or CRYPTO frame", "Offset of the frame's data."),
    Column("length_bytes", pl.UInt64, "bytes", "the frame has no length", "Length of the frame's data."),
    Column("fin", pl.Boolean, "", "the log does not say, which means false", "Whether the stream ends here."),
    Column(
        "value", pl.UInt64, "", "the frame has no such field",
        "The frame's number: the limit of MAX_* and *_BLOCKED, an error code, a sequence number, the type of a frame "
        "without a name; of extensions for several paths: the path.",
    ),
    Column(
        "detail", pl.String, "", "nothing to say",
        "JSON object of what no other column holds, by qlog's names: `final_size`, `retire_prior_to`, "
        "`connection_id`, `stream_type`, `error_space`, `data`, …",
    ),
)  # fmt: skip
