// SPDX-License-Identifier: Apache-2.0
//! The Internet checksum (RFC 1071).

/// A transport checksum that the sender left to its network card: so far the field holds the sum of the pseudo-header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialChecksum {
    /// Offset at which the summed bytes start, counted from the IP header.
    pub start: u16,
    /// Offset of the field, counted from `start`.
    pub offset: u16,
}

/// Adds bytes to a one's complement sum; an odd last byte counts as the high one.
#[must_use]
pub fn sum(start: u64, bytes: &[u8]) -> u64 {
    let pairs = bytes.chunks_exact(2);
    let odd = pairs.remainder();
    let total = pairs.fold(start, |total, pair| {
        total + u64::from(u16::from_be_bytes([pair[0], pair[1]]))
    });
    total + odd.first().map_or(0, |byte| u64::from(*byte) << 8)
}

/// Folds a sum to 16 bits, without the complement.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the loop ends below 2¹⁶")]
pub fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// Writes the header checksum of an IPv4 packet.
pub fn fill_ipv4_header(packet: &mut [u8]) {
    let length = usize::from(packet[0] & 15) * 4;
    packet[10..12].fill(0);
    let checksum = !fold(sum(0, &packet[..length]));
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Corrects a checksum for a 16-bit word that changed under it (RFC 1624, equation 3).
pub fn update(field: &mut [u8], before: u16, after: u16) {
    let old = u16::from_be_bytes([field[0], field[1]]);
    let new = !fold(u64::from(!old) + u64::from(!before) + u64::from(after));
    field.copy_from_slice(&new.to_be_bytes());
}

/// The sum of the pseudo-header of an IPv4 or IPv6 packet with `length` bytes of transport (RFC 9293, RFC 8200).
#[must_use]
pub fn pseudo_header(packet: &[u8], protocol: u8, length: u32) -> u16 {
    let addresses = if packet[0] >> 4 == 4 {
        &packet[12..20]
    } else {
        &packet[8..40]
    };
    fold(sum(u64::from(protocol) + u64::from(length), addresses))
}

/// Does what the network card was left to do. A place outside the packet leaves it as it is.
pub fn complete(packet: &mut [u8], partial: PartialChecksum) {
    let start = usize::from(partial.start);
    let field = start + usize::from(partial.offset);
    if field + 2 > packet.len() {
        return;
    }
    let checksum = match !fold(sum(0, &packet[start..])) {
        // Zero would mean "no checksum" in UDP (RFC 768), and means the same as 0xffff elsewhere.
        0 => 0xffff,
        checksum => checksum,
    };
    packet[field..field + 2].copy_from_slice(&checksum.to_be_bytes());
}
