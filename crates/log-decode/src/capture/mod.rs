// SPDX-License-Identifier: Apache-2.0
//! Captures, classic pcap and pcapng: headers of every packet, TCP and QUIC connections, and what keys open of them.

mod addresses;
mod blocks;
mod checksum;
mod classic;
mod driver;
mod encapsulation;
mod headers;
mod interface;
mod link_type;
mod pcapng;
mod portions;

use crate::tables::Tables;
use crate::tls::keylog::KeyLog;
use crate::{DecodeError, Input, Options, Severity, Source};
use driver::Driver;
use portions::Portions;

/// Decode a capture taken at `options.vantage` (unknown: direction is null) with the secrets of `options.key_logs`.
///
/// # Errors
/// If the input cannot be read, or does not start like a capture.
pub fn decode(
    input: &Input,
    options: &Options,
    tables: &mut Tables,
) -> Result<Source, DecodeError> {
    let keys = KeyLog::default();
    for log in &options.key_logs {
        let read = (log.open()).and_then(|mut log| keys.read(&mut log, &mut tables.stats));
        if read.is_err() {
            tables.count(
                "unreadable_key_log",
                Severity::DataLoss,
                "a key log could not be read: what it would open stays closed",
            );
        }
    }
    let mut file = Portions::new(input.open()?);
    let magic = <[u8; 4]>::try_from(file.next(4)?).unwrap_or_default();
    let mut driver = Driver::new(options.vantage, keys, tables);
    let source = if magic == blocks::SECTION_HEADER {
        pcapng::read(file, &mut driver)?
    } else if let Some(layout) = classic::Layout::of(magic) {
        classic::read(layout, file, &mut driver)?
    } else {
        return Err(DecodeError::foreign(
            "capture",
            "it starts neither like pcapng nor like pcap",
        ));
    };
    driver.finish();
    Ok(source)
}

#[cfg(test)]
mod tests;
