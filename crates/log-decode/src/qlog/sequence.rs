// SPDX-License-Identifier: Apache-2.0
//! One record after the other: JSON text sequences (RFC 7464), with a record separator before every record and a line
//! feed behind it, and records on a line each.

use super::event::Event;
use super::events::Decoder;
use super::header::{FileHeader, TraceHeader};
use super::identity::{Identity, Seen, LOOK_AHEAD};
use super::stretch::{Events, Stretch};
use super::FORMAT;
use crate::json::Window;
use crate::stages;
use crate::tables::Tables;
use crate::{DecodeError, Options, Source, MAX_RECORD_BYTES};
use std::io::{self, Read};

pub(super) const RECORD_SEPARATOR: u8 = 0x1e;

/// Separator between two records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separator {
    pub byte: u8,
    pub form: &'static str,
}

/// A record in the window.
struct Record {
    /// Offset of its end, its separator not included.
    end: usize,
    kind: End,
}

#[derive(PartialEq)]
enum End {
    /// The record ended with what ends a record.
    Whole,
    /// The record ended with the file.
    File,
    /// The record is longer than what is read at a time.
    TooLong,
}

pub(super) fn decode(
    window: &mut Window<impl Read + Send>,
    separator: Separator,
    options: &Options,
    tables: &mut Tables,
) -> Result<Source, DecodeError> {
    let header = loop {
        let Some(record) = next(window, separator.byte)? else {
            return Err(DecodeError::foreign(FORMAT, "it holds no record"));
        };
        let text = window.bytes()[..record.end].trim_ascii();
        if !text.is_empty() {
            let header = serde_json::from_slice::<FileHeader>(text).map_err(|error| {
                DecodeError::foreign(
                    FORMAT,
                    format!("its first record is not a header ({error})"),
                )
            })?;
            window.consume(record.end + 1);
            break header;
        }
        window.consume(record.end + 1);
    };
    if !header.is_qlog() {
        return Err(DecodeError::foreign(
            FORMAT,
            "its first record names no qlog_version or file_schema",
        ));
    }
    let mut trace = header.trace.clone();
    let seen = look_ahead(window, separator.byte, &trace)?;
    trace.title = trace.title.or_else(|| header.title.clone());
    let mut decoder = Decoder::new(options, header, separator.form, tables);
    decoder.start_trace(&trace, seen);
    let mut events = Events::new(decoder.fields(), options.threads);
    stages::run(
        options.threads,
        |stretch| fill(&mut events, stretch, window, separator.byte),
        |stretch| stretch.hand_on(&mut decoder),
    )?;
    decoder.count_unread(events.unread);
    Ok(decoder.finish())
}

/// Read a stretch of events; false at the end of the file.
fn fill(
    events: &mut Events,
    stretch: &mut Stretch,
    window: &mut Window<impl Read>,
    separator: u8,
) -> Result<bool, DecodeError> {
    while !events.is_enough(stretch) {
        let Some(record) = next(window, separator)? else {
            return Ok(false);
        };
        if record.kind == End::TooLong {
            stretch.too_long += 1;
            window.consume(record.end);
            skip(window, separator)?;
            continue;
        }
        let bytes = window.bytes().get(..record.end).unwrap_or_default();
        // What ends with a line feed has been written whole, even where the file ends.
        let whole = record.kind == End::Whole || bytes.last() == Some(&b'\n');
        let text = bytes.trim_ascii();
        if !text.is_empty() {
            events.read(stretch, text, whole);
        }
        window.consume(record.end + 1);
    }
    Ok(true)
}

/// The next record; `None` at the end of the file.
fn next(window: &mut Window<impl Read>, separator: u8) -> io::Result<Option<Record>> {
    let mut searched = 0;
    loop {
        let bytes = window.bytes();
        if let Some(at) = memchr::memchr(separator, &bytes[searched..]) {
            return Ok(Some(Record {
                end: searched + at,
                kind: End::Whole,
            }));
        }
        searched = bytes.len();
        if window.fill()? {
            continue;
        }
        let kind = if window.ended() {
            End::File
        } else {
            End::TooLong
        };
        return Ok((searched > 0).then_some(Record {
            end: searched,
            kind,
        }));
    }
}

/// Pass over the rest of a record.
fn skip(window: &mut Window<impl Read>, separator: u8) -> io::Result<()> {
    loop {
        if let Some(at) = memchr::memchr(separator, window.bytes()) {
            window.consume(at + 1);
            return Ok(());
        }
        window.consume(MAX_RECORD_BYTES);
        if !window.fill()? {
            return Ok(());
        }
    }
}

/// Identity by the first events in the window.
fn look_ahead(
    window: &mut Window<impl Read>,
    separator: u8,
    trace: &TraceHeader,
) -> io::Result<Seen> {
    if window.bytes().is_empty() {
        window.fill()?;
    }
    let (mut identity, fields) = (Identity::default(), trace.fields());
    let mut event = Event::default();
    for record in window
        .bytes()
        .split(|byte| *byte == separator)
        .take(LOOK_AHEAD)
    {
        identity.look(record.trim_ascii(), &fields, &mut event);
    }
    Ok(identity.seen())
}
