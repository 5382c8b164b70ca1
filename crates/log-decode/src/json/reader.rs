// SPDX-License-Identifier: Apache-2.0
//! Reads JSON that stands in memory, front to back and once: nothing is copied, nothing is kept, nothing recurses.
//!
//! What is skipped is only followed to its end: its brackets and quotes must match in number, and that is all that is
//! asked of it. Members whose keys are written with escapes are not recognised.

mod values;

/// Reason why a value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end before it does.
    End,
    /// Another character stands where it should go on.
    Syntax,
}

/// A part of the text that is read: holds no borrow, so that what collects it can be used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    #[inline]
    pub(crate) fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

#[inline]
fn span(start: usize, end: usize) -> Span {
    let short = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span {
        start: short(start),
        end: short(end),
    }
}

/// Kind of a value, by its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    Text,
    Number,
    /// `true`, `false` and `null`.
    Word,
}

pub(crate) struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// Number of times that a number was asked for where none stands that fits.
    pub(crate) impossible: u64,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            at: 0,
            impossible: 0,
        }
    }

    pub(crate) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Number of bytes that have been read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Bytes that have not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Pass over what somebody else has read.
    pub(crate) fn advance(&mut self, length: usize) {
        self.at = (self.at + length).min(self.text.len());
    }

    /// The next character that is no white space, which stays unread.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<u8, Fault> {
        match self.text.get(self.at) {
            // Programs write no white space.
            Some(&byte) if byte > b' ' => Ok(byte),
            _ => self.peek_behind_white_space(),
        }
    }

    #[cold]
    fn peek_behind_white_space(&mut self) -> Result<u8, Fault> {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.at += (self.rest().iter())
            .take_while(|byte| is_space(byte))
            .count();
        self.text.get(self.at).copied().ok_or(Fault::End)
    }

    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.peek()? != byte {
            return Err(Fault::Syntax);
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    pub(crate) fn kind(&mut self) -> Result<Kind, Fault> {
        Ok(match self.peek()? {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::Text,
            b'-' | b'0'..=b'9' => Kind::Number,
            b't' | b'f' | b'n' => Kind::Word,
            _ => return Err(Fault::Syntax),
        })
    }

    /// Enter a container; [`Reader::next_key`] or [`Reader::next_item`] then leads through it.
    #[inline]
    pub(crate) fn enter(&mut self, open: u8) -> Result<Inside, Fault> {
        self.expect(open)?;
        Ok(Inside { first: true })
    }

    /// The key of the next member, as it is written; its value is to be read next. `None` behind the object.
    #[inline]
    pub(crate) fn next_key(&mut self, inside: &mut Inside) -> Result<Option<&'a [u8]>, Fault> {
        if !self.more(inside, b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// Like [`Reader::next_key`], with where the key stands.
    #[inline]
    pub(crate) fn next_key_at(
        &mut self,
        inside: &mut Inside,
    ) -> Result<Option<(&'a [u8], Span)>, Fault> {
        if !self.more(inside, b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        let end = self.at - 1;
        let span = span(end - key.len(), end);
        self.expect(b':')?;
        Ok(Some((key, span)))
    }

    /// True if another item is to be read next; false behind the array.
    #[inline]
    pub(crate) fn next_item(&mut self, inside: &mut Inside) -> Result<bool, Fault> {
        self.more(inside, b']')
    }

    #[inline]
    fn more(&mut self, inside: &mut Inside, close: u8) -> Result<bool, Fault> {
        let next = self.peek()?;
        if next == close {
            self.at += 1;
            return Ok(false);
        }
        if inside.first {
            inside.first = false;
        } else if next == b',' {
            self.at += 1;
        } else {
            return Err(Fault::Syntax);
        }
        Ok(true)
    }

    /// Bytes between the quotes, as they are written.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<&'a [u8], Fault> {
        self.expect(b'"')?;
        let start = self.at;
        let end = self.string_end(start)?;
        self.at = end + 1;
        Ok(&self.text[start..end])
    }

    /// Offset of the closing quote of the text that starts at `start`.
    #[inline]
    fn string_end(&self, start: usize) -> Result<usize, Fault> {
        let mut at = start;
        // Eight characters at a time.
        while let Some(eight) = self.text.get(at..).and_then(<[u8]>::first_chunk) {
            let found = quotes(u64::from_le_bytes(*eight));
            if found != 0 {
                at += found.trailing_zeros() as usize / 8;
                return match self.text.get(at - 1) {
                    Some(b'\\') => self.escaped_string_end(start),
                    _ => Ok(at),
                };
            }
            at += 8;
        }
        self.escaped_string_end(start)
    }

    /// End of a string, one character after the other.
    #[cold]
    fn escaped_string_end(&self, mut at: usize) -> Result<usize, Fault> {
        loop {
            match self.text.get(at) {
                Some(b'"') => return Ok(at),
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None => return Err(Fault::End),
            }
        }
    }

    /// The next value, whatever it is, as it is written.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<Span, Fault> {
        let start = self.skip()?;
        Ok(span(start, self.at))
    }

    /// Pass over the next value; where it starts.
    #[inline]
    pub(crate) fn skip(&mut self) -> Result<usize, Fault> {
        let kind = self.kind()?;
        let start = self.at;
        self.at = match kind {
            Kind::Text => self.string_end(start + 1)? + 1,
            Kind::Number | Kind::Word => self.scalar_end(start)?,
            Kind::Object | Kind::Array => self.container_end(start)?,
        };
        Ok(start)
    }

    /// A number or a word ends before what cannot belong to it; at the end of the bytes it may go on.
    #[inline]
    fn scalar_end(&self, start: usize) -> Result<usize, Fault> {
        let mut at = start;
        while let Some(&byte) = self.text.get(at) {
            if !IN_SCALARS[usize::from(byte)] {
                return Ok(at);
            }
            at += 1;
        }
        Err(Fault::End)
    }

    fn container_end(&self, start: usize) -> Result<usize, Fault> {
        let (mut at, mut depth) = (start, 0_usize);
        loop {
            match self.text.get(at) {
                Some(b'"') => at = self.string_end(at + 1)?,
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(at + 1);
                    }
                }
                Some(_) => {}
                None => return Err(Fault::End),
            }
            at += 1;
        }
    }

    /// True if nothing but white space is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.peek().is_err()
    }
}

/// The characters of numbers and words.
const IN_SCALARS: [bool; 256] = {
    let mut known = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        known[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+');
        byte += 1;
    }
    known
};

/// The highest bit of every byte that is a quote; a byte behind the first such may have it too.
#[inline]
fn quotes(eight: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    let without_quotes = eight ^ (ONES * 0x22);
    without_quotes.wrapping_sub(ONES) & !without_quotes & (ONES * 0x80)
}

/// Position of a reader in a container.
#[derive(Debug)]
pub(crate) struct Inside {
    first: bool,
}
