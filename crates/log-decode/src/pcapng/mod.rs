// SPDX-License-Identifier: Apache-2.0
//! pcapng captures (draft-ietf-opsawg-pcapng): IP, TCP and UDP headers of every packet, as seen at one end.

mod blocks;
mod headers;
mod interface;

use crate::arrow::{table, List32, Table, Utf8};
use crate::{DecodeError, Severity, Stats};
use blocks::{Block, Blocks, Fields};
use headers::Headers;
use interface::Interface;
use std::io::Read;

const INTERFACE_DESCRIPTION: u32 = 1;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// Name resolution, interface statistics, systemd journal and decryption secrets carry no packets.
const PACKETLESS: [u32; 4] = [4, 5, 9, 10];

const OPT_COMMENT: u16 = 1;
const EPB_FLAGS: u16 = 2;
const EPB_PACKET_ID: u16 = 5;

/// A hostile file could announce interfaces without end.
const MAX_INTERFACES: usize = 1 << 12;

table! {
    /// One packet as captured at one end.
    "packets" => Packets, PacketRow {
        end: Option<Utf8>,
        direction: Option<Utf8>,
        time_ns: i64,
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

/// The end of the path at which a capture was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Inbound packets come `down`.
    Client,
    /// Inbound packets come `up`.
    Server,
}

/// A decoded capture.
#[derive(Debug)]
pub struct Capture {
    /// `packets`.
    pub table: Table,
    /// What did not become a row.
    pub stats: Stats,
}

/// Decode a capture taken at `end` (unknown: direction is null).
///
/// # Errors
/// If the input cannot be read, or does not start with a section header.
pub fn decode(input: impl Read, end: Option<End>) -> Result<Capture, DecodeError> {
    let mut decoder = Decoder {
        end,
        interfaces: Vec::new(),
        rows: Packets::default(),
        stats: Stats::default(),
    };
    let mut blocks = Blocks::open(input)?;
    while let Some(block) = blocks.next(&mut decoder.stats)? {
        decoder.block(&block);
    }
    Ok(Capture {
        table: decoder.rows.finish(),
        stats: decoder.stats,
    })
}

struct Decoder {
    end: Option<End>,
    interfaces: Vec<Interface>,
    rows: Packets,
    stats: Stats,
}

impl Decoder {
    fn block(&mut self, block: &Block<'_>) {
        match block.kind {
            SECTION_HEADER => self.interfaces.clear(),
            INTERFACE_DESCRIPTION if self.interfaces.len() < MAX_INTERFACES => {
                self.interfaces
                    .push(Interface::parse(block.body, &mut self.stats));
            }
            ENHANCED_PACKET => {
                if self.enhanced_packet(block.body).is_none() {
                    self.stats.count(
                        "malformed_block",
                        Severity::DataLoss,
                        "a packet block contradicts its own lengths",
                    );
                }
            }
            SIMPLE_PACKET => {
                self.stats.count(
                    "no_timestamp",
                    Severity::DataLoss,
                    "simple packet blocks have no time: capture with enhanced ones",
                );
            }
            kind if PACKETLESS.contains(&kind) => {}
            _ => self.stats.count(
                "unknown_block",
                Severity::Info,
                "a block type that this decoder does not read",
            ),
        }
    }

    /// pcapng section 4.3. `None` if the block is too short for what it announces.
    fn enhanced_packet(&mut self, body: Fields<'_>) -> Option<()> {
        let interface = usize::try_from(body.u32(0)?).ok()?;
        let Some(interface) = self.interfaces.get(interface) else {
            self.stats.count(
                "unknown_interface",
                Severity::DataLoss,
                "a packet refers to an interface that was not described",
            );
            return Some(());
        };
        let ticks = u64::from(body.u32(4)?) << 32 | u64::from(body.u32(8)?);
        let captured = usize::try_from(body.u32(12)?).ok()?;
        let original = body.u32(16)?;
        let data = body.bytes(20, captured)?;
        let mut flags = 0;
        let mut packet_id = None;
        let mut dropped = None;
        for (code, value) in body.options(20 + captured.next_multiple_of(4)) {
            match code {
                EPB_FLAGS => flags = value.u32(0)?,
                EPB_PACKET_ID => packet_id = value.u64(0),
                OPT_COMMENT => dropped = value.text().strip_prefix("dropped: ").or(dropped),
                _ => {}
            }
        }
        let Some((packet, link_bytes)) = interface.network_layer(data) else {
            self.stats.count(
                "not_ip",
                Severity::Info,
                "frames of other protocols than IP, or of an unknown link type",
            );
            return Some(());
        };
        let original = original.saturating_sub(link_bytes);
        let headers = Headers::parse(packet, original);
        if headers.protocol.is_none() {
            self.stats.count(
                "cut_packet",
                Severity::DataLoss,
                "the capture holds too little of a packet to read its headers",
            );
        }
        let mut sack = Vec::new();
        if let Some(tcp) = &headers.tcp {
            sack.extend(tcp.sack());
        }
        let (src, dst) = headers.addresses.map_or((None, None), |(src, dst)| {
            (Some(src.to_string()), Some(dst.to_string()))
        });
        let protocol = headers.protocol.map(protocol_name);
        self.rows.push(PacketRow {
            end: self.end.map(|end| {
                if end == End::Client {
                    "client"
                } else {
                    "server"
                }
            }),
            direction: direction(self.end, flags),
            time_ns: interface.time_ns(ticks),
            packet_index: interface.packet_index(packet_id),
            ip_version: headers.version,
            protocol: protocol.as_deref(),
            src: src.as_deref(),
            src_port: headers.ports.map(|(src, _)| src),
            dst: dst.as_deref(),
            dst_port: headers.ports.map(|(_, dst)| dst),
            size_bytes: headers.size_bytes,
            payload_bytes: headers.payload_bytes,
            dropped,
            ecn: headers.ecn,
            tcp_flags: headers.tcp.as_ref().map(|tcp| tcp.flags),
            tcp_seq: headers.tcp.as_ref().map(|tcp| tcp.seq),
            tcp_ack: headers.tcp.as_ref().and_then(|tcp| tcp.ack),
            tcp_sack: (!sack.is_empty()).then_some(sack.as_slice()),
            tls_application_data: headers
                .tcp
                .as_ref()
                .and_then(|tcp| tcp.tls_application_data),
        });
        Some(())
    }
}

/// `epb_flags` bits 0 and 1: 1 inbound, 2 outbound (pcapng section 4.3).
fn direction(end: Option<End>, flags: u32) -> Option<&'static str> {
    match (end?, flags & 3) {
        (End::Client, 2) | (End::Server, 1) => Some("up"),
        (End::Client, 1) | (End::Server, 2) => Some("down"),
        _ => None,
    }
}

fn protocol_name(number: u8) -> std::borrow::Cow<'static, str> {
    match number {
        headers::TCP => "tcp".into(),
        headers::UDP => "udp".into(),
        1 => "icmp".into(),
        58 => "icmpv6".into(),
        other => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests;
