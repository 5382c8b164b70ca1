// SPDX-License-Identifier: Apache-2.0
//! One direction's bytes, cut into frames (RFC 9113 section 4.1); payloads of DATA are passed over, never copied.

/// Bytes that a client sends first (RFC 9113 section 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Most bytes that are kept of a payload that has to be read; no program is known to send more in
/// one frame.
const MAX_PAYLOAD_BYTES: usize = 1 << 20;
const HEADER_BYTES: usize = 9;

pub(super) const DATA: u8 = 0x0;
pub(super) const PADDED: u8 = 0x8;

/// The start of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream_id: u32,
}

impl FrameHeader {
    fn parse(bytes: [u8; HEADER_BYTES]) -> Self {
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = bytes;
        Self {
            length: usize::from(l0) << 16 | usize::from(l1) << 8 | usize::from(l2),
            kind,
            flags,
            stream_id: u32::from_be_bytes([s0 & 0x7f, s1, s2, s3]),
        }
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Length with the header.
    pub(super) fn total(self) -> u64 {
        (HEADER_BYTES + self.length) as u64
    }
}

/// Event that the next bytes brought.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// A DATA frame begins.
    DataStart { header: FrameHeader },
    /// More of a DATA frame's payload: so many bytes, and how many of them are neither padding nor its length.
    Data {
        header: FrameHeader,
        bytes: usize,
        body_bytes: usize,
    },
    /// A frame is whole; `payload` is empty for DATA, and shorter than the frame if that is longer than what is kept.
    Frame {
        header: FrameHeader,
        first_ns: i64,
        payload: &'a [u8],
    },
    /// The client's first bytes are not the preface: its frames are looked for at once.
    NoPreface,
}

#[derive(Debug)]
enum State {
    Preface(usize),
    Header {
        bytes: [u8; HEADER_BYTES],
        have: usize,
    },
    Payload {
        header: FrameHeader,
        have: usize,
        padding: usize,
    },
    Lost,
}

const START: State = State::Header {
    bytes: [0; HEADER_BYTES],
    have: 0,
};

/// State of one direction.
#[derive(Debug)]
pub(super) struct Reader {
    state: State,
    first_ns: i64,
    payload: Vec<u8>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            state: START,
            first_ns: 0,
            payload: Vec::new(),
        }
    }
}

impl Reader {
    /// The client's direction.
    pub(super) fn after_preface() -> Self {
        Self {
            state: State::Preface(0),
            ..Self::default()
        }
    }

    /// Bytes are missing: there are no more frames to be found.
    pub(super) fn lose(&mut self) {
        self.state = State::Lost;
        self.payload = Vec::new();
    }

    pub(super) fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost)
    }

    /// The frame that has begun and is not whole, and when it began.
    pub(super) fn unfinished(&self) -> Option<(FrameHeader, i64)> {
        match self.state {
            State::Payload { header, .. } => Some((header, self.first_ns)),
            _ => None,
        }
    }

    /// Read on to the next event, and take what was read off `bytes`; `None` once they are used up.
    pub(super) fn next(&mut self, bytes: &mut &[u8], time_ns: i64) -> Option<Event<'_>> {
        loop {
            match &mut self.state {
                State::Lost => return None,
                State::Preface(have) => {
                    let expected = PREFACE.get(*have..).unwrap_or_default();
                    let count = expected.len().min(bytes.len());
                    if count == 0 {
                        return None;
                    }
                    if bytes.get(..count) != expected.get(..count) {
                        // What matched so far was the start of a frame's header; no real one looks like it.
                        self.state = START;
                        return Some(Event::NoPreface);
                    }
                    *bytes = bytes.get(count..).unwrap_or_default();
                    *have += count;
                    if *have == PREFACE.len() {
                        self.state = START;
                    }
                }
                State::Header { bytes: read, have } => {
                    if *have == 0 {
                        self.first_ns = time_ns;
                    }
                    let free = read.get_mut(*have..).unwrap_or_default();
                    let count = free.len().min(bytes.len());
                    let (taken, rest) = bytes.split_at(count);
                    free.get_mut(..count)?.copy_from_slice(taken);
                    *bytes = rest;
                    *have += count;
                    if *have < HEADER_BYTES {
                        return None;
                    }
                    let header = FrameHeader::parse(*read);
                    self.payload.clear();
                    self.state = State::Payload {
                        header,
                        have: 0,
                        padding: 0,
                    };
                    if header.kind == DATA {
                        return Some(Event::DataStart { header });
                    }
                }
                State::Payload {
                    header,
                    have,
                    padding,
                } => {
                    let header = *header;
                    if *have == header.length {
                        self.state = START;
                        return Some(Event::Frame {
                            header,
                            first_ns: self.first_ns,
                            payload: &self.payload,
                        });
                    }
                    let count = (header.length - *have).min(bytes.len());
                    let (taken, rest) = bytes.split_at(count);
                    let (&first, _) = taken.split_first()?;
                    *bytes = rest;
                    let from = *have;
                    *have += count;
                    if header.kind != DATA {
                        let room = MAX_PAYLOAD_BYTES - self.payload.len().min(MAX_PAYLOAD_BYTES);
                        let kept = taken.get(..room).unwrap_or(taken);
                        self.payload.extend_from_slice(kept);
                        continue;
                    }
                    let is_padded = header.has(PADDED);
                    if is_padded && from == 0 {
                        *padding = usize::from(first);
                    }
                    let body_start = usize::from(is_padded);
                    let body_end = header.length.saturating_sub(*padding);
                    let body_bytes = (*have).min(body_end).saturating_sub(from.max(body_start));
                    return Some(Event::Data {
                        header,
                        bytes: count,
                        body_bytes,
                    });
                }
            }
        }
    }
}
