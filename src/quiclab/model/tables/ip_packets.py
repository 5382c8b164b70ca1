# SPDX-License-Identifier: Apache-2.0
"""Packets as captured at the two ends of the link."""

from __future__ import annotations

import polars as pl

from quiclab.model.tables._api import NEVER, Column, log_table

_NOT_TCP = "not TCP, or a later fragment"

IP_PACKETS = log_table(
    "ip_packets",
    "One IP packet in the capture of one end; in the order of the capture. A packet that the link dropped is only in "
    "the capture of the end that sent it. Of a tunnel that is opened it is the inner packet; where a network card put "
    "several together (TCP or UDP offload), it is all of them.",
        Column("vantage", pl.String, "", "unknown end", "Where it was captured: `client` or `server`."),
        Column("direction", pl.String, "", "unknown end or no flags", "`up` from client to server, or `down`."),
        Column(
            "time_ns", pl.Int64, "ns", NEVER,
            "Outbound: arrival at the link; inbound: written to the end's device. CLOCK_MONOTONIC, but CLOCK_REALTIME "
            "where decode_stats says `no_clock_offset`.", instant=True,
        ),
        Column("number", pl.UInt64, "", NEVER, "Counts the IP packets of the file from 0."),
        Column(
            "packet_index", pl.UInt32, "", "foreign capture, or outside the model",
            "`index` in link_packets, of the link that was captured.",
        ),
        Column("ip_version", pl.UInt8, "", "not IP", "4 or 6."),
        Column("protocol", pl.String, "", "header not captured", "`tcp`, `udp`, `icmp`, `icmpv6`, or the number."),
        Column("src", pl.String, "", "header not captured", "Source address."),
        Column("src_port", pl.UInt16, "", "neither TCP nor UDP", "Source port."),
        Column("dst", pl.String, "", "header not captured", "Destination address."),
        Column("dst_port", pl.UInt16, "", "neither TCP nor UDP", "Destination port."),
        Column("size_bytes", pl.UInt32, "bytes", NEVER, "Length of the IP packet."),
        Column("payload_bytes", pl.UInt32, "bytes", "neither TCP nor UDP", "What TCP or UDP carries."),
        Column("dropped", pl.String, "", "not dropped", "Why the link dropped it."),
        Column("ecn", pl.UInt8, "", "header not captured", "The ECN bits of the IP header (RFC 3168)."),
        Column("tcp_flags", pl.UInt16, "", _NOT_TCP, "Nine flag bits, FIN lowest (RFC 9293 section 3.1)."),
        Column("tcp_seq", pl.UInt32, "", _NOT_TCP, "Sequence number."),
        Column("tcp_ack", pl.UInt32, "", "no ACK flag", "Acknowledgment number."),
        Column("tcp_sack", pl.List(pl.UInt32), "", "no SACK option", "Left, right edge of each block (RFC 2018)."),
        Column(
            "tls_application_data", pl.Boolean, "", "the TCP payload does not start with a TLS record header",
            "Whether a record of type application_data starts in the segment (RFC 8446 section 5.1).",
        ),
)  # fmt: skip
