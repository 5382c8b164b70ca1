// SPDX-License-Identifier: Apache-2.0
//! HTTP over either transport: streams, frames and requests.

use crate::arrow::{table, Utf8};

table! {
    /// One stream (RFC 9000 section 2, RFC 9113 section 5) as one log tells of it.
    "streams" => Streams, Stream {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Utf8,
        stream_id: u64,
        kind: Option<Utf8>,
        up_bytes: Option<u64>,
        up_first_ns: Option<i64>,
        up_last_ns: Option<i64>,
        up_end: Option<Utf8>,
        down_bytes: Option<u64>,
        down_first_ns: Option<i64>,
        down_last_ns: Option<i64>,
        down_end: Option<Utf8>,
    }
}

table! {
    /// One HTTP/2 or HTTP/3 frame.
    "http_frames" => HttpFrames, HttpFrame {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        http_version: Utf8,
        event: Utf8,
        direction: Option<Utf8>,
        stream_id: Option<u64>,
        frame_type: Utf8,
        length_bytes: Option<u64>,
        end_stream: Option<bool>,
        value: Option<u64>,
        last_byte_ns: Option<i64>,
        detail: Option<Utf8>,
    }
}

table! {
    /// One request and its response.
    "http_requests" => HttpRequests, HttpRequest {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Option<Utf8>,
        http_version: Option<Utf8>,
        stream_id: Option<u64>,
        method: Option<Utf8>,
        url: Option<Utf8>,
        status: Option<u16>,
        content_type: Option<Utf8>,
        content_encoding: Option<Utf8>,
        content_range: Option<Utf8>,
        alt_svc: Option<Utf8>,
        resource_type: Option<Utf8>,
        priority: Option<Utf8>,
        priority_updated: Option<Utf8>,
        initiator: Option<Utf8>,
        queued_ns: Option<i64>,
        name_start_ns: Option<i64>,
        name_end_ns: Option<i64>,
        connect_start_ns: Option<i64>,
        secure_start_ns: Option<i64>,
        connect_end_ns: Option<i64>,
        send_start_ns: Option<i64>,
        send_end_ns: Option<i64>,
        headers_ns: Option<i64>,
        first_byte_ns: Option<i64>,
        last_byte_ns: Option<i64>,
        request_header_bytes: Option<u64>,
        request_body_bytes: Option<u64>,
        response_header_bytes: Option<u64>,
        response_body_bytes: Option<u64>,
        response_decoded_bytes: Option<u64>,
        from_cache: Option<bool>,
        error: Option<Utf8>,
    }
}
