// SPDX-License-Identifier: Apache-2.0
//! Captures, classic pcap and pcapng: headers of every packet, TCP and QUIC connections, and what keys open of them.

mod addresses;
mod batch;
mod blocks;
mod checksum;
mod ciphertexts;
mod classic;
mod connections;
mod copies;
mod driver;
mod encapsulation;
mod headers;
mod interface;
mod link_type;
mod pcapng;
mod portions;
mod told_end;
mod tunnel;

use crate::stages;
use crate::tables::Tables;
use crate::tls::keylog::KeyLog;
use crate::{DecodeError, Input, Options, Severity, Source};
pub use ciphertexts::ciphertexts;
use connections::Connections;
use driver::Driver;
use portions::Portions;

/// Decode a capture taken at `options.vantage`, or else where the capture itself tells (unknown: direction is null), with the secrets of `options.key_logs`.
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
    let end = match options.vantage {
        Some(end) => Some(end),
        None => told_end::of(input)?,
    };
    let mut driver = Driver::new(end);
    let mut format = format(input, &mut driver)?;
    let mut connections = Connections::new(end, keys, tables);
    stages::run(
        options.threads,
        |batch| {
            let more = format.stretch(&mut driver)?;
            driver.hand_over(batch);
            Ok::<_, DecodeError>(more)
        },
        |batch| connections.take(batch),
    )?;
    connections.finish();
    let (rows, stats) = driver.finish();
    if let Some(rows) = rows {
        tables.ip_packets.sealed.add(rows);
    }
    tables.stats.merge(stats);
    Ok(format.source())
}

/// A capture, read up to its first packet.
fn format(input: &Input, driver: &mut Driver) -> Result<Box<dyn Format>, DecodeError> {
    let mut file = Portions::new(input.open()?);
    let magic = <[u8; 4]>::try_from(file.next(4)?).unwrap_or_default();
    if magic == blocks::SECTION_HEADER {
        Ok(Box::new(pcapng::Capture::after_magic(file)))
    } else if let Some(layout) = classic::Layout::of(magic) {
        let stats = &mut driver.stats;
        Ok(Box::new(classic::Capture::after_magic(
            layout, file, stats,
        )?))
    } else {
        Err(DecodeError::foreign(
            "capture",
            "it starts neither like pcapng nor like pcap",
        ))
    }
}

/// A capture that is being read.
trait Format: Send {
    /// Hand the packets of the next stretch to `driver`, and the stretch itself; false with the last one.
    fn stretch(&mut self, driver: &mut Driver) -> Result<bool, DecodeError>;

    /// Source, as it is known when the file has been read.
    fn source(&self) -> Source;
}

#[cfg(test)]
mod tests;
