# SPDX-License-Identifier: Apache-2.0
"""Tables made from other tables, and the decoders' own account."""

from __future__ import annotations

import polars as pl

from quiclab.model.tables._api import NEVER, Column, Table
from quiclab.model.tables._common import CONNECTION

DECODE_STATS = Table(
    "decode_stats",
    "One kind of finding in one file: something that did not become a row, or that readers of the rows should know.",
    (
        Column("source", pl.String, "", NEVER, "The file, relative to the trial."),
        Column("name", pl.String, "", NEVER, "The kind of finding."),
        Column("severity", pl.String, "", NEVER, "`info`, `notice`, `data_loss` (rows are missing) or `error`."),
        Column("count", pl.UInt64, "", NEVER, "How often it occurred."),
        Column("advice", pl.String, "", NEVER, "What the reader can do, or should know."),
    ),
)

SOURCES = Table(
    "sources",
    "One decoded file: what it is, which clock it has, and how that was mapped to the study's.",
    (
        Column("source", pl.String, "", NEVER, "The file, relative to the folder that was decoded."),
        Column("format", pl.String, "", NEVER, "The decoder's name of the format."),
        Column(
            "dialect", pl.String, "", NEVER,
            "Version of the format and the program that wrote it, as far as the file tells.",
        ),
        Column("vantage", pl.String, "", "unknown", "Where it was recorded: `client` or `server`."),
        Column(
            "connection", pl.String, "", "the file has one clock",
            "The trace that the row is about, where each counts from its own start.",
        ),
        Column("clock", pl.String, "", NEVER, "What its times count from: `monotonic`, `realtime` or `own_start`."),
        Column("resolution_ns", pl.UInt64, "ns", NEVER, "The step of its times."),
        Column(
            "placed_by", pl.String, "", "not placed",
            "How its times were mapped to the study's: `same_clock`, `realtime_offset`, "
            "`joined_packets`, `shared_realtime` "
            "(by dates, like those of another file that is placed), or `reference` where "
            "no file has the study's clock and this one's serves as it.",
        ),
        Column("offset_ns", pl.Int64, "ns", "not placed", "What was added to its times."),
        Column(
            "drift_ppm", pl.Float64, "", "not joined",
            "How much faster its clock runs than the study's, in 1e-6.",
        ),
        Column("uncertainty_ns", pl.Int64, "ns", "not placed", "How far its times may still be off, either way."),
        Column("joined_packets", pl.UInt64, "packets", "not joined", "Packets that the mapping rests on."),
    ),
)  # fmt: skip

ABSENT = Table(
    "absent",
    "One thing that a file cannot tell, as opposed to something that did not happen.",
    (
        Column("source", pl.String, "", NEVER, "The file."),
        Column("table", pl.String, "", NEVER, "The table that lacks it."),
        Column("column", pl.String, "", "the whole table", "The column that is null because the file does not tell."),
        Column("reason", pl.String, "", NEVER, "Why the file cannot tell."),
    ),
)

PAGE_PROGRESS = Table(
    "page_progress",
    "One screenshot of the load of a page; the picture itself is in page_events.",
    (
        Column("x_ms", pl.Float64, "ms", NEVER, "Time since navigation start."),
        Column(
            "progress", pl.Float64, "", NEVER,
            "From 0 to 1: how much of the change of colours, from white to the last screenshot, is done.",
        ),
    ),
)  # fmt: skip

VIDEO_THROUGHPUT = Table(
    "video_throughput",
    "One whole second of a video's trial, up to the last in which content arrived; of videos only.",
    (
        Column("second", pl.UInt32, "s", NEVER, "Number of the second, from 0 at the client's first packet."),
        Column("bit_per_s", pl.UInt64, "bit/s", NEVER, "IP packets that arrived at the client's end of the link."),
    ),
)

BYTES_ACKNOWLEDGED = Table(
    "bytes_acknowledged",
    "One acknowledgment that the receiver of the bodies sends (the client; of an upload the server), as in Figure 7 of "
    "Yu and Benson 2021.",
    (
        Column("x_ms", pl.Float64, "ms", NEVER, "Time since the client's first packet."),
        Column(
            "bytes", pl.UInt64, "bytes", NEVER,
            "Distinct payload bytes of the sender acknowledged so far. TCP: cumulative and SACK, TLS records and "
            "HTTP/2 frames included. QUIC: STREAM data of the request streams in acknowledged packets, each "
            "offset once.",
        ),
    ),
)  # fmt: skip

