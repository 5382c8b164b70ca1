// SPDX-License-Identifier: Apache-2.0
//! Tables that only QUIC has.

use crate::arrow::{table, Utf8};

table! {
    /// One frame of a QUIC packet.
    "frames" => Frames, Frame {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        event: Utf8,
        direction: Option<Utf8>,
        packet_type: Option<Utf8>,
        packet_number: Option<u64>,
        frame_type: Utf8,
        stream_id: Option<u64>,
        offset: Option<u64>,
        length_bytes: Option<u64>,
        fin: Option<bool>,
        value: Option<u64>,
        detail: Option<Utf8>,
    }
}
