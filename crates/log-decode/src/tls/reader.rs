// SPDX-License-Identifier: Apache-2.0
//! Numbers and vectors in the presentation language of TLS (RFC 8446 section 3); every access is checked.

/// Bytes that are left of a structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// A big-endian number of up to eight bytes.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.bytes(bytes)?;
        Some(taken.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)))
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.number(1)?.try_into().ok()
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.number(2)?.try_into().ok()
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.number(4)?.try_into().ok()
    }

    /// A vector whose length stands before it in `length_bytes` bytes.
    pub(crate) fn vector(&mut self, length_bytes: usize) -> Option<Reader<'a>> {
        let length = usize::try_from(self.number(length_bytes)?).ok()?;
        self.bytes(length).map(Reader)
    }
}
