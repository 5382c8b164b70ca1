# SPDX-License-Identifier: Apache-2.0
"""Columns that most tables of a connection share."""

from __future__ import annotations

import polars as pl

from quiclab.model.tables._api import NEVER, Column

VANTAGE = Column(
    "vantage", pl.String, "", "the log does not say", "End at which the log or capture was taken: `client` or `server`."
)
CONNECTION = Column(
    "connection", pl.String, "", NEVER,
    "QUIC: the Destination Connection ID of the client's first Initial in hexadecimal, as far as the log knows it, "
    "else "
    "the log's own name, or the file's name, `#` and a number. TCP: `client address:port-server address:port`, "
    "with `#` and a number where the same ports are used again.",
)  # fmt: skip
TIME = Column(
    "time_ns", pl.Int64, "ns", NEVER,
    "CLOCK_MONOTONIC of the study where the table `sources` says that the file's clock is placed; else by the file's "
    "own.",
    instant=True,
)  # fmt: skip
TRANSPORT = Column("transport", pl.String, "", NEVER, "`quic` or `tcp`.")
DIRECTION = Column(
    "direction",
    pl.String,
    "",
    "unknown end",
    "`up` from client to server, or `down`: the direction of what the row is about.",
)
EVENT = Column(
    "event",
    pl.String,
    "",
    NEVER,
    "`sent`, `received`, `lost`, `dropped` (unusable) or `buffered`, where it was logged; `seen` at an unknown end.",
)
PACKET_TYPE = Column(
    "packet_type", pl.String, "", "the log does not say",
    "QUIC: `initial`, `handshake`, `0RTT`, `1RTT`, `retry`, `version_negotiation`, `stateless_reset`. TCP: null.",
)  # fmt: skip
PACKET_NUMBER = Column(
    "packet_number", pl.UInt64, "", "not readable; a TCP segment of another connection between the same ports",
    "QUIC: within its packet number space (RFC 9000 section 12.3). TCP: sequence number of the first byte, counted "
    "from "
    "the initial one (the SYN is 0) without wrap-around.",
)  # fmt: skip
ESTIMATE = Column("estimate", pl.Boolean, "", NEVER, "Inferred from a capture, not said by the sender.")
STREAM_ID = Column("stream_id", pl.UInt64, "", "not about a stream", "RFC 9000 section 2.1, RFC 9113 section 5.1.1.")
