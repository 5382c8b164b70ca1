// SPDX-License-Identifier: Apache-2.0
//! One JSON document with `traces`, never held whole.
//!
//! A trace may say behind its events which program logged them. Such documents are walked twice: for their headers,
//! then for their events.

use super::event::Event;
use super::events::Decoder;
use super::header::{FileHeader, TraceHeader};
use super::identity::{Identity, Seen, LOOK_AHEAD};
use super::walk::{Stop, Walker};
use super::FORMAT;
use crate::json::Fault;
use crate::tables::Tables;
use crate::{DecodeError, Input, Options, Severity, Source};
use serde_json::Value;

/// Traces of one document; a hostile file cannot make the list of headers long.
const MAX_TRACES: usize = 1 << 10;

/// Members that the first walk finds.
#[derive(Default)]
struct Headers {
    file: serde_json::Map<String, Value>,
    traces: Vec<(serde_json::Map<String, Value>, Seen)>,
    /// Traces beyond [`MAX_TRACES`].
    left_out: u64,
    /// Members that say what events mean stand behind events.
    is_late: bool,
}

/// Members of a trace by which its events are read.
const TELLING: [&[u8]; 4] = [
    b"event_fields",
    b"common_fields",
    b"vantage_point",
    b"configuration",
];

pub(super) fn decode(
    input: &Input,
    options: &Options,
    tables: &mut Tables,
) -> Result<Source, DecodeError> {
    let headers = headers(input)?;
    let file: FileHeader = from_members(&headers.file);
    if headers.traces.is_empty() {
        return Err(DecodeError::foreign(
            FORMAT,
            "it is a JSON document without traces",
        ));
    }
    tables.stats.add(
        "traces_left_out",
        headers.left_out,
        Severity::DataLoss,
        "more traces than are read of one file: the connections of the last ones are missing",
    );
    let file_title = file.title.clone();
    let mut decoder = Decoder::new(options, file, "JSON", tables);
    let mut traces = headers.traces.into_iter();
    let mut walker = Walker::new(input.open()?);
    let outcome = walker.traces(|walker, beside, _| {
        if beside.is_some() {
            return Ok(());
        }
        let Some((members, seen)) = traces.next() else {
            return walker.skip();
        };
        let mut trace: TraceHeader = from_members(&members);
        trace.title = trace.title.or_else(|| file_title.clone());
        decoder.start_trace(&trace, seen);
        walker.object(|walker, key| {
            if key != b"events" || walker.peek()? != b'[' {
                return walker.skip();
            }
            walker.items(|walker| match walker.item(|reader| decoder.event(reader)) {
                Ok(()) => Ok(()),
                Err(Stop::Fault(Fault::Syntax)) => {
                    decoder.count_malformed();
                    walker.skip()
                }
                Err(Stop::TooLong) => {
                    decoder.count_too_long();
                    walker.skip()
                }
                Err(stop) => Err(stop),
            })
        })
    });
    match outcome {
        Ok(()) => {}
        Err(Stop::Io(error)) => return Err(error.into()),
        Err(Stop::Fault(_) | Stop::TooLong) => decoder.count_broken_document(),
    }
    Ok(decoder.finish())
}

/// Members beside the events, wherever they stand, as far as the document can be read.
fn headers(input: &Input) -> Result<Headers, DecodeError> {
    let first = headers_with(input, &[])?;
    if first.is_late {
        headers_with(input, &first.traces)
    } else {
        Ok(first)
    }
}

/// Members beside the events; `known` is what another walk has found of the traces.
fn headers_with(
    input: &Input,
    known: &[(serde_json::Map<String, Value>, Seen)],
) -> Result<Headers, DecodeError> {
    let mut headers = Headers::default();
    let mut is_late = false;
    let mut file = serde_json::Map::new();
    let (traces, left_out) = (&mut headers.traces, &mut headers.left_out);
    let mut event = Event::default();
    let mut walker = Walker::new(input.open()?);
    let outcome = walker.traces(|walker, key, value| {
        if let (Some(key), Some(value)) = (key, value) {
            file.insert(key, value);
            return Ok(());
        }
        if traces.len() == MAX_TRACES {
            *left_out += 1;
            return walker.skip();
        }
        let known = known.get(traces.len()).map(|(members, _)| members.clone());
        traces.push((known.unwrap_or_default(), Seen::default()));
        let mut has_events = false;
        walker.object(|walker, key| {
            is_late |= has_events && TELLING.contains(&key);
            let Some((members, seen)) = traces.last_mut() else {
                return Ok(());
            };
            if key == b"events" && walker.peek()? == b'[' {
                has_events = true;
                let trace: TraceHeader = from_members(members);
                let (mut identity, fields) = (Identity::default(), trace.fields());
                let mut left = LOOK_AHEAD;
                let outcome = walker.items(|walker| {
                    if left == 0 {
                        return walker.skip();
                    }
                    left -= 1;
                    walker.item(|reader| {
                        let text = reader.rest();
                        match identity.look(text, &fields, &mut event) {
                            Some(length) => reader.advance(length),
                            None => reader.skip().map(drop)?,
                        }
                        Ok(())
                    })
                });
                *seen = identity.seen();
                return outcome;
            }
            let key = String::from_utf8_lossy(key).into_owned();
            if let Some(value) = walker.value()? {
                members.insert(key, value);
            }
            Ok(())
        })
    });
    headers.file = file;
    headers.is_late = is_late;
    match outcome {
        Err(Stop::Io(error)) => Err(error.into()),
        _ => Ok(headers),
    }
}

fn from_members<T: serde::de::DeserializeOwned + Default>(
    members: &serde_json::Map<String, Value>,
) -> T {
    serde_json::from_value(Value::Object(members.clone())).unwrap_or_default()
}
