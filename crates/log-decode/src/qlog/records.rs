// SPDX-License-Identifier: Apache-2.0
//! JSON text sequences (RFC 7464): a record separator before every record, a line feed behind it.

use super::events::Decoder;
use super::header::FileHeader;
use super::{array_dialect, is_array_dialect, FORMAT, RECORD_SEPARATOR};
use crate::{DecodeError, MAX_RECORD_BYTES};
use std::io::{BufRead, Read};

pub(super) fn decode(
    input: &mut impl BufRead,
    decoder: &mut Decoder<'_>,
) -> Result<(), DecodeError> {
    let mut record = Vec::new();
    let mut has_header = false;
    while next(input, &mut record, decoder)? {
        let whole = record.last() == Some(&RECORD_SEPARATOR) || record.last() == Some(&b'\n');
        let text = record
            .strip_suffix(&[RECORD_SEPARATOR])
            .unwrap_or(&record)
            .trim_ascii();
        if text.is_empty() {
            continue;
        }
        if has_header {
            match std::str::from_utf8(text).map(|text| decoder.event(text)) {
                Ok(Ok(())) => {}
                _ if whole => decoder.count_malformed(),
                _ => decoder.count_cut(),
            }
            continue;
        }
        let header: FileHeader<'_> = serde_json::from_slice(text).map_err(|error| {
            DecodeError::foreign(FORMAT, format!("its first record is no header ({error})"))
        })?;
        if header.qlog_version.is_none() && header.file_schema.is_none() {
            return Err(DecodeError::foreign(
                FORMAT,
                "its first record names no qlog_version or file_schema",
            ));
        }
        match header.qlog_version {
            Some(version) if is_array_dialect(&version) => return Err(array_dialect(&version)),
            _ => decoder.start_trace(&header.trace),
        }
        has_header = true;
    }
    if has_header {
        Ok(())
    } else {
        Err(DecodeError::foreign(FORMAT, "it holds no record"))
    }
}

/// Read up to and with the next separator; false at the end. A record beyond the limit is counted and comes out empty.
fn next(
    input: &mut impl BufRead,
    record: &mut Vec<u8>,
    decoder: &mut Decoder<'_>,
) -> std::io::Result<bool> {
    record.clear();
    if input
        .take(MAX_RECORD_BYTES as u64)
        .read_until(RECORD_SEPARATOR, record)?
        < MAX_RECORD_BYTES
    {
        return Ok(!record.is_empty());
    }
    if record.last() != Some(&RECORD_SEPARATOR) {
        decoder.count_too_long();
        record.clear();
        input.skip_until(RECORD_SEPARATOR)?;
        record.push(RECORD_SEPARATOR);
    }
    Ok(true)
}
