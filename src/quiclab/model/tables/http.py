# SPDX-License-Identifier: Apache-2.0
"""HTTP over either transport, and what a browser says about a page."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from quiclab.model.tables._api import NEVER, Column, log_table
from quiclab.model.tables._common import CONNECTION, DIRECTION, EVENT, STREAM_ID, TIME, TRANSPORT, VANTAGE

_NOT_SEEN = "the log does not show it"


def _instant(name: str, doc: str) -> Column:
    return Column(name, pl.Int64, "ns", _NOT_SEEN, doc, instant=True)


def _bytes(name: str, doc: str) -> Column:
    return Column(name, pl.UInt64, "bytes", _NOT_SEEN, doc)


def _stream_direction(way: str, sender: str) -> tuple[Column, ...]:
    return (
        _bytes(
            f"{way}_bytes",
            f"Bytes that the {sender} sent on the stream, each offset once. HTTP/2: its HEADERS, PUSH_PROMISE, "
            "CONTINUATION and DATA frames, each with its header, as QUIC counts those of HTTP/3.",
        ),
        _instant(f"{way}_first_ns", f"First byte from the {sender} at this vantage."),
        _instant(f"{way}_last_ns", f"Last byte from the {sender} at this vantage, with all before it."),
        Column(f"{way}_end", pl.String, "", "it did not end in this log", "`fin`, `reset` or `stop_sending`."),
    )


STREAMS = log_table(
    "streams",
    "One stream of a connection (RFC 9000 section 2, RFC 9113 section 5).",
    VANTAGE,
    CONNECTION,
    TIME,
    TRANSPORT,
    Column("stream_id", pl.UInt64, "", NEVER, "RFC 9000 section 2.1, RFC 9113 section 5.1.1."),
    Column(
        "kind",
        pl.String,
        "",
        "unknown",
        "`request`, `control`, `qpack_encoder`, `qpack_decoder`, `push` or `unidirectional`.",
    ),
    *_stream_direction("up", "client"),
    *_stream_direction("down", "server"),
)

HTTP_FRAMES = log_table(
    "http_frames",
    "One HTTP/2 frame (RFC 9113 section 6), HTTP/3 frame (RFC 9114 section 7), or header of an HTTP/1.1 message.",
    VANTAGE,
    CONNECTION,
    replace(
        TIME,
        doc="In a capture: the frame's first byte could be read, with all before it (over TLS, once its record was "
        "whole). In a program's log: as it was logged. " + TIME.doc,
    ),
    Column("http_version", pl.String, "", NEVER, "`HTTP/1.1`, `HTTP/2` or `HTTP/3`."),
    EVENT,
    DIRECTION,
    STREAM_ID,
    Column("frame_type", pl.String, "", NEVER, "In small letters: `data`, `headers`, `settings`, `priority_update`, …"),
    Column("length_bytes", pl.UInt64, "bytes", "the log does not say", "Length of the frame's payload."),
    Column("end_stream", pl.Boolean, "", "the log does not say", "Whether the stream ends with it."),
    Column(
        "value",
        pl.UInt64,
        "",
        "the frame has no such field",
        "Window increment, error code, last stream of GOAWAY, id of a push, the promised or prioritised stream, or the "
        "type of a frame of HTTP/3 without a name.",
    ),
    _instant("last_byte_ns", "The frame's last byte could be read, with all before it."),
    Column(
        "detail",
        pl.String,
        "",
        "nothing to say",
        "JSON object: the settings, `priority`, `error`, `fields` (pairs, in the frame that completes the header), "
        "`cut` where not all fields are there.",
    ),
)

HTTP_REQUESTS = log_table(
    "http_requests",
    "One request and its response. Instants are those of this log: at the socket in a capture, in the program in its "
    "log.",
    VANTAGE,
    Column("connection", pl.String, "", _NOT_SEEN, CONNECTION.doc),
    TIME,
    Column("transport", pl.String, "", _NOT_SEEN, "`quic` or `tcp`."),
    Column("http_version", pl.String, "", _NOT_SEEN, "`HTTP/1.1`, `HTTP/2` or `HTTP/3`."),
    STREAM_ID,
    Column("method", pl.String, "", _NOT_SEEN, "Method of the request, such as GET."),
    Column("url", pl.String, "", _NOT_SEEN, "Whole URL, without the fragment."),
    Column("status", pl.UInt16, "", "no response", "Status of the final response."),
    Column("content_type", pl.String, "", _NOT_SEEN, "The response's."),
    Column("content_encoding", pl.String, "", "none, or " + _NOT_SEEN, "The response's (RFC 9110 section 8.4)."),
    Column("content_range", pl.String, "", "none, or " + _NOT_SEEN, "The response's (RFC 9110 section 14.4)."),
    Column("alt_svc", pl.String, "", "none, or " + _NOT_SEEN, "The response's (RFC 7838 section 3)."),
    Column("resource_type", pl.String, "", _NOT_SEEN, "The browser's word: `Document`, `Image`, …"),
    Column(
        "priority",
        pl.String,
        "",
        _NOT_SEEN,
        "As the request was sent: the field (RFC 9218), else `weight=…, depends_on=…, exclusive` (RFC 7540).",
    ),
    Column(
        "priority_updated", pl.String, "", "never updated, or " + _NOT_SEEN, "The last update (RFC 9218 section 7)."
    ),
    Column(
        "initiator", pl.String, "", _NOT_SEEN, "URL of the document, stylesheet or script because of which it was made."
    ),
    _instant("queued_ns", "Asked for by the program."),
    _instant("name_start_ns", "Name resolution began."),
    _instant("name_end_ns", "Name resolution ended."),
    _instant("connect_start_ns", "The connection's first packet, where this request waited for it."),
    _instant("secure_start_ns", "The TLS handshake began, where this request waited for it."),
    _instant("connect_end_ns", "The connection could be used."),
    _instant("send_start_ns", "First byte of the request sent."),
    _instant("send_end_ns", "Last byte of the request sent."),
    _instant("headers_ns", "Response header complete, and what it refers to in the dynamic table of QPACK."),
    _instant("first_byte_ns", "First byte of the response's body."),
    _instant("last_byte_ns", "Last byte of the response, with all before it."),
    _bytes("request_header_bytes", "Its header sections as sent, compressed: trailers too."),
    _bytes("request_body_bytes", "The body as sent, without framing and padding."),
    _bytes("response_header_bytes", "Its header sections as sent, compressed: interim responses and trailers too."),
    _bytes("response_body_bytes", "The body as sent, without framing and padding: compressed, if it was."),
    _bytes("response_decoded_bytes", "The body once its content encoding (RFC 9110 section 8.4) is undone."),
    Column("from_cache", pl.Boolean, "", _NOT_SEEN, "Answered without the network."),
    Column("error", pl.String, "", "none", "Reason why the request failed, in the log's words."),
)

PAGE_EVENTS = log_table(
    "page_events",
    "One moment in the load of a page, as the browser reports it.",
    TIME,
    Column("duration_ns", pl.Int64, "ns", "an instant", "How long it took."),
    Column("page", pl.String, "", "about none", "The frame or page it belongs to."),
    Column("name", pl.String, "", NEVER, "`navigationStart`, `firstContentfulPaint`, `onLoad`, `Screenshot`, …"),
    Column("category", pl.String, "", _NOT_SEEN, "The browser's category."),
    Column("process", pl.UInt64, "", _NOT_SEEN, "Process id."),
    Column("thread", pl.UInt64, "", _NOT_SEEN, "Thread id."),
    Column("value", pl.Float64, "", "it has none", "Its number, such as a layout shift's score."),
    Column("detail", pl.String, "", "nothing to say, or more than 4096 bytes", "Its arguments as JSON."),
    Column("image", pl.Binary, "", "no screenshot", "What was visible, as the browser encoded it (JPEG)."),
)
