// SPDX-License-Identifier: Apache-2.0
//! One JSON document with `traces`: walked once for the headers and once for the events, never held whole.

use super::events::Decoder;
use super::header::TraceHeader;
use super::{array_dialect, is_array_dialect, FORMAT};
use crate::json::{members, Broken, Scanner};
use crate::DecodeError;
use serde::de::DeserializeOwned;
use std::io::BufRead;

/// Traces of one document; a hostile file cannot make the list of headers long.
const MAX_TRACES: usize = 1 << 10;

/// The headers of all traces, as far as the document can be read.
pub(super) fn headers(input: &mut impl BufRead) -> Result<Vec<TraceHeader>, DecodeError> {
    let mut headers: Vec<TraceHeader> = Vec::new();
    let mut text = Vec::new();
    let mut version = String::new();
    let outcome = traces(&mut Scanner::new(input), Some(&mut version), |scanner| {
        if headers.len() == MAX_TRACES {
            return scanner.value(None).map(drop);
        }
        headers.push(TraceHeader::default());
        members(scanner, |scanner, key| {
            let Some(header) = headers.last_mut() else {
                return Ok(());
            };
            match key {
                b"\"vantage_point\"" => header.vantage_point = parsed(scanner, &mut text)?,
                b"\"common_fields\"" => header.common_fields = parsed(scanner, &mut text)?,
                _ => drop(scanner.value(None)?),
            }
            Ok(())
        })
    });
    match outcome {
        Err(Broken::Io(error)) => Err(error.into()),
        _ if is_array_dialect(&version) => Err(array_dialect(&version)),
        _ if headers.is_empty() => Err(DecodeError::foreign(
            FORMAT,
            "it is a JSON document without traces",
        )),
        _ => Ok(headers),
    }
}

/// The events of all traces; `headers` are those that [`headers`] found.
pub(super) fn decode(
    input: &mut impl BufRead,
    headers: &[TraceHeader],
    decoder: &mut Decoder<'_>,
) -> Result<(), DecodeError> {
    let mut headers = headers.iter();
    let mut text = Vec::new();
    let outcome = traces(&mut Scanner::new(input), None, |scanner| {
        let Some(header) = headers.next() else {
            return scanner.value(None).map(drop);
        };
        decoder.start_trace(header);
        members(scanner, |scanner, key| {
            if key != b"\"events\"" || scanner.peek()? != b'[' {
                return scanner.value(None).map(drop);
            }
            scanner.elements(b']', |scanner| {
                if !scanner.value(Some(&mut text))? {
                    decoder.count_too_long();
                } else if !std::str::from_utf8(&text).is_ok_and(|text| decoder.event(text).is_ok())
                {
                    decoder.count_malformed();
                }
                Ok(())
            })
        })
    });
    match outcome {
        Err(Broken::Io(error)) => return Err(error.into()),
        Err(Broken::Syntax) => decoder.count_broken_document(),
        Ok(()) => {}
    }
    Ok(())
}

/// Call `each` at every trace of the document; its `version` is filled in if it is asked for.
fn traces<R: BufRead>(
    scanner: &mut Scanner<R>,
    mut version: Option<&mut String>,
    mut each: impl FnMut(&mut Scanner<R>) -> Result<(), Broken>,
) -> Result<(), Broken> {
    members(scanner, |scanner, key| {
        match (key, &mut version) {
            (b"\"traces\"", _) if scanner.peek()? == b'[' => scanner.elements(b']', &mut each)?,
            (b"\"qlog_version\"", Some(version)) => **version = parsed(scanner, &mut Vec::new())?,
            _ => drop(scanner.value(None)?),
        }
        Ok(())
    })
}

/// The value here; the default where it is not what it should be.
fn parsed<R: BufRead, T: DeserializeOwned + Default>(
    scanner: &mut Scanner<R>,
    text: &mut Vec<u8>,
) -> Result<T, Broken> {
    scanner.value(Some(text))?;
    Ok(serde_json::from_slice(text).unwrap_or_default())
}
