// SPDX-License-Identifier: Apache-2.0
//! Portions of a file of known length, lent from the stretch of the file that they lie in, which is handed over whole.

use std::io::{self, ErrorKind, Read};

/// Least length of a stretch, unless the file ends: larger than the buffer of the reader below,
/// which then has no need of it, and small enough for a processor's cache.
const STRETCH_BYTES: usize = 1 << 18;
/// Room for the end of what a stretch ends in.
const MORE_BYTES: usize = 1 << 16;
/// Most bytes that are copied from one stretch into the next.
const LEFT_OVER_BYTES: usize = 16;

/// Reads one portion after the other.
pub(super) struct Portions<R> {
    input: R,
    stretch: Vec<u8>,
    /// Offset from which the stretch has been read and not been lent yet.
    start: usize,
    end: usize,
}

impl<R: Read> Portions<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            stretch: Vec::new(),
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
        Ok(self.stretch.get(from..self.start).unwrap_or_default())
    }

    /// Offset in the stretch at which the next portion begins.
    pub(super) fn position(&self) -> usize {
        self.start
    }

    /// True if the next portion should begin another stretch.
    pub(super) fn is_spent(&self) -> bool {
        self.end - self.start < LEFT_OVER_BYTES
    }

    /// Put the stretch into `stretch`, and begin another one in its memory.
    pub(super) fn hand_over(&mut self, stretch: &mut Vec<u8>) {
        std::mem::swap(&mut self.stretch, stretch);
        if self.stretch.len() > STRETCH_BYTES + MORE_BYTES {
            // A single long record has made it grow.
            self.stretch = Vec::new();
        }
        let rest = stretch.get(self.start..self.end).unwrap_or_default();
        if self.stretch.len() < rest.len() {
            self.stretch.resize(rest.len(), 0);
        }
        if let Some(start) = self.stretch.get_mut(..rest.len()) {
            start.copy_from_slice(rest);
        }
        (self.start, self.end) = (0, rest.len());
    }

    /// Read until `length` bytes are there, or the file ends.
    fn fill(&mut self, length: usize) -> io::Result<()> {
        let wanted = self.start.saturating_add(length);
        while self.end < wanted {
            // Step by step, so that a length that lies about a short file does not take memory.
            let step = wanted.min(self.end + STRETCH_BYTES).max(STRETCH_BYTES);
            if self.stretch.len() < step {
                let size = STRETCH_BYTES + MORE_BYTES;
                (self.stretch).reserve_exact(size.saturating_sub(self.stretch.len()));
                self.stretch.resize(step, 0);
            }
            let room = self.stretch.get_mut(self.end..step).unwrap_or_default();
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

    /// Portions of every size come whole and in order, longer ones than a stretch too, and the last one short; and the
    /// stretches, put together, are the file.
    #[test]
    fn portions_follow_one_another() {
        let file: Vec<u8> = (0..3 * STRETCH_BYTES)
            .map(|at| at.to_le_bytes()[1])
            .collect();
        let mut portions = Portions::new(file.as_slice());
        let (mut at, mut stretch, mut put_together) = (0, Vec::new(), Vec::new());
        for length in [
            1,
            0,
            STRETCH_BYTES - 3,
            7,
            STRETCH_BYTES + 11,
            STRETCH_BYTES,
        ] {
            let end = file.len().min(at + length);
            let position = portions.position();
            assert_eq!(portions.next(length).unwrap(), &file[at..end]);
            at = end;
            let lent = position..portions.position();
            portions.hand_over(&mut stretch);
            put_together.extend_from_slice(&stretch[lent]);
        }
        assert_eq!(at, file.len());
        assert!(put_together == file);
        assert!(portions.next(1).unwrap().is_empty());
    }

    /// Little is left over where portions are small, and a stretch does not grow from one to the next.
    #[test]
    fn a_stretch_ends_with_a_portion() {
        let file = vec![7; 4 * STRETCH_BYTES];
        let mut portions = Portions::new(file.as_slice());
        let mut stretch = Vec::new();
        for _ in 0..4 {
            loop {
                portions.next(1000).unwrap();
                if portions.is_spent() {
                    break;
                }
            }
            portions.hand_over(&mut stretch);
            assert!((STRETCH_BYTES..STRETCH_BYTES + 1000).contains(&stretch.len()));
        }
    }
}
