// SPDX-License-Identifier: Apache-2.0
//! The block structure of pcapng (section 3): lengths, byte order and options.

use crate::{DecodeError, Severity, Stats, MAX_RECORD_BYTES};
use std::io::{ErrorKind, Read};

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Type, both lengths.
const FRAME_BYTES: usize = 12;

/// Bytes with the section's byte order; every access is checked.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

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

    /// The options from `at` to the end (section 3.5), as code and value; ends quietly at the first malformed one.
    pub(super) fn options(&self, mut at: usize) -> impl Iterator<Item = (u16, Fields<'a>)> + '_ {
        std::iter::from_fn(move || {
            let code = self.u16(at).filter(|&code| code != 0)?;
            let len = usize::from(self.u16(at + 2)?);
            let value = self.bytes(at + 4, len)?;
            at += 4 + len.next_multiple_of(4);
            Some((
                code,
                Fields {
                    bytes: value,
                    big_endian: self.big_endian,
                },
            ))
        })
    }
}

/// One block without its frame.
pub(super) struct Block<'a> {
    pub kind: u32,
    pub body: Fields<'a>,
}

/// Reads one block after the other into the same buffer.
pub(super) struct Blocks<R> {
    input: R,
    buffer: Vec<u8>,
    big_endian: bool,
    first: Option<[u8; 8]>,
}

impl<R: Read> Blocks<R> {
    pub(super) fn open(mut input: R) -> Result<Self, DecodeError> {
        let mut first = [0; 8];
        let found = input.read_exact(&mut first);
        if found.is_err()
            || u32::from_le_bytes([first[0], first[1], first[2], first[3]]) != super::SECTION_HEADER
        {
            return Err(DecodeError::foreign(
                "pcapng capture",
                "it does not start with a section header block",
            ));
        }
        Ok(Self {
            input,
            buffer: Vec::new(),
            big_endian: false,
            first: Some(first),
        })
    }

    /// The next block; `None` at the end of the file or where it cannot be followed any further.
    pub(super) fn next(&mut self, stats: &mut Stats) -> Result<Option<Block<'_>>, DecodeError> {
        let Some(frame) = self.frame(stats)? else {
            return Ok(None);
        };
        let mut kind = self.word(&frame, 0);
        let mut already = 0;
        self.buffer.clear();
        if u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) == super::SECTION_HEADER {
            // The magic number after the length gives the byte order of the whole section, the length included.
            kind = super::SECTION_HEADER;
            already = 4;
            if (&mut self.input).take(4).read_to_end(&mut self.buffer)? < 4 {
                truncated(stats);
                return Ok(None);
            }
            self.big_endian = false;
            if self.word(&self.buffer, 0) != BYTE_ORDER_MAGIC {
                self.big_endian = true;
                if self.word(&self.buffer, 0) != BYTE_ORDER_MAGIC {
                    stats.count("bad_byte_order", Severity::Error, "a section header without the byte order magic: nothing after it can be read");
                    return Ok(None);
                }
            }
        }
        let total = self.word(&frame, 4) as usize;
        if total < FRAME_BYTES + already || total % 4 != 0 || total > MAX_RECORD_BYTES {
            stats.count(
                "bad_block_length",
                Severity::Error,
                "a block of an impossible length: nothing after it can be read",
            );
            return Ok(None);
        }
        // Through `take`, so that a length that lies about a short file does not reserve memory.
        let rest = total - 8 - already;
        if (&mut self.input)
            .take(rest as u64)
            .read_to_end(&mut self.buffer)?
            < rest
        {
            truncated(stats);
            return Ok(None);
        }
        let body = Fields {
            bytes: &self.buffer[..total - FRAME_BYTES],
            big_endian: self.big_endian,
        };
        Ok(Some(Block { kind, body }))
    }

    /// Type and length of the next block.
    fn frame(&mut self, stats: &mut Stats) -> Result<Option<[u8; 8]>, DecodeError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let mut frame = [0; 8];
        let mut filled = 0;
        while filled < frame.len() {
            match self.input.read(&mut frame[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        if filled < frame.len() {
            if filled > 0 {
                truncated(stats);
            }
            return Ok(None);
        }
        Ok(Some(frame))
    }

    fn word(&self, bytes: &[u8], at: usize) -> u32 {
        Fields {
            bytes,
            big_endian: self.big_endian,
        }
        .u32(at)
        .unwrap_or_default()
    }
}

fn truncated(stats: &mut Stats) {
    stats.count(
        "truncated_block",
        Severity::DataLoss,
        "the capture was cut short: its last block is incomplete",
    );
}
