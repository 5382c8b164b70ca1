// SPDX-License-Identifier: Apache-2.0
//! The block structure of pcapng (section 3): lengths, byte order and options.

use super::portions::Portions;
use crate::{DecodeError, Severity, Stats, MAX_RECORD_BYTES};
use std::io::Read;

/// The type of a section header block, which reads the same in both byte orders.
pub(super) const SECTION_HEADER: Word = [0x0a, 0x0d, 0x0d, 0x0a];

/// A 32-bit number before its byte order is known.
pub(super) type Word = [u8; 4];

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Type, both lengths.
const FRAME_BYTES: usize = 12;

/// Bytes with the section's byte order; every access is checked.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

/// Code and value of an option.
pub(super) type Opt<'a> = (u16, Fields<'a>);

/// An option is longer than its block.
#[derive(Debug)]
pub(super) struct Malformed;

impl<'a> Fields<'a> {
    #[cfg(test)]
    pub(super) fn new(bytes: &'a [u8], big_endian: bool) -> Self {
        Self { bytes, big_endian }
    }

    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    pub(super) fn u8(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    pub(super) fn u16(&self, at: usize) -> Option<u16> {
        let bytes = self.array(at)?;
        Some(if self.big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        })
    }

    pub(super) fn u32(&self, at: usize) -> Option<u32> {
        let bytes = self.array(at)?;
        Some(if self.big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    pub(super) fn u64(&self, at: usize) -> Option<u64> {
        let bytes = self.array(at)?;
        Some(if self.big_endian {
            u64::from_be_bytes(bytes)
        } else {
            u64::from_le_bytes(bytes)
        })
    }

    pub(super) fn i64(&self, at: usize) -> Option<i64> {
        Some(i64::from_ne_bytes(self.u64(at)?.to_ne_bytes()))
    }

    pub(super) fn bytes(&self, at: usize, len: usize) -> Option<&'a [u8]> {
        self.bytes.get(at..at.checked_add(len)?)
    }

    /// The value of a text option; empty if it is not UTF-8.
    pub(super) fn text(&self) -> &'a str {
        std::str::from_utf8(self.bytes).unwrap_or_default()
    }

    /// The options from `at` to the end (section 3.5), as code and value; the last one is an error where the options
    /// behind contradict their lengths.
    pub(super) fn options(
        &self,
        mut at: usize,
    ) -> impl Iterator<Item = Result<Opt<'a>, Malformed>> + '_ {
        std::iter::from_fn(move || {
            let code = self.u16(at).filter(|&code| code != 0)?;
            let value = (self.u16(at + 2)).and_then(|len| self.bytes(at + 4, len.into()));
            let Some(bytes) = value else {
                at = usize::MAX - 4;
                return Some(Err(Malformed));
            };
            at += 4 + bytes.len().next_multiple_of(4);
            let big_endian = self.big_endian;
            Some(Ok((code, Fields { bytes, big_endian })))
        })
    }
}

/// One block without its frame.
pub(super) struct Block<'a> {
    pub kind: u32,
    /// The block's fields; a section header's are those behind the byte order magic.
    pub body: Fields<'a>,
    /// Offset in the stretch at which they begin.
    pub at: usize,
}

/// Reads one block after the other.
pub(super) struct Blocks<R> {
    pub(super) portions: Portions<R>,
    big_endian: bool,
    /// The section header's type has been read already.
    at_first: bool,
}

impl<R: Read> Blocks<R> {
    /// Read on after the type of the first section header.
    pub(super) fn after_magic(portions: Portions<R>) -> Self {
        Self {
            portions,
            big_endian: false,
            at_first: true,
        }
    }

    /// The next block; `None` at the end of the file or where it cannot be followed any further.
    pub(super) fn next(&mut self, stats: &mut Stats) -> Result<Option<Block<'_>>, DecodeError> {
        let Some((kind, length)) = self.frame(stats)? else {
            return Ok(None);
        };
        let section = kind == SECTION_HEADER;
        // The magic number after the length gives the byte order of the whole section, the length included.
        if section && !self.byte_order(stats)? {
            return Ok(None);
        }
        let already = if section { 4 } else { 0 };
        let total = self.word(length) as usize;
        if total < FRAME_BYTES + already || total % 4 != 0 || total > MAX_RECORD_BYTES {
            stats.count(
                "bad_block_length",
                Severity::Error,
                "a block of an impossible length: nothing after it can be read",
            );
            return Ok(None);
        }
        let kind = self.word(kind);
        let big_endian = self.big_endian;
        let rest = total - 8 - already;
        let at = self.portions.position();
        let bytes = self.portions.next(rest)?;
        if bytes.len() < rest {
            truncated(stats);
            return Ok(None);
        }
        // Without the repetition of the length at the block's end.
        let bytes = bytes.get(..rest.saturating_sub(4)).unwrap_or_default();
        let body = Fields { bytes, big_endian };
        Ok(Some(Block { kind, body, at }))
    }

    /// Type and length of the next block.
    fn frame(&mut self, stats: &mut Stats) -> Result<Option<(Word, Word)>, DecodeError> {
        let is_first = std::mem::take(&mut self.at_first);
        let portion = self.portions.next(if is_first { 4 } else { 8 })?;
        let frame = match portion.split_last_chunk::<4>() {
            Some((&[], &length)) if is_first => Some((SECTION_HEADER, length)),
            Some((kind, &length)) => kind.try_into().ok().map(|kind| (kind, length)),
            None => None,
        };
        if frame.is_none() && (is_first || !portion.is_empty()) {
            truncated(stats);
        }
        Ok(frame)
    }

    /// Read the byte order magic; `false` if the section cannot be read.
    fn byte_order(&mut self, stats: &mut Stats) -> Result<bool, DecodeError> {
        let Ok(magic) = <[u8; 4]>::try_from(self.portions.next(4)?) else {
            truncated(stats);
            return Ok(false);
        };
        self.big_endian = u32::from_be_bytes(magic) == BYTE_ORDER_MAGIC;
        let known = self.big_endian || u32::from_le_bytes(magic) == BYTE_ORDER_MAGIC;
        if !known {
            stats.count(
                "bad_byte_order",
                Severity::Error,
                "a section header without the byte order magic: nothing after it can be read",
            );
        }
        Ok(known)
    }

    fn word(&self, bytes: Word) -> u32 {
        if self.big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        }
    }
}

pub(super) fn truncated(stats: &mut Stats) {
    stats.count(
        "truncated_block",
        Severity::DataLoss,
        "the capture was cut short: its last block is incomplete",
    );
}
