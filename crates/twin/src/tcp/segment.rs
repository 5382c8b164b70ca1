// SPDX-License-Identifier: Apache-2.0
//! Segments that go over the link.

/// Payload of a full segment: 1,500 bytes less IPv4's header, TCP's and its time stamps.
pub const MSS: u64 = 1448;
const HEADERS: u64 = 52;
const SYN_BYTES: u64 = 60;

/// One segment. Positions count the bytes of the stream from 0, the SYN left out.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The SYN flag.
    pub syn: bool,
    /// All before this position has come; `None` in the first SYN.
    pub ack: Option<u64>,
    /// Ranges that have come beyond it.
    pub sack: Vec<(u64, u64)>,
    /// Position of the first byte of the payload.
    pub start: u64,
    /// Length of the payload.
    pub length: u64,
    /// Position up to which the sender of this segment takes bytes.
    pub edge: u64,
    /// `WINDOW_UPDATE`s that end in the payload: position of the end, limit of the stream.
    pub updates: Vec<(u64, u64)>,
}

impl Segment {
    /// A segment with this payload, or without any, that says nothing else yet.
    #[must_use]
    pub fn carrying(start: u64, end: u64) -> Self {
        Self {
            syn: false,
            ack: None,
            sack: Vec::new(),
            start,
            length: end - start,
            edge: 0,
            updates: Vec::new(),
        }
    }

    /// Length of the IP packet.
    #[must_use]
    pub fn size(&self, no_headers: bool) -> u64 {
        if no_headers {
            return self.length;
        }
        if self.syn {
            return SYN_BYTES;
        }
        let blocks = u64::try_from(self.sack.len()).expect("three blocks at most");
        let option = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        HEADERS + option + self.length
    }
}
