// SPDX-License-Identifier: Apache-2.0
//! What is written while packets pass: the packet log and a capture of each end.

pub mod buffer;
pub mod pcapng;
pub mod record;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::config;
use crate::error::Error;
use buffer::{Buffer, FileNumber};
use pcapng::Packet;
use record::Record;

const DISK_HINT: &str = "choose a directory that exists, can be written and has room";

/// The first packets of a capture are always whole: they hold the handshakes, which prove what was negotiated.
pub const WHOLE_PACKETS: u64 = 128;

/// The open logs.
#[derive(Debug)]
pub struct Logs {
    buffer: Buffer,
    packet_log: Option<FileNumber>,
    captures: [Option<FileNumber>; 2],
    /// Bytes of a packet that captures keep, the first `WHOLE_PACKETS` excepted.
    snaplen: usize,
    captured: [u64; 2],
    /// What has happened so far.
    pub counts: Counts,
}

/// How much was logged, and how much was lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Records in the packet log.
    pub records: u64,
    /// Records that found no room in the buffer.
    pub records_lost: u64,
    /// Captured packets that found no room in the buffer.
    pub capture_packets_lost: u64,
}

impl Logs {
    /// Creates the files. `offset_ns` is `CLOCK_REALTIME` − `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(config: &config::Log, offset_ns: i64) -> Result<Self, Error> {
        let mut files = Vec::new();
        let mut headers: Vec<Vec<u8>> = Vec::new();
        let mut create =
            |path: Option<&Path>, header: Vec<u8>| -> Result<Option<FileNumber>, Error> {
                let Some(path) = path else { return Ok(None) };
                let file = File::create(path).map_err(Error::system(
                    format!("cannot create {}", path.display()),
                    DISK_HINT,
                ))?;
                files.push(file);
                headers.push(header);
                Ok(Some(files.len() - 1))
            };
        let packet_log = create(
            config.packet_log.as_deref(),
            record::file_header(offset_ns).to_vec(),
        )?;
        let captures = [
            create(
                config.capture_client.as_deref(),
                pcapng::file_header("client", offset_ns),
            )?,
            create(
                config.capture_server.as_deref(),
                pcapng::file_header("server", offset_ns),
            )?,
        ];
        let buffer = Buffer::new(files, headers, config.buffer_bytes).map_err(Error::system(
            "cannot start the log writer",
            "raise the limit on processes",
        ))?;
        Ok(Self {
            buffer,
            packet_log,
            captures,
            snaplen: config.snaplen_bytes.unwrap_or(usize::MAX),
            captured: [0; 2],
            counts: Counts::default(),
        })
    }

    /// Logs a packet.
    pub fn record(&mut self, record: &Record) {
        let Some(file) = self.packet_log else { return };
        if self.buffer.append(file, record::LENGTH, |out| {
            out.extend_from_slice(&record.to_bytes());
        }) {
            self.counts.records += 1;
        } else {
            self.counts.records_lost += 1;
        }
    }

    /// Captures a packet at an end: 0 the client's, 1 the server's.
    pub fn capture(&mut self, end: usize, packet: &Packet<'_>) {
        let Some(file) = self.captures[end] else {
            return;
        };
        let snaplen = if self.captured[end] < WHOLE_PACKETS {
            usize::MAX
        } else {
            self.snaplen
        };
        self.captured[end] += 1;
        if !self
            .buffer
            .append(file, packet.block_length(snaplen), |out| {
                packet.write(out, snaplen);
            })
        {
            self.counts.capture_packets_lost += 1;
        }
    }

    /// Writes out what is left, and the model's t = 0 (`CLOCK_MONOTONIC`; 0 if no packet came).
    ///
    /// # Errors
    /// The first error of any file.
    pub fn finish(self, model_zero_ns: u64) -> std::io::Result<()> {
        let files = self.buffer.finish()?;
        if let Some(file) = self.packet_log {
            files[file].write_all_at(&model_zero_ns.to_le_bytes(), record::MODEL_ZERO_AT)?;
        }
        Ok(())
    }
}
