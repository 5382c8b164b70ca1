// SPDX-License-Identifier: Apache-2.0
//! Packets at the link and in captures of its ends.

use crate::arrow::{table, List32, Utf8};

table! {
    /// Fate of one packet on the link.
    "link_packets" => LinkPackets, LinkPacket {
        direction: Utf8,
        index: Option<u32>,
        arrival_ns: i64,
        due_ns: Option<i64>,
        lateness_ns: Option<i32>,
        size_bytes: u16,
        queue_bytes: u32,
        queue_packets: u16,
        service_ns: u32,
        flow: u32,
        source_burst: u32,
        action: Utf8,
        reason: Option<Utf8>,
        duplicate: bool,
        corrupted: bool,
        reordered: bool,
        ecn_ce: bool,
        oversized: bool,
    }
}

table! {
    /// One IP packet as captured at one end.
    "ip_packets" => IpPackets, IpPacket {
        vantage: Option<Utf8>,
        direction: Option<Utf8>,
        time_ns: i64,
        number: u64,
        packet_index: Option<u32>,
        ip_version: Option<u8>,
        protocol: Option<Utf8>,
        src: Option<Utf8>,
        src_port: Option<u16>,
        dst: Option<Utf8>,
        dst_port: Option<u16>,
        size_bytes: u32,
        payload_bytes: Option<u32>,
        dropped: Option<Utf8>,
        ecn: Option<u8>,
        tcp_flags: Option<u16>,
        tcp_seq: Option<u32>,
        tcp_ack: Option<u32>,
        tcp_sack: Option<List32>,
        tls_application_data: Option<bool>,
    }
}
