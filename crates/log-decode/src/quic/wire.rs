// SPDX-License-Identifier: Apache-2.0
//! Elements that all structures of QUIC are made of: variable-length integers (RFC 9000 section 16)
//! and connection ids.

use crate::tls::Reader;
use std::hash::{Hash, Hasher};

/// A variable-length integer.
#[inline]
pub(super) fn varint(reader: &mut Reader<'_>) -> Option<u64> {
    let first = reader.u8()?;
    let rest = reader.bytes((1 << (first >> 6)) - 1)?;
    let start = u64::from(first & 0x3f);
    Some(rest.iter().fold(start, |n, &byte| n << 8 | u64::from(byte)))
}

/// Read the bytes whose number a variable-length integer before them says.
pub(super) fn varint_vector<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = usize::try_from(varint(reader)?).ok()?;
    reader.bytes(length)
}

/// RFC 9000 section 17.2: the longest of versions 1 and 2.
pub(super) const MAX_CID_BYTES: usize = 20;

/// A connection id.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ConnectionId {
    length: u8,
    bytes: [u8; MAX_CID_BYTES],
}

impl ConnectionId {
    /// `None` if it is longer than versions 1 and 2 allow.
    pub(super) fn new(id: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_CID_BYTES];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        let length = u8::try_from(id.len()).ok()?;
        Some(Self { length, bytes })
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len()).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.length)
    }
}

impl Hash for ConnectionId {
    /// Hashes the whole array: bytes behind the id's end are zero.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [first, second, third] = std::array::from_fn(|part| {
            let mut number = [0; 8];
            let at = part * 8;
            let end = MAX_CID_BYTES.min(at + 8);
            number[..end - at].copy_from_slice(&self.bytes[at..end]);
            u64::from_le_bytes(number)
        });
        state.write_u64(first);
        state.write_u64(second);
        state.write_u64(third << 8 | u64::from(self.length));
    }
}

impl std::fmt::Debug for ConnectionId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&hex(self.as_bytes()))
    }
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// The whole packet number when `bits` bits of it were sent and `largest` is the largest so far (RFC 9000 appendix
/// A.3).
pub(super) fn packet_number(largest: Option<u64>, truncated: u64, bits: u32) -> u64 {
    let expected = largest.map_or(0, |largest| largest.saturating_add(1));
    let window = 1_u64 << bits;
    let candidate = expected & !(window - 1) | truncated;
    if candidate.saturating_add(window / 2) <= expected && candidate < (1 << 62) - window {
        candidate + window
    } else if candidate > expected.saturating_add(window / 2) && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_four_lengths() {
        for (bytes, value) in [
            (
                &b"\xc2\x19\x7c\x5e\xff\x14\xe8\x8c"[..],
                151_288_809_941_952_652,
            ),
            (b"\x9d\x7f\x3e\x7d", 494_878_333),
            (b"\x7b\xbd", 15_293),
            (b"\x25", 37),
            (b"\x40\x25", 37),
        ] {
            assert_eq!(varint(&mut Reader::new(bytes)), Some(value));
            assert_eq!(varint(&mut Reader::new(&bytes[..bytes.len() - 1])), None);
        }
    }

    #[test]
    fn packet_numbers_are_the_nearest_to_what_is_expected() {
        assert_eq!(packet_number(Some(0xa82f_30ea), 0x9b32, 16), 0xa82f_9b32);
        assert_eq!(packet_number(None, 0, 8), 0);
        assert_eq!(packet_number(Some(255), 0, 8), 256);
        assert_eq!(packet_number(Some(256), 255, 8), 255);
        assert_eq!(packet_number(Some((1 << 62) - 2), 0xff, 8), (1 << 62) - 1);
    }
}
