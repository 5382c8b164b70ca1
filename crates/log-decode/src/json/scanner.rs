// SPDX-License-Identifier: Apache-2.0
//! Takes a JSON document apart without holding it: finds where values end, and leaves their grammar to `serde_json`.

use crate::MAX_RECORD_BYTES;
use std::io::BufRead;

/// Reason why a document cannot be followed any further.
pub(crate) enum Broken {
    Io(std::io::Error),
    /// The document ends too early, or another character stands where it should go on.
    Syntax,
}

impl From<std::io::Error> for Broken {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

pub(crate) struct Scanner<R> {
    input: R,
}

impl<R: BufRead> Scanner<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input }
    }

    /// The next character that is no white space, which stays unread.
    pub(crate) fn peek(&mut self) -> Result<u8, Broken> {
        loop {
            let buffer = self.input.fill_buf()?;
            let skipped = buffer
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count();
            let next = buffer.get(skipped).copied();
            let ended = buffer.is_empty();
            self.input.consume(skipped);
            match next {
                Some(byte) => return Ok(byte),
                None if ended => return Err(Broken::Syntax),
                None => {}
            }
        }
    }

    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Broken> {
        if self.peek()? != byte {
            return Err(Broken::Syntax);
        }
        self.input.consume(1);
        Ok(())
    }

    /// Call `each` at every element of the container that starts here and ends with `close`; it must consume it.
    pub(crate) fn elements(
        &mut self,
        close: u8,
        mut each: impl FnMut(&mut Self) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        self.input.consume(1);
        if self.peek()? == close {
            return self.expect(close);
        }
        loop {
            each(self)?;
            if self.peek()? == close {
                return self.expect(close);
            }
            self.expect(b',')?;
        }
    }

    /// Consume one value; its text goes to `text` if that is given. False if it was too long to keep.
    pub(crate) fn value(&mut self, mut text: Option<&mut Vec<u8>>) -> Result<bool, Broken> {
        if let Some(text) = &mut text {
            text.clear();
        }
        self.peek()?;
        let mut extent = Extent::default();
        let mut kept = true;
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Err(Broken::Syntax);
            }
            let end = extent.advance(buffer);
            let used = end.unwrap_or(buffer.len());
            if let Some(text) = &mut text {
                kept &= text.len() + used <= MAX_RECORD_BYTES;
                if kept {
                    text.extend_from_slice(&buffer[..used]);
                }
            }
            self.input.consume(used);
            if end.is_some() {
                return Ok(kept);
            }
        }
    }
}

/// Call `each` at every value of the object that starts here, with its key as it is written; other values are skipped.
pub(crate) fn members<R: BufRead>(
    scanner: &mut Scanner<R>,
    mut each: impl FnMut(&mut Scanner<R>, &[u8]) -> Result<(), Broken>,
) -> Result<(), Broken> {
    if scanner.peek()? != b'{' {
        return scanner.value(None).map(drop);
    }
    let mut key = Vec::new();
    scanner.elements(b'}', |scanner| {
        scanner.value(Some(&mut key))?;
        scanner.expect(b':')?;
        each(scanner, &key)
    })
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
        for (at, &byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Some(at + 1);
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
                b',' | b'}' | b']' if self.depth == 0 => return Some(at),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
