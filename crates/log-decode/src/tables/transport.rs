// SPDX-License-Identifier: Apache-2.0
//! Tables that QUIC and TCP have in common: packets, acknowledgments, recovery, flow control and
//! the handshake.

use crate::arrow::{table, Utf8};

table! {
    /// One packet of a connection (a QUIC packet, a TCP segment) as one log tells of it.
    "packets" => Packets, Packet {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Utf8,
        event: Utf8,
        direction: Option<Utf8>,
        packet_type: Option<Utf8>,
        packet_number: Option<u64>,
        length_bytes: Option<u64>,
        ip_packet: Option<u64>,
        key_phase: Option<bool>,
        retransmission: Option<bool>,
        trigger: Option<Utf8>,
    }
}

table! {
    /// One range of one acknowledgment.
    "acks" => Acks, Ack {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Utf8,
        event: Utf8,
        direction: Option<Utf8>,
        packet_type: Option<Utf8>,
        packet_number: Option<u64>,
        kind: Utf8,
        first: u64,
        last: u64,
        ack_delay_us: Option<f64>,
        ect0: Option<u64>,
        ect1: Option<u64>,
        ce: Option<u64>,
    }
}

table! {
    /// One update of a sender's congestion control and recovery state.
    "transport_metrics" => TransportMetrics, TransportMetric {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Utf8,
        cwnd_bytes: Option<u64>,
        bytes_in_flight: Option<u64>,
        ssthresh_bytes: Option<u64>,
        smoothed_rtt_ms: Option<f64>,
        min_rtt_ms: Option<f64>,
        latest_rtt_ms: Option<f64>,
        rtt_variance_ms: Option<f64>,
        pacing_rate_bit_per_s: Option<f64>,
        bandwidth_bit_per_s: Option<f64>,
        phase: Option<Utf8>,
        pto_count: Option<u32>,
        estimate: bool,
    }
}

table! {
    /// One change of a congestion controller's state.
    "cc_states" => CcStates, CcState {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Utf8,
        old_state: Option<Utf8>,
        new_state: Utf8,
        trigger: Option<Utf8>,
        estimate: bool,
    }
}

table! {
    /// One packet that its sender declared lost.
    "losses" => Losses, Loss {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Utf8,
        direction: Option<Utf8>,
        packet_type: Option<Utf8>,
        packet_number: Option<u64>,
        length_bytes: Option<u64>,
        sent_ns: Option<i64>,
        rule: Option<Utf8>,
        acknowledged_ns: Option<i64>,
        spurious: Option<bool>,
        estimate: bool,
    }
}

table! {
    /// One timer set, cancelled or expired.
    "timers" => Timers, Timer {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Utf8,
        timer: Utf8,
        event: Utf8,
        packet_type: Option<Utf8>,
        delta_ms: Option<f64>,
        estimate: bool,
    }
}

table! {
    /// One change of a limit on what may be sent, or one moment at which a limit held a sender back.
    "flow_control" => FlowControls, FlowControl {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Utf8,
        event: Utf8,
        direction: Option<Utf8>,
        scope: Utf8,
        stream_id: Option<u64>,
        limit: Option<u64>,
        window_bytes: Option<u64>,
    }
}

table! {
    /// One change of whether a sender, or one stream, can send what it has, and why, as the sender says it.
    "blocked" => BlockedStates, BlockedState {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Utf8,
        direction: Option<Utf8>,
        scope: Utf8,
        stream_id: Option<u64>,
        old_state: Option<Utf8>,
        new_state: Utf8,
        reason: Option<Utf8>,
        limit: Option<u64>,
        ready_bytes: Option<u64>,
        inferred: Option<bool>,
    }
}

table! {
    /// One message of a handshake.
    "handshake" => Handshake, HandshakeStep {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        transport: Utf8,
        direction: Option<Utf8>,
        step: Utf8,
        round_trip: Option<u32>,
        length_bytes: Option<u64>,
        detail: Option<Utf8>,
    }
}

table! {
    /// One TLS record over TCP.
    "tls_records" => TlsRecords, TlsRecord {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        event: Utf8,
        direction: Option<Utf8>,
        content_type: Utf8,
        first_byte: u64,
        length_bytes: u64,
        content_bytes: u64,
    }
}

table! {
    /// One thing that was negotiated or announced.
    "parameters" => Parameters, Parameter {
        vantage: Option<Utf8>,
        connection: Option<Utf8>,
        time_ns: i64,
        name: Utf8,
        value: Utf8,
    }
}
