// SPDX-License-Identifier: Apache-2.0
//! One record after the other: JSON text sequences (RFC 7464), with a record separator before every record and a line
//! feed behind it, and records on a line each.

use super::event::{Event, Field};
use super::events::{Decoder, Read as EventRead};
use super::header::{FileHeader, TraceHeader};
use super::identity::{Identity, LOOK_AHEAD};
use super::unread::Unread;
use super::FORMAT;
use crate::json::{Reader, Window};
use crate::stages;
use crate::tables::Tables;
use crate::{DecodeError, Options, Source, MAX_RECORD_BYTES};
use std::io::{self, Read};
use std::ops::Range;

pub(super) const RECORD_SEPARATOR: u8 = 0x1e;
/// Text and events of a stretch at most where another thread follows: with much less the threads would wait for one
/// another.
const STRETCH_BYTES: usize = 1 << 16;
const STRETCH_EVENTS: usize = 1 << 10;
/// An event grows to many times its text. A longer one's memory is not used again, and the longest are read only when
/// their turn has come.
const LONG_BYTES: usize = 1 << 12;

/// What stands between two records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separator {
    pub byte: u8,
    pub form: &'static str,
}

/// A record in the window.
struct Record {
    /// Where it ends, its separator not included.
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
    let fields = &trace.common_fields;
    let seen = if fields.group_id.is_none() && fields.odcid.is_none() {
        look_ahead(window, separator.byte, &trace)?
    } else {
        None
    };
    trace.title = trace.title.or_else(|| header.title.clone());
    let mut decoder = Decoder::new(options, header, separator.form, tables);
    decoder.start_trace(&trace, seen);
    let mut events = Events {
        fields: decoder.fields(),
        unread: Unread::default(),
        // What the same thread takes next stays in its nearest cache.
        stretch_bytes: match options.threads {
            0 | 1 => LONG_BYTES,
            _ => STRETCH_BYTES,
        },
    };
    stages::run(
        options.threads,
        |stretch| events.fill(stretch, window, separator.byte),
        |stretch| stretch.hand_on(&mut decoder),
    )?;
    decoder.count_unread(events.unread);
    Ok(decoder.finish())
}

/// The first stage of decoding: reads events one by one, each for itself.
struct Events {
    fields: Vec<Field>,
    unread: Unread,
    stretch_bytes: usize,
}

/// Events on their way to the second stage, which makes rows of them.
#[derive(Default)]
struct Stretch {
    /// Their texts, one after the other.
    text: Vec<u8>,
    /// Those that have been read, and behind them memory to be used again.
    events: Vec<(Event, Option<Outcome>)>,
    count: usize,
    too_long: usize,
}

/// How the reading of a record went.
struct Outcome {
    /// Where it stands.
    place: Range<usize>,
    /// The event, and whether nothing stands behind it; `None` where it is still to be read.
    read: Option<(EventRead, bool)>,
    /// Whether the record has been written whole.
    whole: bool,
}

impl Events {
    /// Read a stretch of events; false at the end of the file.
    fn fill(
        &mut self,
        stretch: &mut Stretch,
        window: &mut Window<impl Read>,
        separator: u8,
    ) -> Result<bool, DecodeError> {
        while stretch.text.len() < self.stretch_bytes && stretch.count < STRETCH_EVENTS {
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
                self.read(stretch, text, whole);
            }
            window.consume(record.end + 1);
        }
        Ok(true)
    }

    fn read(&mut self, stretch: &mut Stretch, text: &[u8], whole: bool) {
        if stretch.count == stretch.events.len() {
            stretch.events.push(Default::default());
        }
        let Some((event, outcome)) = stretch.events.get_mut(stretch.count) else {
            return;
        };
        let start = stretch.text.len();
        stretch.text.extend_from_slice(text);
        let read = (text.len() <= STRETCH_BYTES).then(|| {
            let mut reader = Reader::new(text);
            // All events of the file are counted together.
            std::mem::swap(&mut event.store.unread, &mut self.unread);
            let read = EventRead::new(&mut reader, event, &self.fields);
            std::mem::swap(&mut event.store.unread, &mut self.unread);
            (read, reader.at_end())
        });
        *outcome = Some(Outcome {
            place: start..stretch.text.len(),
            read,
            whole,
        });
        stretch.count += 1;
    }
}

impl Stretch {
    fn hand_on(&mut self, decoder: &mut Decoder<'_>) {
        let events = self.events.iter_mut().take(self.count);
        for (event, outcome) in events {
            let Some(outcome) = outcome.take() else {
                continue;
            };
            let text = self.text.get(outcome.place).unwrap_or_default();
            let read = if let Some((read, at_end)) = outcome.read {
                decoder.take(event, text, &read).is_ok() && at_end
            } else {
                let mut reader = Reader::new(text);
                decoder.event(&mut reader).is_ok() && reader.at_end()
            };
            if text.len() > LONG_BYTES {
                *event = Event::default();
            }
            match (read, outcome.whole) {
                (true, _) => {}
                (false, true) => decoder.count_malformed(),
                (false, false) => decoder.count_cut(),
            }
        }
        for _ in 0..std::mem::take(&mut self.too_long) {
            decoder.count_too_long();
        }
        self.text.clear();
        self.count = 0;
    }
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

/// The connection that the first events in the window are about.
fn look_ahead(
    window: &mut Window<impl Read>,
    separator: u8,
    trace: &TraceHeader,
) -> io::Result<Option<String>> {
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
    Ok(identity.name())
}
