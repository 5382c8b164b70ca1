// SPDX-License-Identifier: Apache-2.0
//! qlog, of every draft and dialect: one JSON document, a JSON text sequence, or a record on each line.
//!
//! Drafts before 0.3 write events as arrays whose meaning stands in the trace's `event_fields`, later ones as objects;
//! both are read wherever they stand. What a dialect calls things is settled in [`event`] and [`names`], its units and
//! what it never writes in [`dialect`].
//!
//! Sources: draft-marx-qlog-main-schema-00 to -02, draft-ietf-quic-qlog-main-schema-00 to -14,
//! draft-ietf-quic-qlog-quic-events-00 to -13, draft-ietf-quic-qlog-h3-events-00 to -13, RFC 7464.

mod blocked;
mod clock;
mod connection;
mod context;
mod controller;
mod dialect;
mod dispatch;
mod document;
mod event;
mod events;
mod frame;
mod handshake;
mod header;
mod http;
mod identity;
mod losses;
mod names;
mod packets;
mod parameters;
mod resolution;
mod rest;
mod sequence;
mod streams;
mod stretch;
mod unread;
mod walk;

use crate::json::{Reader, Window};
use crate::tables::Tables;
use crate::{DecodeError, Input, Options, Source};
use sequence::{Separator, RECORD_SEPARATOR};
use std::io::Read;

const FORMAT: &str = "qlog";

const TEXT_SEQUENCE: Separator = Separator {
    byte: RECORD_SEPARATOR,
    form: "JSON-SEQ",
};
const LINES: Separator = Separator {
    byte: b'\n',
    form: "NDJSON",
};

/// Decode a qlog file. With `realtime_minus_monotonic_ns`, the times of a log with an epoch are mapped to
/// `CLOCK_MONOTONIC`; without it they stay `CLOCK_REALTIME`. A log without an epoch keeps times relative to its start.
///
/// A trace that names no connection is named after the first Initial packet in it. Where that cannot be told,
/// `file_name` stands for it: the second such trace becomes `file_name#2`, so that several of them, in one file or in
/// several, are not taken for one connection.
///
/// # Errors
/// If the input cannot be read, or is neither a sequence of JSON texts nor a JSON document with a qlog header.
pub fn decode(
    input: &Input,
    options: &Options,
    tables: &mut Tables,
) -> Result<Source, DecodeError> {
    let mut window = Window::new(input.open()?);
    match window.peek()? {
        Some(RECORD_SEPARATOR) => sequence::decode(&mut window, TEXT_SEQUENCE, options, tables),
        Some(b'{') if has_lines(&window) => sequence::decode(&mut window, LINES, options, tables),
        Some(b'{') => document::decode(input, options, tables),
        _ => Err(DecodeError::foreign(
            FORMAT,
            "it is neither a JSON text sequence nor a JSON document",
        )),
    }
}

/// True if another record follows the first: then it is no document.
fn has_lines(window: &Window<impl Read>) -> bool {
    let mut reader = Reader::new(window.bytes());
    let ended = reader.skip().is_ok();
    ended && matches!(reader.peek(), Ok(b'{' | b'['))
}

#[cfg(test)]
mod dialect_tests;
#[cfg(test)]
mod tests;
