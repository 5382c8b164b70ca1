// SPDX-License-Identifier: Apache-2.0
//! Reading of every packet by itself: a row of `ip_packets`, and its place in what TCP or QUIC is
//! handed.

use super::addresses::Addresses;
use super::batch::{Batch, Item};
use super::checksum::is_damaged;
use super::copies::Copies;
use super::encapsulation::Inside;
use super::headers::{self, Headers};
use super::link_type::LinkType;
use super::told_end::Opener;
use super::tunnel::{self, Tunnel, MAX_DEPTH};
use crate::arrow::Table;
use crate::quic::UdpDatagram;
use crate::tables::{IpPacket, IpPackets};
use crate::tcp::{Segment, TcpOptions};
use crate::{Direction, End, Severity, Stats};
use std::net::{IpAddr, SocketAddr};

/// One frame of a capture.
pub(super) struct Frame<'a> {
    pub(super) time_ns: i64,
    pub(super) bytes: &'a [u8],
    /// Offset in the stretch at which they begin.
    pub(super) at: usize,
    /// Length on the wire.
    pub(super) original: u32,
    /// The option `epb_flags`.
    pub(super) flags: u32,
    pub(super) packet_index: Option<u32>,
    /// Reason why the link dropped it.
    pub(super) dropped: Option<&'a str>,
    /// The number of the interface, where a file has several.
    pub(super) interface: Option<u32>,
    /// Captured by the link itself.
    pub(super) is_links: bool,
}

/// The innermost IP packet of a frame.
struct IpPacketInside<'a> {
    bytes: &'a [u8],
    /// Length of all headers before it.
    before: u32,
    headers: Headers,
    /// True for a packet of a tunnel that was not opened.
    is_closed: bool,
}

/// Takes the frames of a capture in order.
pub(super) struct Driver {
    end: Option<End>,
    /// IP packets so far.
    number: u64,
    addresses: Addresses,
    sack: Vec<u32>,
    copies: Copies,
    pub(super) opener: Opener,
    rows: IpPackets,
    pub(super) stats: Stats,
    /// Batch that is handed on next.
    pub(super) batch: Batch,
}

impl Driver {
    pub(super) fn new(end: Option<End>) -> Self {
        Self {
            end,
            number: 0,
            addresses: Addresses::default(),
            sack: Vec::new(),
            copies: Copies::default(),
            opener: Opener::default(),
            rows: IpPackets::default(),
            stats: Stats::default(),
            batch: Batch::default(),
        }
    }

    /// Hands over what has come of the stretch; the next one is put together in the memory of
    /// `batch`.
    pub(super) fn hand_over(&mut self, batch: &mut Batch) {
        self.batch.rows = self.rows.sealed.take();
        std::mem::swap(&mut self.batch, batch);
    }

    pub(super) fn frame(&mut self, link: LinkType, frame: &Frame<'_>) {
        let (packet, before) = match link.network_layer(frame.bytes) {
            Inside::Ip(packet, before) => (packet, before),
            inside => return self.not_ip(link, inside),
        };
        let flags = match frame.flags & 3 {
            0 => link.flags(frame.bytes),
            told => told,
        };
        let mut found = IpPacketInside {
            bytes: packet,
            before,
            headers: Headers::parse(packet, frame.original.saturating_sub(before)),
            is_closed: false,
        };
        // The link forwards whole packets: what the programs under test put into them is theirs.
        if !frame.is_links {
            found = self.open_tunnels(frame, found);
            self.opener.look(&found.headers, found.bytes, flags);
            let interface = link.interface(frame.bytes).or(frame.interface);
            let IpPacketInside { headers, bytes, .. } = &found;
            if (self.copies).is_copy(frame.time_ns, interface, headers, bytes) {
                return self.stats.count(
                    "seen_twice",
                    Severity::Notice,
                    "packets that the capture shows on several interfaces, or inside and outside a tunnel: taken once, as seen first",
                );
            }
        }
        let IpPacketInside {
            bytes: packet,
            before,
            headers,
            is_closed,
        } = found;
        if headers.protocol.is_none() {
            self.stats.count(
                "cut_packet",
                Severity::DataLoss,
                "the capture holds too little of a packet to read its headers",
            );
        }
        let direction = direction(self.end, flags);
        self.row(frame, &headers, direction);
        if self.came_damaged(frame, packet, direction) {
            self.stats.count(
                "damaged_packet",
                Severity::Notice,
                "packets that the link damaged on the way, which their receiver drops: only ip_packets has them",
            );
        } else if !is_closed {
            self.malformed(&headers);
            let at = frame.at + before as usize;
            self.hand_on(frame, at, &headers, direction);
        }
        self.number += 1;
    }

