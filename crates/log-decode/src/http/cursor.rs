// SPDX-License-Identifier: Apache-2.0
//! The integers and strings of HPACK and QPACK (RFC 7541 section 5) and QUIC's (RFC 9000 section 16).

use super::huffman;
use std::borrow::Cow;

/// Reason why encoded fields cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldError {
    /// More bytes are needed: at least this many.
    Incomplete(usize),
    /// An integer beyond 62 bits.
    Integer,
    /// RFC 7541 section 5.2: the end-of-string symbol, or padding that is none.
    Huffman,
    /// An index that no entry has.
    Index,
    /// A dynamic table larger than is kept.
    TableSize,
    /// A field section that cannot be decoded with what the encoder inserted.
    InsertCount,
}

/// No encoder of either protocol needs more (RFC 9204 section 4.1.1).
const MAX_INTEGER: u64 = (1 << 62) - 1;

/// Bytes not yet read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// A variable-length integer (RFC 9000 section 16).
    pub(super) fn varint(&mut self) -> Option<u64> {
        let length = 1 << (self.0.first()? >> 6);
        let bytes = self.take(length)?;
        let value = bytes
            .iter()
            .fold(0, |value, &byte| value << 8 | u64::from(byte));
        Some(value & (u64::MAX >> 2 >> (64 - 8 * length)))
    }

    /// An integer in the low `bits` of `first`, which was read already, and the bytes after it (RFC 7541 section 5.1).
    pub(super) fn integer(&mut self, first: u8, bits: u32) -> Result<u64, FieldError> {
        let full = (1u64 << bits) - 1;
        let mut value = u64::from(first) & full;
        if value < full {
            return Ok(value);
        }
        for shift in (0..63).step_by(7) {
            let byte = self.byte().ok_or(FieldError::Incomplete(1))?;
            let part = u64::from(byte & 0x7f);
            if part > MAX_INTEGER >> shift {
                return Err(FieldError::Integer);
            }
            value = value
                .checked_add(part << shift)
                .filter(|&value| value <= MAX_INTEGER)
                .ok_or(FieldError::Integer)?;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(FieldError::Integer)
    }

    /// A string whose length is in the low `bits` of `first`, below the Huffman flag (RFC 7541 section 5.2).
    pub(super) fn string(&mut self, first: u8, bits: u32) -> Result<Cow<'a, [u8]>, FieldError> {
        let length = self.integer(first, bits)?;
        let length = usize::try_from(length).map_err(|_| FieldError::Integer)?;
        let missing = length.saturating_sub(self.0.len());
        let bytes = self.take(length).ok_or(FieldError::Incomplete(missing))?;
        if first >> bits & 1 == 0 {
            return Ok(Cow::Borrowed(bytes));
        }
        huffman::decode(bytes).map(Cow::Owned)
    }

    /// A string with a byte of its own for the flag and the first bits of its length.
    pub(super) fn whole_string(&mut self) -> Result<Cow<'a, [u8]>, FieldError> {
        let first = self.byte().ok_or(FieldError::Incomplete(1))?;
        self.string(first, 7)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, FieldError};

    fn integer(bytes: &[u8], bits: u32) -> Result<u64, FieldError> {
        let mut cursor = Cursor(bytes);
        let first = cursor.byte().unwrap();
        cursor.integer(first, bits)
    }

    /// RFC 7541 Appendix C.1.
    #[test]
    fn integers_of_the_rfc() {
        assert_eq!(integer(&[0b1110_1010], 5), Ok(10));
        assert_eq!(integer(&[0b1111_1111, 0b1001_1010, 0b1010], 5), Ok(1337));
        assert_eq!(integer(&[42], 8), Ok(42));
    }

    /// The value of an integer cannot grow without end, and neither can its length.
    #[test]
    fn integers_are_bounded() {
        assert_eq!(integer(&[0x7f; 12], 7), Ok(0x7f + 0x7f));
        assert_eq!(integer(&[0xff; 12], 7), Err(FieldError::Integer));
        let mut zeros = vec![0x80; 12];
        zeros[0] = 0xff;
        assert_eq!(integer(&zeros, 7), Err(FieldError::Integer));
        assert_eq!(integer(&[0xff, 0x80], 7), Err(FieldError::Incomplete(1)));
    }

    /// RFC 9000 Appendix A.1.
    #[test]
    fn variable_length_integers_of_the_rfc() {
        let read = |bytes| Cursor(bytes).varint();
        assert_eq!(
            read(&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]),
            Some(151_288_809_941_952_652)
        );
        assert_eq!(read(&[0x9d, 0x7f, 0x3e, 0x7d]), Some(494_878_333));
        assert_eq!(read(&[0x7b, 0xbd]), Some(15_293));
        assert_eq!(read(&[0x25]), Some(37));
        assert_eq!(read(&[0x40, 0x25]), Some(37));
        assert_eq!(read(&[0x40]), None);
    }

    /// A length beyond what is there asks for the rest and reserves nothing.
    #[test]
    fn strings_say_how_much_is_missing() {
        assert_eq!(
            Cursor(&[0x05, b'a', b'b']).whole_string(),
            Err(FieldError::Incomplete(3))
        );
        let huge = [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert!(matches!(
            Cursor(&huge).whole_string(),
            Err(FieldError::Incomplete(_))
        ));
    }
}
