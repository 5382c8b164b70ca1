// SPDX-License-Identifier: Apache-2.0
//! The Internet checksum (RFC 1071) of a packet that has arrived: a wrong one makes its receiver drop it.

use super::headers::{TCP, UDP};

const IPV4_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;

/// True if a whole packet is not what was sent: its IPv4 header, or what TCP or UDP protects.
/// Fragments, and IPv6 packets with extension headers, are taken as they are.
pub(super) fn is_damaged(packet: &[u8]) -> bool {
    match packet.first().map(|first| first >> 4) {
        Some(4) => is_damaged_ipv4(packet).unwrap_or(true),
        Some(6) => is_damaged_ipv6(packet).unwrap_or(true),
        _ => true,
    }
}

/// `None` where its lengths contradict the packet.
fn is_damaged_ipv4(packet: &[u8]) -> Option<bool> {
    let header = packet.get(..usize::from(packet.first()? & 15) * 4)?;
    if header.len() < IPV4_BYTES || fold(sum(header)) != 0xffff {
        return None;
    }
    if be16(header, 6)? & 0x3fff != 0 {
        return Some(false);
    }
    let transport = packet.get(header.len()..usize::from(be16(header, 2)?))?;
    transport_is_damaged(*header.get(9)?, header.get(12..20)?, transport)
}

fn is_damaged_ipv6(packet: &[u8]) -> Option<bool> {
    let header = packet.get(..IPV6_BYTES)?;
    let transport = packet
        .get(IPV6_BYTES..)?
        .get(..usize::from(be16(header, 4)?))?;
    transport_is_damaged(*header.get(6)?, header.get(8..IPV6_BYTES)?, transport)
}

fn transport_is_damaged(protocol: u8, addresses: &[u8], transport: &[u8]) -> Option<bool> {
    let field_at = match protocol {
        TCP => 16,
        UDP => 6,
        _ => return Some(false),
    };
    let field = be16(transport, field_at)?;
    let pseudo_header = sum(addresses) + u64::from(protocol) + transport.len() as u64;
    // In the memory of one machine a checksum is left to network cards that there are none of: the field holds the sum
    // of the pseudo-header alone. UDP's 0 is none at all (RFC 768).
    if field == fold(pseudo_header) || protocol == UDP && field == 0 {
        return Some(false);
    }
    Some(fold(pseudo_header + sum(transport)) != 0xffff)
}

fn sum(bytes: &[u8]) -> u64 {
    let pairs = bytes.chunks_exact(2);
    let last = pairs
        .remainder()
        .first()
        .map_or(0, |&byte| u64::from(byte) << 8);
    pairs
        .map(|pair| u64::from(pair[0]) << 8 | u64::from(pair[1]))
        .sum::<u64>()
        + last
}

fn fold(mut total: u64) -> u16 {
    loop {
        match u16::try_from(total) {
            Ok(folded) => return folded,
            Err(_) => total = (total & 0xffff) + (total >> 16),
        }
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
