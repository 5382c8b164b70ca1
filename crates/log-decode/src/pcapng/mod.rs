// SPDX-License-Identifier: Apache-2.0
//! pcapng captures (draft-ietf-opsawg-pcapng): IP, TCP and UDP headers of every packet, as seen at one end.

mod blocks;
mod headers;
mod interface;

use crate::tables::{IpPacket, Tables};
use crate::{Clock, DecodeError, End, Input, Options, Severity, Source};
use blocks::{Block, Blocks, Fields};
use headers::Headers;
use interface::Interface;

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

/// Decode a capture taken at `end` (unknown: direction is null).
///
/// # Errors
/// If the input cannot be read, or does not start with a section header.
pub fn decode(
    input: &Input,
    options: &Options,
    tables: &mut Tables,
) -> Result<Source, DecodeError> {
    let mut decoder = Decoder {
        end: options.vantage,
        interfaces: Vec::new(),
        number: 0,
        tables,
    };
    let mut blocks = Blocks::open(input.open()?)?;
    while let Some(block) = blocks.next(&mut decoder.tables.stats)? {
        decoder.block(&block);
    }
    let placed = decoder.interfaces.iter().all(Interface::knows_monotonic);
    Ok(Source {
        dialect: "pcapng".to_owned(),
        clock: if placed {
            Clock::Monotonic
        } else {
            Clock::Realtime
        },
        resolution_ns: decoder
            .interfaces
            .iter()
            .map(Interface::resolution_ns)
            .max()
            .unwrap_or(1),
        realtime_minus_monotonic_ns: None,
    })
}

struct Decoder<'a> {
    end: Option<End>,
    interfaces: Vec<Interface>,
    /// Packets so far.
    number: u64,
    tables: &'a mut Tables,
}

impl Decoder<'_> {
    fn block(&mut self, block: &Block<'_>) {
        match block.kind {
            SECTION_HEADER => self.interfaces.clear(),
            INTERFACE_DESCRIPTION if self.interfaces.len() < MAX_INTERFACES => {
                self.interfaces
                    .push(Interface::parse(block.body, &mut self.tables.stats));
            }
            ENHANCED_PACKET => {
                if self.enhanced_packet(block.body).is_none() {
                    self.tables.count(
                        "malformed_block",
                        Severity::DataLoss,
                        "a packet block contradicts its own lengths",
                    );
                }
            }
            SIMPLE_PACKET => {
                self.tables.count(
                    "no_timestamp",
                    Severity::DataLoss,
                    "simple packet blocks have no time: capture with enhanced ones",
                );
            }
            kind if PACKETLESS.contains(&kind) => {}
            _ => self.tables.count(
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
            self.tables.count(
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
            self.tables.count(
                "not_ip",
                Severity::Info,
                "frames of other protocols than IP, or of an unknown link type",
            );
            return Some(());
        };
        let original = original.saturating_sub(link_bytes);
        let headers = Headers::parse(packet, original);
        if headers.protocol.is_none() {
            self.tables.count(
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
        self.tables.ip_packets.push(IpPacket {
            vantage: self.end.map(End::as_str),
            number: self.number,
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
        self.number += 1;
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
