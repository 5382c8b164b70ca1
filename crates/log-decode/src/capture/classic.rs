// SPDX-License-Identifier: Apache-2.0
//! Classic pcap (draft-ietf-opsawg-pcap): micro- or nanoseconds, either byte order, one link type.

use super::driver::{Driver, Frame};
use super::interface::no_clock_offset;
use super::link_type::LinkType;
use super::portions::Portions;
use super::Format;
use crate::{Clock, DecodeError, Severity, Source, Stats, MAX_RECORD_BYTES};
use std::io::Read;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// Bytes behind the magic number.
const HEADER_BYTES: usize = 20;
const RECORD_HEADER_BYTES: usize = 16;

/// Layout that the magic number tells.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    big_endian: bool,
    nanoseconds: bool,
}

impl Layout {
    /// `None` if this is no such file.
    pub(super) fn of(magic: [u8; 4]) -> Option<Self> {
        let kinds = [(MICROSECONDS, false), (NANOSECONDS, true)];
        kinds.into_iter().find_map(|(kind, nanoseconds)| {
            let big_endian = magic == kind.to_be_bytes();
            (big_endian || magic == kind.to_le_bytes()).then_some(Self {
                big_endian,
                nanoseconds,
            })
        })
    }

    /// The 32-bit number at `at`.
    fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    fn time_ns(self, record: &[u8]) -> Option<i64> {
        let (seconds, fraction) = (self.u32(record, 0)?, self.u32(record, 4)?);
        let unit = if self.nanoseconds { 1 } else { 1_000 };
        Some(i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * unit)
    }
}

/// A capture in this format.
pub(super) struct Capture<R> {
    layout: Layout,
    link: LinkType,
    file: Portions<R>,
}

impl<R: Read> Capture<R> {
    /// Read on after the magic number.
    pub(super) fn after_magic(
        layout: Layout,
        mut file: Portions<R>,
        stats: &mut Stats,
    ) -> Result<Self, DecodeError> {
        let header = file.next(HEADER_BYTES)?;
        let Some(link) = layout.u32(header, 16) else {
            return Err(DecodeError::foreign("capture", "its header is cut short"));
        };
        // The upper half says how long the frame check sequence is.
        let link = LinkType::of(u16::try_from(link & 0xffff).unwrap_or(u16::MAX));
        no_clock_offset(stats);
        Ok(Self { layout, link, file })
    }

    /// Hand the next packet on; false at the end of the file, or where it cannot be followed any further.
    fn packet(&mut self, driver: &mut Driver) -> Result<bool, DecodeError> {
        let record = self.file.next(RECORD_HEADER_BYTES)?;
        if record.is_empty() {
            return Ok(false);
        }
        let (Some(time_ns), Some(captured), Some(original)) = (
            self.layout.time_ns(record),
            self.layout.u32(record, 8),
            self.layout.u32(record, 12),
        ) else {
            super::blocks::truncated(&mut driver.stats);
            return Ok(false);
        };
        let captured = captured as usize;
        if captured > MAX_RECORD_BYTES {
            driver.stats.count(
                "bad_block_length",
                Severity::Error,
                "a block of an impossible length: nothing after it can be read",
            );
            return Ok(false);
        }
        let at = self.file.position();
        let bytes = self.file.next(captured)?;
        if bytes.len() < captured {
            super::blocks::truncated(&mut driver.stats);
            return Ok(false);
        }
        driver.frame(
            self.link,
            &Frame {
                time_ns,
                bytes,
                at,
                original,
                flags: 0,
                packet_index: None,
                dropped: None,
                interface: None,
                is_links: false,
            },
        );
        Ok(true)
    }
}

impl<R: Read + Send> Format for Capture<R> {
    fn stretch(&mut self, driver: &mut Driver) -> Result<bool, DecodeError> {
        let mut more = true;
        while more {
            more = self.packet(driver)?;
            if self.file.is_spent() {
                break;
            }
        }
        self.file.hand_over(&mut driver.batch.bytes);
        Ok(more)
    }

    fn source(&self) -> Source {
        Source {
            dialect: if self.layout.nanoseconds {
                "pcap, nanoseconds"
            } else {
                "pcap, microseconds"
            }
            .to_owned(),
            clock: Clock::Realtime,
            resolution_ns: if self.layout.nanoseconds { 1 } else { 1_000 },
            realtime_minus_monotonic_ns: None,
        }
    }
}
