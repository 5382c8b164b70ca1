// SPDX-License-Identifier: Apache-2.0
//! One event, as it is written and as it is meant.

use super::constants::Phase;
use super::params::{number, plain, whole, Members, Params};
use crate::json::{Fault, Reader, Span};
use serde::de::IgnoredAny;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Facts that every event has; its parameters stand beside it.
pub(super) struct Written {
    pub phase: i64,
    pub source: i64,
    pub time: i64,
    pub kind: i64,
}

impl Written {
    /// Read an event; `members` becomes where its parameters stand.
    pub(super) fn read(
        reader: &mut Reader<'_>,
        members: &mut Members,
        sources: &mut Sources,
    ) -> Result<Self, Fault> {
        members.clear();
        let (mut phase, mut source, mut time, mut kind) = (0, None, None, None);
        let mut inside = reader.enter(b'{')?;
        while let Some(key) = reader.next_key(&mut inside)? {
            match key {
                b"params" => read_params(reader, members)?,
                b"phase" => phase = whole(raw(reader)?).ok_or(Fault::Syntax)?,
                b"source" => source = sources.read(reader)?,
                b"time" => time = number(raw(reader)?),
                b"type" => kind = whole(raw(reader)?),
                _ => {
                    value(reader)?;
                }
            }
        }
        check(reader.text().get(..reader.position()).unwrap_or_default())?;
        let (Some(source), Some(time), Some(kind)) = (source, time, kind) else {
            return Err(Fault::Syntax);
        };
        Ok(Self {
            phase,
            source,
            time,
            kind,
        })
    }
}

/// The value here as it is written, for a caller who looks at it in any case.
fn raw<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Fault> {
    Ok(reader.value()?.of(reader.text()))
}

/// The value here, if it is one by the grammar: the reader itself follows brackets and quotes only.
#[inline]
fn value(reader: &mut Reader<'_>) -> Result<Span, Fault> {
    let span = reader.value()?;
    let raw = span.of(reader.text());
    let known = match raw {
        // What stands in texts is checked with the whole event.
        [b'"', ..] => true,
        [b'-' | b'0'..=b'9', ..] => plain(raw).is_some(),
        _ => matches!(raw, b"true" | b"false" | b"null" | b"[]" | b"{}"),
    };
    if known || is_json(raw) {
        Ok(span)
    } else {
        Err(Fault::Syntax)
    }
}

/// Escapes, control characters and what is not ASCII are rare, and looked at closely.
#[inline]
fn check(event: &[u8]) -> Result<(), Fault> {
    // All of them, without a way out: that takes less time than to stop at the first.
    let rare = event.iter().fold(0, |rare, &byte| {
        rare | u8::from(byte < b' ') | u8::from(byte == b'\\') | u8::from(byte > b'~')
    });
    let fine = rare == 0 || serde_json::from_slice::<Checked<'_>>(event).is_ok();
    fine.then_some(()).ok_or(Fault::Syntax)
}

/// Names and parameters must be UTF-8, too; other texts are not read.
#[derive(Deserialize)]
struct Checked<'a> {
    #[serde(borrow, default, rename = "params")]
    _params: Option<&'a RawValue>,
    #[serde(rename = "source")]
    _source: CheckedSource,
}

#[derive(Deserialize)]
struct CheckedSource {
    #[serde(rename = "id")]
    _id: i64,
}

#[cold]
fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

fn read_params(reader: &mut Reader<'_>, members: &mut Members) -> Result<(), Fault> {
    if reader.peek()? == b'n' {
        return reader.skip().map(drop);
    }
    let mut inside = reader.enter(b'{')?;
    while let Some((_, key)) = reader.next_key_at(&mut inside)? {
        members.push((key, value(reader)?));
    }
    Ok(())
}

/// The objects `source` that were read last, and their ids: events repeat a few of them.
#[derive(Default)]
pub(super) struct Sources {
    latest: [(Vec<u8>, Option<i64>); 4],
    next: usize,
}

impl Sources {
    const LONGEST: usize = 128;

    /// The `id` of the object here.
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<Option<i64>, Fault> {
        let rest = reader.rest();
        let is_here = |text: &[u8]| !text.is_empty() && rest.starts_with(text);
        if let Some((text, id)) = self.latest.iter().find(|(text, _)| is_here(text)) {
            reader.advance(text.len());
            return Ok(*id);
        }
        let start = reader.position();
        let id = source_id(reader)?;
        let text = rest.get(..reader.position() - start).unwrap_or_default();
        if text.len() <= Self::LONGEST {
            self.latest[self.next] = (text.to_vec(), id);
            self.next = (self.next + 1) % self.latest.len();
        }
        Ok(id)
    }
}

/// The `id` of the object here.
pub(super) fn source_id(reader: &mut Reader<'_>) -> Result<Option<i64>, Fault> {
    let mut id = None;
    let mut inside = reader.enter(b'{')?;
    while let Some(key) = reader.next_key(&mut inside)? {
        if key == b"id" {
            id = whole(raw(reader)?);
        } else {
            value(reader)?;
        }
    }
    Ok(id)
}

/// One event.
pub(super) struct Event<'a> {
    pub time_ns: i64,
    pub source: i64,
    pub phase: Phase,
    pub name: &'a str,
    pub params: Params<'a>,
}

impl Event<'_> {
    /// The instant that a parameter tells in microseconds of the same clock, if it can be the event's.
    pub(super) fn exact_ns(&self, microseconds: Option<i64>) -> i64 {
        let exact = microseconds.and_then(|time| time.checked_mul(1000));
        exact
            .filter(|&time| time.abs_diff(self.time_ns) < 1_000_000_000)
            .unwrap_or(self.time_ns)
    }
}
