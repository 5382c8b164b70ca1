// SPDX-License-Identifier: Apache-2.0
//! Reader of what the forwarder has to know of an IP packet: whose it is, and whether it belongs to
//! the workload.

use link_core::{Content, Ecn, Protocol};

use crate::checksum;

const ICMPV6: u8 = 58;
const IGMP: u8 = 2;
const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
/// Bytes of a datagram that tell it from all others: QUIC's are encrypted.
const DATAGRAM_BEGIN: usize = 32;
/// QUIC version 2 numbers the types of its long headers anew (RFC 9369 section 3.2).
const QUIC_V2: u32 = 0x6b33_43cf;

/// The addresses and ports of a packet, as bytes within it.
struct Headers<'a> {
    source: &'a [u8],
    destination: &'a [u8],
    protocol: u8,
    rest: &'a [u8],
}

/// Finds the headers; `None` if this is no IP packet.
fn headers(packet: &[u8]) -> Option<Headers<'_>> {
    match packet.first()? >> 4 {
        4 => Some(Headers {
            source: packet.get(12..16)?,
            destination: packet.get(16..20)?,
            protocol: *packet.get(9)?,
            rest: packet.get(usize::from(packet[0] & 15) * 4..)?,
        }),
        6 => Some(Headers {
            source: packet.get(8..24)?,
            destination: packet.get(24..40)?,
            protocol: *packet.get(6)?,
            rest: packet.get(40..)?,
        }),
        _ => None,
    }
}

/// True if this is an IP packet at all.
#[must_use]
pub fn is_ip(packet: &[u8]) -> bool {
    headers(packet).is_some()
}

/// True if a packet is the hosts' own housekeeping (neighbour discovery, router solicitation,
/// multicast listeners, IGMP), which passes outside the model: it must neither start the model's
/// clock nor shift the packets' numbers.
#[must_use]
pub fn is_housekeeping(packet: &[u8]) -> bool {
    let Some(Headers { protocol, rest, .. }) = headers(packet) else {
        return true;
    };
    let icmp_type = match protocol {
        IGMP => return true,
        ICMPV6 if packet[0] >> 4 == 6 => rest.first(),
        HOP_BY_HOP if rest.first() == Some(&ICMPV6) => {
            rest.get(8 + usize::from(rest.get(1).copied().unwrap_or(0)) * 8)
        }
        _ => None,
    };
    // RFC 2710 and 3810: 130 to 132, 143; RFC 4861: 133 to 137.
    icmp_type.is_some_and(|icmp_type| matches!(icmp_type, 130..=137 | 143))
}

/// The transport of a packet.
#[must_use]
pub fn protocol(packet: &[u8]) -> Protocol {
    match headers(packet).map(|headers| headers.protocol) {
        Some(TCP) => Protocol::Tcp,
        Some(UDP) => Protocol::Udp,
        _ => Protocol::Other,
    }
}

/// The number of the protocol behind the IP header; `None` if this is no IP packet.
#[must_use]
pub fn protocol_number(packet: &[u8]) -> Option<u8> {
    headers(packet).map(|headers| headers.protocol)
}

/// The ends of a packet of TCP or UDP, with its ports.
#[derive(Clone, Copy, Debug)]
pub struct Transport<'a> {
    /// Number of the protocol.
    pub protocol: u8,
    /// True for UDP.
    pub is_udp: bool,
    /// Place of the transport's header in the packet.
    pub start: usize,
    /// Source address.
    pub source: &'a [u8],
    /// Destination address.
    pub destination: &'a [u8],
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

/// The ends of a packet; `None` of one that is neither TCP nor UDP.
#[must_use]
pub fn transport_of(packet: &[u8]) -> Option<Transport<'_>> {
    let found = headers(packet)?;
    if !matches!(found.protocol, TCP | UDP) {
        return None;
    }
    let port = |at: usize| {
        Some(u16::from_be_bytes([
            *found.rest.get(at)?,
            *found.rest.get(at + 1)?,
        ]))
    };
    Some(Transport {
        protocol: found.protocol,
        is_udp: found.protocol == UDP,
        start: packet.len() - found.rest.len(),
        source: found.source,
        destination: found.destination,
        source_port: port(0)?,
        destination_port: port(2)?,
    })
}

/// True for a fragment of an IPv4 datagram, the first one too.
#[must_use]
pub fn is_fragment(packet: &[u8]) -> bool {
    fragment(packet).is_some()
}

/// True for an IPv4 packet that a router may cut: "don't fragment" is not set (RFC 791).
#[must_use]
pub fn is_fragmentable(packet: &[u8]) -> bool {
    matches!(packet, [first, _, _, _, _, _, flags, ..] if first >> 4 == 4 && flags & 0x40 == 0)
}

/// True for a fragment of an IPv4 datagram that is not the first one: it shows no transport.
#[must_use]
pub fn is_later_fragment(packet: &[u8]) -> bool {
    matches!(fragment(packet), Some(Fragment::Later))
}

/// Place of an IPv4 packet in its datagram, where that is fragmented.
enum Fragment {
    First,
    Later,
}

