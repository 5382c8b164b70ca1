// SPDX-License-Identifier: Apache-2.0
//! Text that is not plain UTF-8: a byte order mark is taken away, and UTF-16 becomes UTF-8 while it is read.
//!
//! Programs on Windows write JSON so. No binary format that is read here begins like that.

use std::io::{self, BufRead, Read};

/// Encoding of a file, other than as UTF-8 without a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8 behind a byte order mark.
    Marked,
    /// UTF-16, with a mark or as JSON begins without one.
    Utf16(Order),
}

/// Order of the two bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// Bytes of the mark U+FEFF in UTF-8.
pub(super) const MARK_BYTES: usize = 3;

impl Encoding {
    /// Encoding of a file that starts with `head`.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0xef, 0xbb, 0xbf, ..] => Some(Self::Marked),
            [0xff, 0xfe, ..] | [b'{' | b'[', 0, ..] => Some(Self::Utf16(Order::Little)),
            [0xfe, 0xff, ..] | [0, b'{' | b'[', ..] => Some(Self::Utf16(Order::Big)),
            _ => None,
        }
    }
}

/// A reader of UTF-8 over one of UTF-16. What is no character becomes U+FFFD.
pub(super) struct Utf16<R> {
    inner: R,
    order: Order,
    /// Bytes that do not make a character yet.
    left: Vec<u8>,
    text: Vec<u8>,
    given: usize,
    begun: bool,
}

impl<R: BufRead> Utf16<R> {
    pub(super) fn new(inner: R, order: Order) -> Self {
        Self {
            inner,
            order,
            left: Vec::new(),
            text: Vec::new(),
            given: 0,
            begun: false,
        }
    }

    /// Turn what is there into text; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        let chunk = self.inner.fill_buf()?;
        let (length, ended) = (chunk.len(), chunk.is_empty());
        self.left.extend_from_slice(chunk);
        self.inner.consume(length);
        let pairs = self.left.chunks_exact(2);
        let mut units: Vec<u16> = pairs
            .map(|pair| match self.order {
                Order::Little => u16::from_le_bytes([pair[0], pair[1]]),
                Order::Big => u16::from_be_bytes([pair[0], pair[1]]),
            })
            .collect();
        // The first half of a pair of surrogates waits for the second.
        if !ended
            && units
                .last()
                .is_some_and(|unit| (0xd800..0xdc00).contains(unit))
        {
            units.pop();
        }
        self.left.drain(..units.len() * 2);
        self.text.clear();
        self.given = 0;
        for character in char::decode_utf16(units) {
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            let is_mark = !std::mem::replace(&mut self.begun, true) && character == '\u{feff}';
            if !is_mark {
                let mut bytes = [0; 4];
                self.text
                    .extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
            }
        }
        Ok(!ended)
    }
}

impl<R: BufRead> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() {
            if !self.advance()? && self.text.is_empty() {
                return Ok(0);
            }
        }
        let length = buffer.len().min(self.text.len() - self.given);
        buffer[..length].copy_from_slice(&self.text[self.given..self.given + length]);
        self.given += length;
        Ok(length)
    }
}
