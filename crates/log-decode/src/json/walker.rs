// SPDX-License-Identifier: Apache-2.0
//! Walks through a document of any size: its small values are read in the window, its large ones are passed through.

use super::{Fault, Reader, Window};
use crate::MAX_RECORD_BYTES;
use std::io::{self, Read};

/// Reason why a walk ends.
pub(crate) enum Stop {
    Io(io::Error),
    /// The document ends too early, or another character stands where it should go on.
    Fault(Fault),
    /// A value is longer than what is read at a time.
    TooLong,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

const SYNTAX: Stop = Stop::Fault(Fault::Syntax);
const END: Stop = Stop::Fault(Fault::End);

pub(crate) struct Walker<R> {
    window: Window<R>,
}

impl<R: Read> Walker<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            window: Window::new(input),
        }
    }

    /// The next character that is no white space, which stays unread.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<u8, Stop> {
        self.window.peek()?.ok_or(END)
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), Stop> {
        if self.peek()? != byte {
            return Err(SYNTAX);
        }
        self.window.consume(1);
        Ok(())
    }

    /// Read what stands next in one piece: as often as it takes until all of it stands in the window.
    #[inline]
    pub(crate) fn item(
        &mut self,
        mut read: impl FnMut(&mut Reader<'_>) -> Result<(), Fault>,
    ) -> Result<(), Stop> {
        self.peek()?;
        loop {
            let mut reader = Reader::new(self.window.bytes());
            match read(&mut reader) {
                Ok(()) => {
                    let length = reader.position();
                    self.window.consume(length);
                    return Ok(());
                }
                Err(Fault::End) if self.window.fill()? => {}
                Err(Fault::End) if !self.window.ended() => return Err(Stop::TooLong),
                Err(fault) => return Err(Stop::Fault(fault)),
            }
        }
    }

    /// Pass over the value here, however long it is.
    pub(crate) fn skip(&mut self) -> Result<(), Stop> {
        if matches!(self.peek()?, b'{' | b'[' | b'"') {
            // Most stand in the window.
            let mut reader = Reader::new(self.window.bytes());
            if reader.skip().is_ok() {
                let length = reader.position();
                self.window.consume(length);
                return Ok(());
            }
        }
        let mut extent = Extent::default();
        loop {
            let bytes = self.window.bytes();
            if let Some(end) = extent.advance(bytes) {
                self.window.consume(end);
                return Ok(());
            }
            self.window.consume(MAX_RECORD_BYTES);
            if !self.window.fill()? {
                return Err(END);
            }
        }
    }

    /// Call `each` at every item of the array here; it must consume it.
    pub(crate) fn items(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.expect(b'[')?;
        if self.peek()? == b']' {
            return self.expect(b']');
        }
        loop {
            each(self)?;
            if self.peek()? == b']' {
                return self.expect(b']');
            }
            self.expect(b',')?;
        }
    }

    /// Call `each` at every value of the object here, with its key; it must consume it. Other values are passed over.
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, &[u8]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if self.peek()? != b'{' {
            return self.skip();
        }
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            return self.expect(b'}');
        }
        let mut key = Vec::new();
        loop {
            self.item(|reader| {
                key.clear();
                key.extend_from_slice(reader.string()?);
                Ok(())
            })?;
            self.expect(b':')?;
            each(self, &key)?;
            if self.peek()? == b'}' {
                return self.expect(b'}');
            }
            self.expect(b',')?;
        }
    }
}

/// Search for the end of a value, over any number of buffers.
#[derive(Default)]
struct Extent {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Extent {
    /// Number of `bytes` that belong to the value, if it ends here.
    fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Some(at);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                // A number or a word ends before the character that ends what it stands in.
                b',' | b'}' | b']' if self.depth == 0 => return Some(at - 1),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
