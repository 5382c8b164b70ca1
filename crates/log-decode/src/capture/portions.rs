// SPDX-License-Identifier: Apache-2.0
//! Portions of a file of known length, without a copy wherever one lies whole in the reader's buffer.

use std::io::{self, BufRead, ErrorKind, Read};

/// Reads one portion after the other.
pub(super) struct Portions<R> {
    input: R,
    /// Bytes of the reader's buffer that the last portion lent.
    lent: usize,
    /// Holds a portion that crosses the end of the reader's buffer.
    joined: Vec<u8>,
}

impl<R: BufRead> Portions<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            lent: 0,
            joined: Vec::new(),
        }
    }

    /// The next `length` bytes; fewer only where the file ends before.
    pub(super) fn next(&mut self, length: usize) -> io::Result<&[u8]> {
        self.input.consume(self.lent);
        self.lent = 0;
        if self.buffered()? >= length {
            self.lent = length;
            let buffer = self.input.fill_buf()?;
            return Ok(buffer.get(..length).unwrap_or_default());
        }
        self.joined.clear();
        // Through `take`, so that a length that lies about a short file does not reserve memory.
        (&mut self.input)
            .take(length as u64)
            .read_to_end(&mut self.joined)?;
        Ok(&self.joined)
    }

    fn buffered(&mut self) -> io::Result<usize> {
        loop {
            match self.input.fill_buf() {
                Ok(buffer) => return Ok(buffer.len()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