/// True for a fragment of an IPv4 datagram (RFC 791).
fn fragment(packet: &[u8]) -> Option<Fragment> {
    let [first, _, _, _, _, _, high, low, ..] = packet else {
        return None;
    };
    let field = u16::from_be_bytes([*high, *low]);
    match (first >> 4, field & 0x2000 != 0, field & 0x1fff) {
        (4, _, 1..) => Some(Fragment::Later),
        (4, true, 0) => Some(Fragment::First),
        _ => None,
    }
}

/// Content that a packet shows: the start of a connection of TCP, data of TCP, the types of QUIC's
/// long headers (RFC 9000 section 17.2, RFC 9369). A datagram of several QUIC packets counts by the
/// first of them, and of a fragmented packet only the first fragment shows anything.
#[must_use]
pub fn content(packet: &[u8]) -> Content {
    match headers(packet) {
        Some(Headers { protocol, rest, .. }) if !is_later_fragment(packet) => match protocol {
            TCP => segment(rest),
            UDP => rest.get(UDP_HEADER..).map_or(Content::Unmarked, datagram),
            _ => Content::Unmarked,
        },
        _ => Content::Unmarked,
    }
}

fn segment(rest: &[u8]) -> Content {
    let (Some(offset), Some(flags)) = (rest.get(12), rest.get(13)) else {
        return Content::Unmarked;
    };
    Content::Segment {
        syn: flags & 2 != 0,
        payload: rest.len() > usize::from(offset >> 4) * 4,
    }
}

/// The fixed bit says nothing: it may be greased (RFC 9287).
fn datagram(payload: &[u8]) -> Content {
    let &[first, a, b, c, d, ..] = payload else {
        return Content::Unmarked;
    };
    let of_type = first >> 4 & 3;
    match (first >> 7, u32::from_be_bytes([a, b, c, d]), of_type) {
        (1, QUIC_V2, 1) | (1, 1 | 0xff00_0000..=0xff00_00ff, 0) => Content::Initial,
        (1, QUIC_V2, 3) | (1, 1 | 0xff00_0000..=0xff00_00ff, 2) => Content::Handshake,
        _ => Content::Unmarked,
    }
}

/// The ECN bits of an IP packet (RFC 3168 sections 5 and 23, RFC 8200 section 7).
#[must_use]
pub fn ecn(packet: &[u8]) -> Ecn {
    let bits = match packet {
        [first, second, ..] if first >> 4 == 4 => second & 3,
        [first, second, ..] if first >> 4 == 6 => second >> 4 & 3,
        _ => 0,
    };
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(bits)]
}

/// Marks an IP packet "congestion experienced". Of the checksums only that of an IPv4 header covers these bits.
pub fn mark_ce(packet: &mut [u8]) {
    match packet {
        [first, second, ..] if *first >> 4 == 6 => *second |= 0x30,
        [first, _, ..] if *first >> 4 == 4 && packet.len() >= 20 => {
            let before = u16::from_be_bytes([packet[0], packet[1]]);
            packet[1] |= 3;
            let after = u16::from_be_bytes([packet[0], packet[1]]);
            checksum::update(&mut packet[10..12], before, after);
        }
        _ => {}
    }
}

/// A hash of addresses, ports and protocol, the same in both directions (FNV-1a, 32 bits, the smaller end first). Of all
/// fragments the ports are left out, as only the first one has them: a datagram is of one flow, as in Linux.
#[must_use]
pub fn flow(packet: &[u8]) -> u32 {
    let Some(Headers {
        source,
        destination,
        protocol,
        rest,
    }) = headers(packet)
    else {
        return 0;
    };
    let ports: &[u8] = match protocol {
        TCP | UDP if fragment(packet).is_none() => rest.get(..4).unwrap_or_default(),
        _ => &[],
    };
    let (source_port, destination_port) = ports.split_at(ports.len() / 2);
    let (first, second) = if (source, source_port) <= (destination, destination_port) {
        ([source, source_port], [destination, destination_port])
    } else {
        ([destination, destination_port], [source, source_port])
    };
    first
        .into_iter()
        .chain(second)
        .flatten()
        .chain([&protocol])
        .fold(0x811c_9dc5, |hash: u32, byte| {
            (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
        })
}

/// A hash by which a packet of TCP or UDP is known again behind a node that passes it on: of what neither a router nor
/// its kernel, which may join segments and cut them again, changes (FNV-1a, 64 bits). Of TCP these are addresses, ports,
/// sequence and acknowledgment number and length; of UDP, which has no numbers, the first bytes of the payload.
#[must_use]
pub fn identity(packet: &[u8]) -> Option<u64> {
    let found = headers(packet)?;
    if fragment(packet).is_some() {
        return None;
    }
    let (known, more) = match found.protocol {
        TCP => (found.rest.get(..12)?, &[][..]),
        UDP => {
            let payload = found.rest.get(UDP_HEADER..)?;
            let begin = payload.get(..DATAGRAM_BEGIN).unwrap_or(payload);
            (found.rest.get(..4)?, begin)
        }
        _ => return None,
    };
    let length = found.rest.len().to_be_bytes();
    let bytes = [found.source, found.destination, known, more, &length];
    let hash = bytes
        .into_iter()
        .flatten()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    Some(hash)
}
