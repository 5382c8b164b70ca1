// SPDX-License-Identifier: Apache-2.0
//! Values of the types that logs have: dialects write numbers and booleans as texts, too.

use super::super::number;
use super::{Fault, Kind, Reader, Span};

impl<'a> Reader<'a> {
    /// The characters of a number, or of a text in its place; `None` for every other value, which is skipped.
    pub(crate) fn digits(&mut self) -> Result<Option<&'a [u8]>, Fault> {
        match self.kind()? {
            Kind::Text => self.string().map(Some),
            Kind::Number => {
                let start = self.skip()?;
                Ok(Some(&self.text[start..self.at]))
            }
            _ => self.skip().map(|_| None),
        }
    }

    /// A number that is not negative, in digits or as text; `None` for null and for what is no such number, which
    /// is counted.
    #[inline]
    pub(crate) fn unsigned(&mut self) -> Result<Option<u64>, Fault> {
        let first = self.peek()?;
        if first.is_ascii_digit() {
            // Most are short, and end at once.
            let (mut at, mut value) = (self.at, 0_u64);
            while let Some(digit) = self.text.get(at).map(|byte| byte.wrapping_sub(b'0')) {
                if digit > 9 {
                    break;
                }
                value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
                at += 1;
            }
            let ends = matches!(
                self.text.get(at),
                Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
            );
            if ends && at - self.at <= 19 {
                self.at = at;
                return Ok(Some(value));
            }
        }
        if first == b'n' {
            return self.skip().map(|_| None);
        }
        let value = self.digits()?.and_then(number::unsigned);
        self.impossible += u64::from(value.is_none());
        Ok(value)
    }

    /// A number, in digits or as text; `None` for null and for what is none, which is counted.
    pub(crate) fn float(&mut self) -> Result<Option<f64>, Fault> {
        if self.peek()? == b'n' {
            return self.skip().map(|_| None);
        }
        let value = self.digits()?.and_then(number::float);
        self.impossible += u64::from(value.is_none());
        Ok(value)
    }

    /// `true`, `1` or `"1"`, or the opposite; `None` for every other value.
    pub(crate) fn boolean(&mut self) -> Result<Option<bool>, Fault> {
        let start = self.skip()?;
        Ok(match &self.text[start..self.at] {
            b"true" | b"1" | b"\"1\"" | b"\"true\"" => Some(true),
            b"false" | b"0" | b"\"0\"" | b"\"false\"" => Some(false),
            _ => None,
        })
    }

    /// A text, as it is written; `None` for every other value.
    pub(crate) fn optional_string(&mut self) -> Result<Option<&'a [u8]>, Fault> {
        if self.peek()? == b'"' {
            self.string().map(Some)
        } else {
            self.skip().map(|_| None)
        }
    }

    /// A text and where it stands.
    pub(crate) fn optional_text(&mut self) -> Result<Option<Span>, Fault> {
        if self.peek()? != b'"' {
            return self.skip().map(|_| None);
        }
        let whole = self.value()?;
        Ok(Some(Span {
            start: whole.start + 1,
            end: whole.end - 1,
        }))
    }
}