UNACKNOWLEDGED = Table(
    "unacknowledged",
    "One moment at which the sender of the bodies (the server; of an upload the client) sent bytes of a stream, or an "
    "acknowledgment of such bytes arrived there: what it had sent and did not know to be received.",
    (
        Column("time_ns", pl.Int64, "ns", NEVER, "CLOCK_MONOTONIC of the study, at the sender's end.", instant=True),
        Column("connection", pl.String, "", NEVER, CONNECTION.doc),
        Column("stream_id", pl.UInt64, "", "TCP, which has one stream each way", "RFC 9000 section 2.1."),
        Column(
            "offset_bytes", pl.UInt64, "bytes", NEVER,
            "Offset behind the last byte of the stream that was sent: what a limit in flow_control is held against. "
            "TCP: payload, TLS records included.",
        ),
        Column("acknowledged_bytes", pl.UInt64, "bytes", NEVER, "Distinct bytes of the stream acknowledged so far."),
        Column(
            "unacknowledged_bytes", pl.UInt64, "bytes", NEVER,
            "Distinct bytes of the stream that were sent, lost ones included, and are not acknowledged: at least so "
            "much the sender must keep.",
        ),
        Column(
            "connection_unacknowledged_bytes", pl.UInt64, "bytes", NEVER,
            "The same of all streams of the connection together, by this source.",
        ),
        Column(
            "connection_offset_bytes", pl.UInt64, "bytes", NEVER,
            "Sum of `offset_bytes` over all streams: what the limit of the connection is held against.",
        ),
    ),
)  # fmt: skip

_OF_AN_OBJECT = (
    Column("object", pl.String, "", "no log names what the stream carries", "The last part of its URL's path."),
    Column("connection", pl.String, "", NEVER, CONNECTION.doc),
    Column("stream_id", pl.UInt64, "", NEVER, "RFC 9000 section 2.1, RFC 9113 section 5.1.1."),
)
"""Columns that name the object of some bytes."""

OBJECT_RUNS = Table(
    "object_runs",
    "One run of bytes of one object at their receiver's end (the client's; of an upload the server's), in the order "
    "of arrival: no byte of another object, and no gap, between its first and its last. Only of trials of several "
    "objects.",
    (
        Column("x_ms", pl.Float64, "ms", NEVER, "Arrival of its first bytes, since the client's first packet."),
        Column("until_ms", pl.Float64, "ms", NEVER, "Arrival of its last bytes, since the client's first packet."),
        *_OF_AN_OBJECT,
        Column(
            "offset_bytes", pl.UInt64, "bytes", NEVER,
            "Offset of its first byte. HTTP/2: in the body, by DATA frames, which arrive when all before them on the "
            "connection has. QUIC: in the stream, HTTP/3's own bytes included, by STREAM frames as their packets "
            "arrive.",
        ),
        Column("bytes", pl.UInt64, "bytes", NEVER, "Number of bytes; bytes that arrived before do not count again."),
    ),
)  # fmt: skip

DELIVERY_WAITS = Table(
    "delivery_waits",
    "Bytes of one object that had arrived at their receiver (the client; of an upload the server) and could not be "
    "handed to the application before one instant, for one cause. HTTP/2 and HTTP/3.",
    (
        Column("x_ms", pl.Float64, "ms", NEVER, "Begin of the first wait of them, since the client's first packet."),
        Column("until_ms", pl.Float64, "ms", NEVER, "End of the wait of all, since the client's first packet."),
        *_OF_AN_OBJECT,
        Column(
            "cause", pl.String, "", NEVER,
            "What had not arrived. `own_gap`: earlier bytes of the object itself. `other_gap`: earlier bytes of the "
            "connection that are not the object's, and none of its own. `tls_record`: the rest of the TLS record that "
            "carries them. `qpack`: what their header refers to in the dynamic table.",
        ),
        Column(
            "behind_stream_id", pl.UInt64, "", "bytes of no object: the handshake, settings, QPACK, a record's rest",
            "Stream of the bytes that ended the wait.",
        ),
        Column(
            "behind_object", pl.String, "", "bytes of no object, or no log names it",
            "The last part of the URL's path of that stream's object.",
        ),
        Column("bytes", pl.UInt64, "bytes", NEVER, "Bytes that waited, with headers of frames and messages."),
        Column("byte_milliseconds", pl.Float64, "", NEVER, "Sum of their waits, in bytes times ms."),
        Column(
            "overtaken", pl.Boolean, "",
            "`tls_record`, `qpack`, a wait for keys, or TCP over several links or without the link's packet log",
            "Whether the bytes that ended the wait had been sent before those that waited: the network had changed "
            "their order. Else they were sent later, for the first copy was lost, or taken for lost.",
        ),
    ),
)  # fmt: skip
