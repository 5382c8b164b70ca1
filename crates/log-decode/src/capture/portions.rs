// SPDX-License-Identifier: Apache-2.0
//! Portions of a file of known length, lent from one buffer.

use std::io::{self, ErrorKind, Read};

/// What is read at a time, and room for what was left over: larger than the buffer of the reader below, which then has
/// no need of it.
const BUFFER_BYTES: usize = (1 << 18) + (1 << 16);

/// Reads one portion after the other.
pub(super) struct Portions<R> {
    input: R,
    buffer: Vec<u8>,
    /// What of the buffer has been read and not been lent yet.
    start: usize,
    end: usize,
}

impl<R: Read> Portions<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            start: 0,
            end: 0,
        }
    }

    /// The next `length` bytes; fewer only where the file ends before.
    #[inline]
    pub(super) fn next(&mut self, length: usize) -> io::Result<&[u8]> {
        if self.end - self.start < length {
            self.fill(length)?;
        }
        let from = self.start;
        self.start = self.end.min(from.saturating_add(length));
        Ok(self.buffer.get(from..self.start).unwrap_or_default())
    }

    /// Read until `length` bytes are there, or the file ends.
    fn fill(&mut self, length: usize) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < length {
            // Step by step, so that a length that lies about a short file does not take memory.
            if self.end == self.buffer.len() {
                self.buffer.resize(BUFFER_BYTES.max(2 * self.end), 0);
            }
            let room = self.buffer.get_mut(self.end..).unwrap_or_default();
            match self.input.read(room) {
                Ok(0) => break,
                Ok(bytes) => self.end += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Portions of every size come whole and in order, longer ones than the buffer too, and the last one short.
    #[test]
    fn portions_follow_one_another() {
        let file: Vec<u8> = (0..3 * BUFFER_BYTES)
            .map(|at| at.to_le_bytes()[1])
            .collect();
        let mut portions = Portions::new(file.as_slice());
        let mut at = 0;
        for length in [1, 0, BUFFER_BYTES - 3, 7, BUFFER_BYTES + 11, BUFFER_BYTES] {
            let end = file.len().min(at + length);
            assert_eq!(portions.next(length).unwrap(), &file[at..end]);
            at = end;
        }
        assert_eq!(at, file.len());
        assert!(portions.next(1).unwrap().is_empty());
    }
}
