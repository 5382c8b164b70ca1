// SPDX-License-Identifier: Apache-2.0
//! Logs that are written while packets pass: of each link, the packet log and a capture of each
//! end.

pub mod buffer;
mod files;
pub mod pcapng;
pub mod record;
mod writer;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use crate::config;
use crate::error::Error;
use buffer::Buffer;
use files::{Files, Stream};
use pcapng::{Packet, Way};
use record::Record;

/// The first packets that leave an end or reach it are always captured whole: they hold the handshakes, which prove
/// what was negotiated.
pub const WHOLE_PACKETS: u64 = 128;
/// Time for which a direction keeps what it has captured, so that the writer can put both
/// directions in order.
const HAND_OVER_NS: u64 = 25_000_000;

/// The logs of one direction.
#[derive(Debug)]
pub struct Logs {
    buffer: Buffer,
    packet_log: Option<usize>,
    /// Captures of what leaves the end where the direction begins, and of what reaches the other.
    captures: [Option<Stream>; 2],
    /// Bytes of a packet that captures keep, the first `WHOLE_PACKETS` excepted.
    snaplen: usize,
    captured: [u64; 2],
    handed_over_ns: u64,
    holds_captures: bool,
    /// Counts so far.
    pub counts: Counts,
}

/// Counts of what was logged, and of what was lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Records in the packet log.
    pub records: u64,
    /// Records that found no room in the buffer.
    pub records_lost: u64,
    /// Captured packets that found no room in the buffer.
    pub capture_packets_lost: u64,
}

impl std::ops::Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            records_lost: self.records_lost + other.records_lost,
            capture_packets_lost: self.capture_packets_lost + other.capture_packets_lost,
        }
    }
}

/// The thread that writes what all directions of all links log.
#[derive(Debug)]
pub struct Writing(JoinHandle<io::Result<Vec<Option<File>>>>);

/// Creates the files of a link, and of `more` links; the logs of each one's up and down. Links that name the same file
/// for a capture share it: it has one interface of each.
///
/// # Errors
/// If a file cannot be created.
pub fn create(
    config: &config::Log,
    more: &[config::Files],
    realtime_minus_monotonic_ns: i64,
) -> Result<(Vec<[Logs; 2]>, Writing), Error> {
    let first = config::Files {
        packet_log: config.packet_log.clone(),
        capture_client: config.capture_client.clone(),
        capture_server: config.capture_server.clone(),
    };
    let files: Vec<_> = std::iter::once(&first).chain(more).collect();
    let limit = config.buffer_bytes / (2 * files.len());
    let (full, to_write) = channel();
    let mut logs = Vec::new();
    let mut created = Files::new(realtime_minus_monotonic_ns);
    for files in files {
        let streams = created.of_link(files)?;
        logs.push(streams.map(|streams| streams.logs(config.snaplen_bytes, limit, &full)));
    }
    let outputs = created.outputs();
    let buffers = logs.iter().flatten();
    let first_chunks: Vec<_> = buffers.map(|logs| logs.buffer.first_chunks()).collect();
    drop(full);
    let writing = std::thread::Builder::new()
        .name("log-writer".to_owned())
        .spawn(move || {
            for make in first_chunks {
                make();
            }
            outputs.write(&to_write, realtime_minus_monotonic_ns)
        })
        .map_err(Error::system(
            "cannot start the log writer",
            "raise the limit on processes",
        ))?;
    Ok((logs, Writing(writing)))
}

impl Logs {
    /// Logs a packet.
    pub fn record(&mut self, record: &Record) {
        let Some(place) = self.packet_log else { return };
        if self.buffer.append(place, record::LENGTH, |out| {
            out.extend_from_slice(&record.to_bytes());
        }) {
            self.counts.records += 1;
        } else {
            self.counts.records_lost += 1;
        }
    }

    /// Captures a packet; of those that go one way, each is as late as the one before or later.
    pub fn capture(&mut self, packet: &Packet<'_>) {
        let end = usize::from(packet.way == Way::Inbound);
        let Some(Stream { place, interface }) = self.captures[end] else {
            return;
        };
        let snaplen = if self.captured[end] < WHOLE_PACKETS {
            usize::MAX
        } else {
            self.snaplen
        };
        self.captured[end] += 1;
        self.holds_captures = true;
        if !self
            .buffer
            .append(place, packet.block_length(snaplen), |out| {
                packet.write(out, snaplen, interface);
            })
        {
            self.counts.capture_packets_lost += 1;
        }
    }

    /// Hands over what was captured, if it is time to; else says when it will be.
    pub fn hand_over(&mut self, now_ns: u64) -> Option<u64> {
        if !self.holds_captures {
            return None;
        }
        let at_ns = self.handed_over_ns + HAND_OVER_NS;
        if now_ns < at_ns {
            return Some(at_ns);
        }
        self.handed_over_ns = now_ns;
        self.holds_captures = false;
        for stream in self.captures.into_iter().flatten() {
            self.buffer.flush(stream.place);
        }
        None
    }

    /// Hands over all that is left.
    #[must_use]
    pub fn finish(self) -> Counts {
        self.buffer.finish();
        self.counts
    }
}

impl Writing {
    /// Waits until all is written, once all directions have handed over all; adds each link's t = 0
    /// (`CLOCK_MONOTONIC`; 0 if no packet came).
    ///
    /// # Errors
    /// The first error of any file.
    pub fn finish(self, model_zero_ns: &[u64]) -> io::Result<()> {
        let crashed = |_| io::Error::other("the log writer crashed");
        let packet_logs = self.0.join().map_err(crashed)??;
        for (packet_log, zero_ns) in packet_logs.iter().zip(model_zero_ns) {
            if let Some(packet_log) = packet_log {
                packet_log.write_all_at(&zero_ns.to_le_bytes(), record::MODEL_ZERO_AT)?;
            }
        }
        Ok(())
    }
}