    /// The packet inside all tunnels that can be opened, and what stays closed counted.
    fn open_tunnels<'a>(
        &mut self,
        frame: &Frame<'a>,
        mut found: IpPacketInside<'a>,
    ) -> IpPacketInside<'a> {
        for depth in 0.. {
            let Some(Tunnel { name, inside }) = tunnel::of(&found.headers, found.bytes) else {
                break;
            };
            let inside = if depth == MAX_DEPTH {
                Inside::Hidden(0)
            } else {
                inside
            };
            match inside {
                Inside::Ip(bytes, more) => {
                    self.stats.count(
                        format!("tunnel:{name}"),
                        Severity::Info,
                        "packets inside a tunnel: tables have the inner packet",
                    );
                    let before = found.before.saturating_add(more);
                    let headers = Headers::parse(bytes, frame.original.saturating_sub(before));
                    found = IpPacketInside {
                        bytes,
                        before,
                        headers,
                        is_closed: false,
                    };
                    continue;
                }
                Inside::Cut => self.stats.count(
                    "cut_packet",
                    Severity::DataLoss,
                    "the capture holds too little of a packet to read its headers",
                ),
                Inside::Other => self.stats.count(
                    "not_ip",
                    Severity::Info,
                    "frames of other protocols than IP, such as ARP",
                ),
                Inside::Hidden(_) => self.stats.count(
                    format!("unread_tunnel:{name}"),
                    Severity::DataLoss,
                    "packets of a tunnel that is not opened: ip_packets has the outer packet, and nothing in it is decoded",
                ),
            }
            found.is_closed = true;
            break;
        }
        found
    }

    /// Counts headers that contradict themselves; of a packet that the link damaged they are no finding of their own.
    fn malformed(&mut self, headers: &Headers) {
        if headers.bad_udp_length {
            self.stats.count(
                "bad_udp_length",
                Severity::DataLoss,
                "UDP datagrams whose length contradicts that of their IP packet, which receivers drop: only ip_packets has them",
            );
        }
        if headers.bad_tcp_offset {
            self.stats.count(
                "bad_tcp_offset",
                Severity::DataLoss,
                "TCP segments whose header says that it is shorter than 20 bytes, which receivers drop: only ip_packets has them",
            );
        }
    }

    /// True if a packet that reached this end has a wrong checksum. Only the link's captures can be
    /// asked: others may hold what a network card has put together, with a checksum of nothing.
    fn came_damaged(&self, frame: &Frame<'_>, packet: &[u8], direction: Option<Direction>) -> bool {
        let is_inbound = direction.is_some_and(|way| self.end == Some(way.reverse().sender()));
        let is_whole = frame.bytes.len() >= frame.original as usize;
        frame.packet_index.is_some() && is_inbound && is_whole && is_damaged(packet)
    }

    /// A frame without an IP packet that could be read.
    fn not_ip(&mut self, link: LinkType, inside: Inside<'_>) {
        let stats = &mut self.stats;
        match (link.unread(), inside) {
            (Some(name), _) => stats.count(
                name,
                Severity::DataLoss,
                "frames of a link layer that is not read, by its number in the registry of link types: nothing in them is decoded",
            ),
            (None, Inside::Hidden(protocol)) => stats.count(
                format!("unread_encapsulation:0x{protocol:04x}"),
                Severity::DataLoss,
                "frames with a header that is not read, by its EtherType or PPP protocol: nothing in them is decoded",
            ),
            (None, Inside::Cut) => stats.count(
                "cut_packet",
                Severity::DataLoss,
                "the capture holds too little of a packet to read its headers",
            ),
            (None, _) => stats.count(
                "not_ip",
                Severity::Info,
                "frames of other protocols than IP, such as ARP",
            ),
        }
    }

    fn row(&mut self, frame: &Frame<'_>, headers: &Headers, direction: Option<Direction>) {
        self.sack.clear();
        let tcp = headers.tcp.as_ref();
        if let Some(tcp) = tcp {
            let edges = tcp
                .options
                .sack()
                .iter()
                .flat_map(|&(left, right)| [left, right]);
            self.sack.extend(edges);
        }
        let (src, dst) = match headers.addresses {
            Some(addresses) => self.addresses.texts(addresses),
            None => (None, None),
        };
        let mut number = String::new();
        self.rows.push(IpPacket {
            vantage: self.end.map(End::as_str),
            number: self.number,
            direction: direction.map(Direction::as_str),
            time_ns: frame.time_ns,
            packet_index: frame.packet_index,
            ip_version: headers.version,
            protocol: headers.protocol.map(|protocol| match protocol {
                headers::TCP => "tcp",
                headers::UDP => "udp",
                1 => "icmp",
                58 => "icmpv6",
                other => {
                    number = other.to_string();
                    &number
                }
            }),
            src,
            src_port: headers.ports.map(|(src, _)| src),
            dst,
            dst_port: headers.ports.map(|(_, dst)| dst),
            size_bytes: headers.size_bytes,
            payload_bytes: headers.payload_bytes,
            dropped: frame.dropped,
            ecn: headers.ecn,
            tcp_flags: tcp.map(|tcp| tcp.flags),
            tcp_seq: tcp.map(|tcp| tcp.seq),
            tcp_ack: tcp.and_then(|tcp| tcp.ack),
            tcp_sack: (!self.sack.is_empty()).then_some(self.sack.as_slice()),
            tls_application_data: tcp.and_then(|tcp| tcp.tls_application_data),
        });
    }

    /// Hand a packet that begins at `at` to the connection that it belongs to.
    fn hand_on(
        &mut self,
        frame: &Frame<'_>,
        at: usize,
        headers: &Headers,
        direction: Option<Direction>,
    ) {
        if headers.fragment {
            self.stats.count(
                "ip_fragment",
                Severity::DataLoss,
                "fragments of IP packets are not put together: what they carry is in no other table than ip_packets",
            );
            return;
        }
        let (Some((src, dst)), Some((src_port, dst_port)), Some(length)) =
            (headers.addresses, headers.ports, headers.payload_bytes)
        else {
            return;
        };
        let end = |address: IpAddr, port| SocketAddr::new(address, port);
        let (src, dst) = (end(src, src_port), end(dst, dst_port));
        let payload = at + headers.payload.start..at + headers.payload.end;
        let item = if let Some(tcp) = &headers.tcp {
            let segment = Segment {
                time_ns: frame.time_ns,
                src,
                dst,
                seq: tcp.seq,
                ack: tcp.ack,
                flags: tcp.flags,
                window: tcp.window,
                options: &TcpOptions::NONE,
                payload: &[],
                length,
                direction,
                ip_packet: self.number,
            };
            Item::Segment(segment, tcp.options, payload)
        } else if headers.protocol == Some(headers::UDP) {
            let datagram = UdpDatagram {
                time_ns: frame.time_ns,
                src,
                dst,
                payload: &[],
                length_bytes: length as usize,
                direction,
                ip_packet: self.number,
                is_alone: frame.is_links,
            };
            Item::Datagram(datagram, payload)
        } else {
            return;
        };
        self.batch.items.push(item);
    }

    /// The capture has ended: its last rows, and what was found in it.
    pub(super) fn finish(self) -> (Option<Table>, Stats) {
        (self.rows.finish(), self.stats)
    }
}

/// `epb_flags` bits 0 and 1: 1 inbound, 2 outbound (pcapng section 4.3).
fn direction(end: Option<End>, flags: u32) -> Option<Direction> {
    match (end?, flags & 3) {
        (End::Client, 2) | (End::Server, 1) => Some(Direction::Up),
        (End::Client, 1) | (End::Server, 2) => Some(Direction::Down),
        _ => None,
    }
}
