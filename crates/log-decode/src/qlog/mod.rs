// SPDX-License-Identifier: Apache-2.0
//! qlog: 0.3 as JSON-SEQ and as one JSON document, and the `file_schema` drafts (quic-12 and later) as JSON-SEQ.
//!
//! Sources: draft-ietf-quic-qlog-main-schema-02 to -12, draft-ietf-quic-qlog-quic-events-01 to -12, RFC 7464.

mod clock;
mod data;
mod document;
mod event;
mod events;
mod header;
mod records;

use crate::tables::Tables;
use crate::{DecodeError, Input, Options, Source};

const FORMAT: &str = "qlog";
const RECORD_SEPARATOR: u8 = 0x1e;

/// Drafts before 0.3 wrote events as arrays, whose meaning stands in a header of their own.
fn is_array_dialect(version: &str) -> bool {
    version.starts_with("draft-")
}

fn array_dialect(version: &str) -> DecodeError {
    let version: String = version.chars().take(32).collect();
    DecodeError::foreign(
        FORMAT,
        format!("its version is {version}; 0.3 and later are read"),
    )
}

/// Decode a qlog file. With `realtime_minus_monotonic_ns`, the times of a log with an epoch are mapped to
/// `CLOCK_MONOTONIC`; without it they stay `CLOCK_REALTIME`. A log without an epoch keeps times relative to its start.
///
/// `file_name` stands for the connection id of traces that have none: the second such trace becomes `file_name#2`, so
/// that several of them, in one file or in several, are not taken for one connection.
///
/// # Errors
/// If the input cannot be read, or is neither a JSON text sequence nor a JSON document with a qlog header.
pub fn decode(
    input: &Input,
    options: &Options,
    tables: &mut Tables,
) -> Result<Source, DecodeError> {
    let mut decoder = events::Decoder::new(options, tables);
    let mut reader = input.open()?;
    let first = reader
        .fill_buf()?
        .iter()
        .copied()
        .find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(RECORD_SEPARATOR) => records::decode(&mut reader, &mut decoder)?,
        Some(b'{') => {
            // The header may stand behind the events, so it is looked for in a pass of its own.
            let headers = document::headers(&mut reader)?;
            document::decode(&mut input.open()?, &headers, &mut decoder)?;
        }
        _ => {
            return Err(DecodeError::foreign(
                FORMAT,
                "it is neither a JSON text sequence nor a JSON document",
            ))
        }
    }
    Ok(decoder.finish())
}

#[cfg(test)]
mod tests;
