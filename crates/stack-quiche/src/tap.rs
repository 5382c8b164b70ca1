// SPDX-License-Identifier: Apache-2.0
//! The way of a connection's qlog to its file, on which the congestion window is read: the library tells nobody else how
//! much is in flight.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use serde_json::Value;

const METRICS: &[u8] = b"metrics_updated\"";

/// Numbers as the library last logged them.
#[derive(Debug, Default)]
pub struct Numbers {
    window: AtomicU64,
    in_flight: AtomicU64,
}

impl Numbers {
    /// Bytes that the congestion window has and those that it has room for, once the library has told its size.
    pub fn window(&self) -> Option<(u64, u64)> {
        let size = self.window.load(Ordering::Relaxed);
        let room = size.saturating_sub(self.in_flight.load(Ordering::Relaxed));
        (size > 0).then_some((size, room))
    }

    fn read(&self, record: &[u8]) {
        let begin = record.iter().position(|&byte| byte == b'{').unwrap_or(0);
        let Ok(event) = serde_json::from_slice::<Value>(&record[begin..]) else {
            return;
        };
        // What has not changed is not told.
        for (name, number) in [
            ("congestion_window", &self.window),
            ("bytes_in_flight", &self.in_flight),
        ] {
            if let Some(told) = event["data"][name].as_u64() {
                number.store(told, Ordering::Relaxed);
            }
        }
    }
}

/// Passes everything on to a file.
pub struct Tap<W: Write> {
    file: W,
    record: Vec<u8>,
    numbers: Arc<Numbers>,
}

impl<W: Write> Tap<W> {
    /// A tap, and what it reads.
    pub fn on(file: W) -> (Self, Arc<Numbers>) {
        let numbers = Arc::<Numbers>::default();
        let tap = Self {
            file,
            record: Vec::new(),
            numbers: Arc::clone(&numbers),
        };
        (tap, numbers)
    }
}

impl<W: Write> Write for Tap<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        for piece in bytes[..written].split_inclusive(|&byte| byte == b'\n') {
            self.record.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                if self
                    .record
                    .windows(METRICS.len())
                    .take(200)
                    .any(|part| part == METRICS)
                {
                    self.numbers.read(&self.record);
                }
                self.record.clear();
            }
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The latest of each number counts, however the records are cut; all of them come to the file.
    #[test]
    fn numbers_are_read_on_the_way() {
        let (mut tap, numbers) = Tap::on(Vec::new());
        assert_eq!(numbers.window(), None);
        let log = concat!(
            "\x1e{\"time\":1.5,\"name\":\"quic:recovery_metrics_updated\",\"data\":",
            "{\"congestion_window\":12000,\"bytes_in_flight\":1200}}\n",
            "\x1e{\"time\":2,\"name\":\"quic:packet_sent\",\"data\":{\"bytes_in_flight\":7}}\n",
            "\x1e{\"time\":3,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"bytes_in_flight\":9000}}\n",
        );
        for piece in log.as_bytes().chunks(7) {
            tap.write_all(piece).expect("written");
        }
        assert_eq!(numbers.window(), Some((12_000, 3000)));
        assert_eq!(tap.file, log.as_bytes());
    }
}
