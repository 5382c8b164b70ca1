// SPDX-License-Identifier: Apache-2.0
//! The thread that writes the logs of all directions to their files.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::buffer::{Chunk, StreamNumber};
use super::{pcapng, HAND_OVER_NS};
use crate::clock::monotonic_ns;

/// A block of a capture is written once nothing older can come any more: when the capture's other streams are further
/// on, or after this time, by which each direction has handed over what it had.
const HELD_BACK_NS: u64 = 4 * HAND_OVER_NS;
const WRITE_BUFFER: usize = 256 << 10;

/// A capture: what left an end and what reached it over each of its links, each in order of time, put in one order.
#[derive(Debug)]
struct Capture {
    file: BufWriter<File>,
    streams: Vec<Stream>,
}

#[derive(Debug, Default)]
struct Stream {
    number: StreamNumber,
    chunks: VecDeque<Chunk>,
    /// Bytes of the first chunk that are written.
    written: usize,
}

impl Stream {
    /// Bytes that come next.
    fn rest(&self) -> Option<&[u8]> {
        Some(&self.chunks.front()?.bytes[self.written..])
    }

    /// Has the next bytes behind it, and gives a chunk back that is done.
    fn advance(&mut self, length: usize) {
        self.written += length;
        if self
            .chunks
            .front()
            .is_some_and(|chunk| chunk.bytes.len() == self.written)
        {
            self.written = 0;
            if let Some(chunk) = self.chunks.pop_front() {
                chunk.give_back();
            }
        }
    }
}

impl Capture {
    fn of(output: Output) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(WRITE_BUFFER, output.file);
        file.write_all(&output.header)?;
        Ok(Self {
            file,
            streams: output
                .streams
                .into_iter()
                .map(|number| Stream {
                    number,
                    ..Stream::default()
                })
                .collect(),
        })
    }

    fn holds_back(&self) -> bool {
        self.streams.iter().any(|stream| !stream.chunks.is_empty())
    }

    /// Writes what is in order, which all is that is older than `before_ns` (`CLOCK_REALTIME`).
    fn write(&mut self, before_ns: u64) -> io::Result<()> {
        loop {
            let times: Vec<Option<u64>> = self
                .streams
                .iter()
                .map(|stream| stream.rest().map(pcapng::time_ns))
                .collect();
            let known = times.iter().enumerate();
            let Some((first_ns, at)) = known
                .filter_map(|(at, &time_ns)| Some((time_ns?, at)))
                .min()
            else {
                return Ok(());
            };
            // What comes of a stream that has nothing yet is not older than that.
            let others = times.iter().enumerate().filter(|&(other, _)| other != at);
            let until_ns = others
                .map(|(_, time_ns)| time_ns.unwrap_or(before_ns))
                .min()
                .unwrap_or(before_ns);
            if first_ns >= before_ns && times.contains(&None) {
                return Ok(());
            }
            let stream = &mut self.streams[at];
            let rest = stream.rest().unwrap_or_default();
            let length = pcapng::length_until(rest, until_ns);
            let result = self.file.write_all(&rest[..length]);
            stream.advance(length);
            result?;
        }
    }
}

/// A file, what it begins with, and the streams, one of each direction of a link, that it is made of.
#[derive(Debug)]
pub struct Output {
    /// The file.
    pub file: File,
    /// Bytes that the file begins with.
    pub header: Vec<u8>,
    /// The numbers of the streams.
    pub streams: Vec<StreamNumber>,
}

/// The outputs that were asked for.
#[derive(Debug, Default)]
pub struct Outputs {
    /// The packet log of each link: records of both directions as they come.
    pub packet_logs: Vec<Option<Output>>,
    /// Captures: blocks of all streams in order of time.
    pub captures: Vec<Output>,
}

impl Outputs {
    /// Writes what comes until all directions are done, and tells the first error.
    ///
    /// # Errors
    /// The first error of any file. Until the end the directions get their chunks back all the same, so that they go
    /// on.
    pub fn write(
        self,
        full: &Receiver<Chunk>,
        realtime_minus_monotonic_ns: i64,
    ) -> io::Result<Vec<Option<File>>> {
        let result = self.write_all(full, realtime_minus_monotonic_ns);
        if result.is_err() {
            full.iter().for_each(Chunk::give_back);
        }
        result
    }

    fn write_all(
        self,
        full: &Receiver<Chunk>,
        realtime_minus_monotonic_ns: i64,
    ) -> io::Result<Vec<Option<File>>> {
        let mut logs = self.packet_logs;
        for log in logs.iter_mut().flatten() {
            log.file.write_all(&log.header)?;
        }
        let captures = self.captures.into_iter().map(Capture::of);
        let mut captures = captures.collect::<io::Result<Vec<_>>>()?;
        loop {
            let next = if captures.iter().any(Capture::holds_back) {
                full.recv_timeout(Duration::from_nanos(HAND_OVER_NS))
            } else {
                full.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            // Whatever is older than what is held back from this instant has been handed over by now: it is taken first,
            // however long this thread had no processor.
            let now_ns = monotonic_ns().wrapping_add_signed(realtime_minus_monotonic_ns);
            let mut taken = match next {
                Ok(chunk) => Some(chunk),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            while let Some(chunk) = taken.or_else(|| full.try_recv().ok()) {
                taken = None;
                let mut streams = captures.iter_mut().flat_map(|capture| &mut capture.streams);
                let mut logs = logs.iter_mut().flatten();
                if let Some(stream) = streams.find(|stream| stream.number == chunk.stream) {
                    stream.chunks.push_back(chunk);
                } else if let Some(log) = logs.find(|log| log.streams.contains(&chunk.stream)) {
                    let result = log.file.write_all(&chunk.bytes);
                    chunk.give_back();
                    result?;
                } else {
                    chunk.give_back();
                }
            }
            for capture in &mut captures {
                capture.write(now_ns.saturating_sub(HELD_BACK_NS))?;
            }
        }
        for capture in &mut captures {
            capture.write(u64::MAX)?;
            capture.file.flush()?;
        }
        Ok(logs
            .into_iter()
            .map(|log| log.map(|log| log.file))
            .collect())
    }
}
