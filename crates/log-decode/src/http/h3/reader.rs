// SPDX-License-Identifier: Apache-2.0
//! One direction of one stream, cut into frames (RFC 9114 section 7.1); payloads of DATA are passed over, never copied.

use crate::http::cursor::Cursor;
use crate::http::names;

/// Most bytes that are kept of a payload that has to be read; no program is known to send more in
/// one frame.
const MAX_PAYLOAD_BYTES: usize = 1 << 20;
/// Bytes that a stream may keep reserved between its frames.
const SMALL_BYTES: usize = 4096;
/// Two integers of eight bytes.
const MAX_HEADER_BYTES: usize = 16;

pub(super) const DATA: u64 = 0x0;

/// A frame's type and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub kind: u64,
    pub length: u64,
}

impl FrameHeader {
    /// The number of a type that has no name of its own.
    pub(super) fn unnamed_type(self) -> Option<u64> {
        let name = names::h3_frame(self.kind);
        (name == names::RESERVED || name.starts_with("unknown")).then_some(self.kind)
    }
}

/// Event that the next bytes brought.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// The first integers of a unidirectional stream: its type, and a push stream's id.
    Opening(u64, Option<u64>),
    /// A frame begins.
    Start,
    /// A part of a DATA frame's payload, with this many bytes.
    Data(usize),
    /// Bytes of a stream that has no frames.
    Raw(&'a [u8]),
    /// A frame is whole; `payload` is empty for DATA, and shorter than the frame if that is longer than what is kept.
    Frame {
        header: FrameHeader,
        first_ns: i64,
        payload: &'a [u8],
    },
}

/// A few bytes of integers that are not whole yet.
#[derive(Debug, Default)]
struct Start {
    bytes: [u8; MAX_HEADER_BYTES],
    have: usize,
}

impl Start {
    /// Add one byte off `bytes`; false once they are used up.
    fn take_byte(&mut self, bytes: &mut &[u8]) -> bool {
        let Some((&first, rest)) = bytes.split_first() else {
            return false;
        };
        if let Some(slot) = self.bytes.get_mut(self.have) {
            *slot = first;
            self.have += 1;
        }
        *bytes = rest;
        true
    }

    fn cursor(&self) -> Cursor<'_> {
        Cursor(self.bytes.get(..self.have).unwrap_or_default())
    }
}

#[derive(Debug)]
enum State {
    /// The type of a unidirectional stream comes next.
    Opening(Start),
    Header(Start),
    Payload {
        header: FrameHeader,
        have: u64,
        is_kept: bool,
    },
    Raw,
    Lost,
}

/// RFC 9114 section 6.2: what follows is frames.
pub(super) const CONTROL: u64 = 0x0;
/// RFC 9114 section 6.2: the push's id follows, then frames.
pub(super) const PUSH: u64 = 0x1;

/// State of one direction of a stream.
#[derive(Debug)]
pub(super) struct Reader {
    state: State,
    first_ns: i64,
    payload: Vec<u8>,
}

impl Reader {
    /// A request stream has frames from its start on, a unidirectional one its type first.
    pub(super) fn new(is_unidirectional: bool) -> Self {
        Self {
            state: if is_unidirectional {
                State::Opening(Start::default())
            } else {
                State::Header(Start::default())
            },
            first_ns: 0,
            payload: Vec::new(),
        }
    }

    /// The stream was given up.
    pub(super) fn lose(&mut self) {
        self.state = State::Lost;
        self.payload = Vec::new();
    }

    /// Memory that waits for the rest of a frame.
    pub(super) fn held_bytes(&self) -> usize {
        self.payload.capacity()
    }

    /// Give memory back that no frame waits in.
    pub(super) fn shrink(&mut self) {
        if !matches!(self.state, State::Payload { .. }) && self.payload.capacity() > SMALL_BYTES {
            self.payload = Vec::new();
        }
    }

    /// Keep nothing of the frame that is under way.
    pub(super) fn forget(&mut self) {
        if let State::Payload { is_kept, .. } = &mut self.state {
            *is_kept = false;
        }
        self.payload = Vec::new();
    }

    /// The frame that has begun and is not whole, and when it began.
    pub(super) fn unfinished(&self) -> Option<(FrameHeader, i64)> {
        match self.state {
            State::Payload { header, .. } => Some((header, self.first_ns)),
            _ => None,
        }
    }

    /// Read on to the next event, and take what was read off `bytes`; `None` once they are used up.
    pub(super) fn next<'s, 'b: 's>(
        &'s mut self,
        bytes: &mut &'b [u8],
        time_ns: i64,
    ) -> Option<Event<'s>> {
        loop {
            match &mut self.state {
                State::Lost => return None,
                State::Raw => {
                    let raw = std::mem::take(bytes);
                    return (!raw.is_empty()).then_some(Event::Raw(raw));
                }
                State::Opening(start) => {
                    if !start.take_byte(bytes) {
                        return None;
                    }
                    let mut cursor = start.cursor();
                    let Some(kind) = cursor.varint() else {
                        continue;
                    };
                    let push_id = if kind == PUSH {
                        let Some(id) = cursor.varint() else {
                            continue;
                        };
                        Some(id)
                    } else {
                        None
                    };
                    self.state = if matches!(kind, CONTROL | PUSH) {
                        State::Header(Start::default())
                    } else {
                        State::Raw
                    };
                    return Some(Event::Opening(kind, push_id));
                }
                State::Header(start) => {
                    let is_first = start.have == 0;
                    if !start.take_byte(bytes) {
                        return None;
                    }
                    if is_first {
                        self.first_ns = time_ns;
                        return Some(Event::Start);
                    }
                    let mut cursor = start.cursor();
                    if let (Some(kind), Some(length)) = (cursor.varint(), cursor.varint()) {
                        self.payload.clear();
                        let header = FrameHeader { kind, length };
                        let is_kept = header.kind != DATA;
                        self.state = State::Payload {
                            header,
                            have: 0,
                            is_kept,
                        };
                    }
                }
                State::Payload {
                    header,
                    have,
                    is_kept,
                } => {
                    let header = *header;
                    if *have == header.length {
                        self.state = State::Header(Start::default());
                        return Some(Event::Frame {
                            header,
                            first_ns: self.first_ns,
                            payload: &self.payload,
                        });
                    }
                    let left = usize::try_from(header.length - *have).unwrap_or(usize::MAX);
                    let count = left.min(bytes.len());
                    if count == 0 {
                        return None;
                    }
                    let (taken, rest) = bytes.split_at(count);
                    *bytes = rest;
                    *have += count as u64;
                    if header.kind == DATA {
                        return Some(Event::Data(count));
                    }
                    if !*is_kept {
                        continue;
                    }
                    let room = MAX_PAYLOAD_BYTES - self.payload.len().min(MAX_PAYLOAD_BYTES);
                    let kept = taken.get(..room).unwrap_or(taken);
                    self.payload.extend_from_slice(kept);
                }
            }
        }
    }
}
