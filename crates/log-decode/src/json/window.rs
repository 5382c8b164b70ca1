// SPDX-License-Identifier: Apache-2.0
//! The part of a file that is being read: what is needed next stands there in one piece.

use crate::MAX_RECORD_BYTES;
use std::io::{self, Read};

const INITIAL_BYTES: usize = 1 << 16;

/// A buffer over `R` that grows only for what is longer than it, and never beyond [`MAX_RECORD_BYTES`].
pub(crate) struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
}

impl<R: Read> Window<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            ended: false,
        }
    }

    /// Bytes that stand there unread.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    pub(crate) fn consume(&mut self, length: usize) {
        self.start = (self.start + length).min(self.end);
    }

    /// True if the file ends behind what stands there.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Read more behind it. False if there is no more, or no room: what stands there is too long.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            if self.end >= MAX_RECORD_BYTES {
                return Ok(false);
            }
            let room = (self.end * 2).clamp(INITIAL_BYTES, MAX_RECORD_BYTES);
            // Zeroed pages come for nothing; what stood there moves along.
            let mut buffer = vec![0; room];
            buffer[..self.end].copy_from_slice(&self.buffer[..self.end]);
            self.buffer = buffer;
        }
        // As much as there is room for: a caller that looks at all of it again after every fill does so rarely.
        while self.end < self.buffer.len() {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// The next byte that is no white space, which stays unread; `None` at the end of the file.
    pub(crate) fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let bytes = self.bytes();
            let found = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
            let next = found.and_then(|at| bytes.get(at).copied());
            let passed = found.unwrap_or(bytes.len());
            self.consume(passed);
            if next.is_some() || !self.fill()? {
                return Ok(next);
            }
        }
    }
}
