// SPDX-License-Identifier: Apache-2.0
//! The tables that a qlog fills.

use crate::arrow::{table, Utf8};

table! {
    /// One packet event at an endpoint.
    "quic_packets" => QuicPackets, QuicPacket {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        event: Utf8,
        time_ns: i64,
        packet_type: Option<Utf8>,
        packet_number: Option<u64>,
        length_bytes: Option<u64>,
        trigger: Option<Utf8>,
    }
}

table! {
    /// One frame of a packet event.
    "quic_frames" => QuicFrames, QuicFrame {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        event: Utf8,
        time_ns: i64,
        packet_type: Option<Utf8>,
        packet_number: Option<u64>,
        frame_type: Utf8,
        stream_id: Option<u64>,
        offset: Option<u64>,
        length_bytes: Option<u64>,
        fin: Option<bool>,
    }
}

table! {
    /// One range of an ACK frame.
    "quic_acks" => QuicAcks, QuicAck {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        event: Utf8,
        time_ns: i64,
        packet_type: Option<Utf8>,
        packet_number: Option<u64>,
        first: u64,
        last: u64,
        ack_delay_us: Option<f64>,
    }
}

table! {
    /// One update of the sender's recovery state.
    "transport_metrics" => TransportMetrics, TransportMetric {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        cwnd_bytes: Option<u64>,
        bytes_in_flight: Option<u64>,
        ssthresh_bytes: Option<u64>,
        smoothed_rtt_ms: Option<f64>,
        min_rtt_ms: Option<f64>,
        latest_rtt_ms: Option<f64>,
        rtt_variance_ms: Option<f64>,
        pacing_rate_bit_per_s: Option<f64>,
        pto_count: Option<u32>,
    }
}

table! {
    /// One thing said about a connection.
    "handshake" => Handshake, HandshakeItem {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        name: Utf8,
        value: Utf8,
    }
}
