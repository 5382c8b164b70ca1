// SPDX-License-Identifier: Apache-2.0
//! What is written while packets pass: of each link, the packet log and a capture of each end.

pub mod buffer;
pub mod pcapng;
pub mod record;
mod writer;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::mpsc::{channel, Sender};
use std::thread::JoinHandle;

use crate::config;
use crate::error::Error;
use buffer::{Buffer, Chunk, StreamNumber};
use pcapng::{Packet, Way};
use record::Record;
use writer::{Output, Outputs};

const DISK_HINT: &str = "choose a directory that exists, can be written and has room";

/// The first packets that leave an end or reach it are always captured whole: they hold the handshakes, which prove
/// what was negotiated.
pub const WHOLE_PACKETS: u64 = 128;
/// How long a direction keeps what it has captured, so that the writer can put both directions in order.
const HAND_OVER_NS: u64 = 25_000_000;

/// The logs of one direction.
#[derive(Debug)]
pub struct Logs {
    buffer: Buffer,
    packet_log: Option<usize>,
    /// What leaves the end where the direction begins, and what reaches the other: places in the buffer.
    captures: [Option<usize>; 2],
    /// Bytes of a packet that captures keep, the first `WHOLE_PACKETS` excepted.
    snaplen: usize,
    captured: [u64; 2],
    handed_over_ns: u64,
    holds_captures: bool,
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

/// Creates the files of a link, and of `more` links behind it; the logs of each one's up and down. `offset_ns` is
/// `CLOCK_REALTIME` − `CLOCK_MONOTONIC`.
///
/// # Errors
/// If a file cannot be created.
pub fn create(
    config: &config::Log,
    more: &[config::Files],
    offset_ns: i64,
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
    let mut outputs = Outputs::default();
    for (link, files) in files.into_iter().enumerate() {
        let of_link = LinkOutputs::create(files, link * STREAMS, offset_ns)?;
        logs.push([0, 1].map(|direction| of_link.logs(direction, config, limit, &full)));
        outputs.packet_logs.push(of_link.packet_log);
        let captures = [of_link.client, of_link.server];
        outputs.captures.extend(captures.into_iter().flatten());
    }
    let buffers = logs.iter().flatten();
    let first_chunks: Vec<_> = buffers.map(|logs| logs.buffer.first_chunks()).collect();
    drop(full);
    let writing = std::thread::Builder::new()
        .name("log-writer".to_owned())
        .spawn(move || {
            for make in first_chunks {
                make();
            }
            outputs.write(&to_write, offset_ns)
        })
        .map_err(Error::system(
            "cannot start the log writer",
            "raise the limit on processes",
        ))?;
    Ok((logs, Writing(writing)))
}

/// Streams of a link. 0 to 2 are of up, 3 to 5 of down: packet log, what leaves, what comes.
const STREAMS: StreamNumber = 6;

/// What is written of one link.
struct LinkOutputs {
    packet_log: Option<Output>,
    client: Option<Output>,
    server: Option<Output>,
    /// The number of its first stream.
    stream: StreamNumber,
}

impl LinkOutputs {
    fn create(files: &config::Files, stream: StreamNumber, offset_ns: i64) -> Result<Self, Error> {
        let output = |path: &Option<PathBuf>, header: Vec<u8>, streams: [StreamNumber; 2]| {
            let Some(path) = path else { return Ok(None) };
            let file = File::create(path).map_err(Error::system(
                format!("cannot create {}", path.display()),
                DISK_HINT,
            ))?;
            Ok(Some(Output {
                file,
                header,
                streams: streams.map(|number| stream + number),
            }))
        };
        let log_header = record::file_header(offset_ns).to_vec();
        let capture_header = |end| pcapng::file_header(end, offset_ns);
        Ok(Self {
            packet_log: output(&files.packet_log, log_header, [0, 3])?,
            client: output(&files.capture_client, capture_header("client"), [1, 5])?,
            server: output(&files.capture_server, capture_header("server"), [4, 2])?,
            stream,
        })
    }

    fn logs(
        &self,
        direction: usize,
        config: &config::Log,
        limit: usize,
        full: &Sender<Chunk>,
    ) -> Logs {
        let [near, far] = if direction == 0 {
            [&self.client, &self.server]
        } else {
            [&self.server, &self.client]
        };
        let mut streams = Vec::new();
        let mut place = |output: &Option<Output>, number: usize| {
            output.as_ref().map(|_| {
                streams.push(self.stream + direction * 3 + number);
                streams.len() - 1
            })
        };
        let packet_log = place(&self.packet_log, 0);
        let captures = [place(near, 1), place(far, 2)];
        Logs {
            buffer: Buffer::new(&streams, full.clone(), limit),
            packet_log,
            captures,
            snaplen: config.snaplen_bytes.unwrap_or(usize::MAX),
            captured: [0; 2],
            handed_over_ns: 0,
            holds_captures: false,
            counts: Counts::default(),
        }
    }
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
        let Some(place) = self.captures[end] else {
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
                packet.write(out, snaplen);
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
        for place in self.captures.into_iter().flatten() {
            self.buffer.flush(place);
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
