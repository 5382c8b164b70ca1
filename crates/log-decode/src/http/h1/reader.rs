// SPDX-License-Identifier: Apache-2.0
//! One direction's bytes, cut into messages (RFC 9112 section 2); bodies are passed over, never copied.

/// The longest header, or line of a chunk's size; servers stop at 8 to 64 KiB.
const MAX_HEAD_BYTES: usize = 1 << 16;

/// Framing of a body: what tells its end (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
    /// Bytes of another protocol, or that cannot be told.
    Opaque,
}

/// Event that the next bytes brought.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// A header with its empty line. The reader waits for [`Reader::body`].
    Head { first_ns: i64, head: &'a [u8] },
    /// A part of a body, with this many bytes.
    Body(u64),
    /// A part of the trailers, with this many bytes.
    Trailers(u64),
    /// The message is whole.
    End,
    /// A header or a chunk that is not one, or is too long: nothing more is read.
    Malformed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    Body(u64),
    UntilClose,
    ChunkSize,
    ChunkData(u64),
    /// The line end behind a chunk's data.
    ChunkEnd,
    Trailers,
    Opaque,
}

/// State of one direction.
#[derive(Debug)]
pub(super) struct Reader {
    state: State,
    /// The header, or line, as far as it is there.
    line: Vec<u8>,
    first_ns: i64,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            state: State::Head,
            line: Vec::new(),
            first_ns: 0,
        }
    }
}

impl Reader {
    /// Begins the body that follows the header that was just read.
    pub(super) fn body(&mut self, framing: Framing) {
        self.line.clear();
        self.state = match framing {
            Framing::Length(length) => State::Body(length),
            Framing::Chunked => State::ChunkSize,
            Framing::UntilClose => State::UntilClose,
            Framing::Opaque => State::Opaque,
        };
    }

    pub(super) fn is_opaque(&self) -> bool {
        self.state == State::Opaque
    }

    pub(super) fn ends_with_connection(&self) -> bool {
        self.state == State::UntilClose
    }

    /// Read on to the next event, and take what was read off `bytes`; `None` once they are used up.
    pub(super) fn next(&mut self, bytes: &mut &[u8], time_ns: i64) -> Option<Event<'_>> {
        loop {
            match self.state {
                State::Body(0) => {
                    self.state = State::Head;
                    return Some(Event::End);
                }
                State::ChunkData(0) => self.state = State::ChunkEnd,
                _ if bytes.is_empty() => return None,
                State::Opaque => return None,
                State::Body(left) => {
                    let count = take(bytes, left);
                    self.state = State::Body(left - count);
                    return Some(Event::Body(count));
                }
                State::ChunkData(left) => {
                    let count = take(bytes, left);
                    self.state = State::ChunkData(left - count);
                    return Some(Event::Body(count));
                }
                State::UntilClose => return Some(Event::Body(take(bytes, u64::MAX))),
                State::Head => {
                    if self.line.is_empty() {
                        self.first_ns = time_ns;
                    }
                    if !self.take_line(bytes) {
                        return self.too_long();
                    }
                    // Empty lines before a message are passed over (RFC 9112 section 2.2).
                    if matches!(self.line.as_slice(), b"\n" | b"\r\n") {
                        self.line.clear();
                    } else if self.line.ends_with(b"\n\n") || self.line.ends_with(b"\n\r\n") {
                        return Some(Event::Head {
                            first_ns: self.first_ns,
                            head: &self.line,
                        });
                    }
                }
                State::ChunkSize => {
                    if !self.take_line(bytes) {
                        return self.too_long();
                    }
                    let Some(size) = chunk_size(&self.line) else {
                        return Some(self.malformed());
                    };
                    self.line.clear();
                    self.state = if size == 0 {
                        State::Trailers
                    } else {
                        State::ChunkData(size)
                    };
                }
                State::ChunkEnd => {
                    if !self.take_line(bytes) {
                        return self.too_long();
                    }
                    if !matches!(self.line.as_slice(), b"\n" | b"\r\n") {
                        return Some(self.malformed());
                    }
                    self.line.clear();
                    self.state = State::ChunkSize;
                }
                State::Trailers => {
                    if !self.take_line(bytes) {
                        return self.too_long();
                    }
                    let count = self.line.len() as u64;
                    let is_last = matches!(self.line.as_slice(), b"\n" | b"\r\n");
                    self.line.clear();
                    if is_last {
                        self.state = State::Head;
                        return Some(Event::End);
                    }
                    return Some(Event::Trailers(count));
                }
            }
        }
    }

    /// Add to the line up to the next line feed; false if it is not there yet.
    fn take_line(&mut self, bytes: &mut &[u8]) -> bool {
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let count = end.map_or(bytes.len(), |end| end + 1);
        let room = MAX_HEAD_BYTES.saturating_sub(self.line.len());
        let (taken, rest) = bytes.split_at(count.min(room));
        self.line.extend_from_slice(taken);
        *bytes = rest;
        end.is_some() && count <= room
    }

    /// The bytes are used up, or the line has no end.
    fn too_long(&mut self) -> Option<Event<'_>> {
        if self.line.len() < MAX_HEAD_BYTES {
            return None;
        }
        Some(self.malformed())
    }

    fn malformed(&mut self) -> Event<'static> {
        self.body(Framing::Opaque);
        Event::Malformed
    }
}

/// Take up to `most` bytes off; how many.
fn take(bytes: &mut &[u8], most: u64) -> u64 {
    let count = usize::try_from(most).unwrap_or(usize::MAX).min(bytes.len());
    *bytes = bytes.get(count..).unwrap_or_default();
    count as u64
}

/// RFC 9112 section 7.1; extensions are passed over.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?;
    let digits = text.split(';').next().unwrap_or_default().trim();
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16)
        .ok()
        .filter(|_| is_hexadecimal)
}
