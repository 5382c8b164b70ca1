// SPDX-License-Identifier: Apache-2.0
//! Files that the links write, and the directions that write into each.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use super::buffer::{Buffer, Chunk, StreamNumber};
use super::writer::{Output, Outputs};
use super::{pcapng, record, Counts, Logs};
use crate::config;
use crate::error::Error;
use crate::own_file;

const DISK_HINT: &str = "choose a directory that exists, is writable and has free space";

/// A capture to which a direction adds.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Place of the capture in the buffer.
    pub place: usize,
    /// The link's interface in the capture.
    pub interface: u32,
}

/// Streams that one direction writes, by their numbers.
#[derive(Debug, Default)]
pub struct Streams {
    packet_log: Option<StreamNumber>,
    /// Captures of what leaves the end where the direction begins, and of what reaches the other,
    /// each with the capture's interface.
    captures: [Option<(StreamNumber, u32)>; 2],
}

impl Streams {
    /// The logs of the direction, with a buffer of about `limit` bytes.
    #[must_use]
    pub fn logs(self, snaplen_bytes: Option<usize>, limit: usize, full: &Sender<Chunk>) -> Logs {
        let mut numbers = Vec::new();
        let mut place = |number| {
            numbers.push(number);
            numbers.len() - 1
        };
        let packet_log = self.packet_log.map(&mut place);
        let captures = self.captures.map(|stream| {
            stream.map(|(number, interface)| Stream {
                place: place(number),
                interface,
            })
        });
        Logs {
            buffer: Buffer::new(&numbers, full.clone(), limit),
            packet_log,
            captures,
            snaplen: snaplen_bytes.unwrap_or(usize::MAX),
            captured: [0; 2],
            handed_over_ns: 0,
            holds_captures: false,
            counts: Counts::default(),
        }
    }
}

/// The files of all links.
#[derive(Debug)]
pub struct Files {
    realtime_minus_monotonic_ns: i64,
    packet_logs: Vec<Option<Output>>,
    /// Each with its path and the number of its interfaces.
    captures: Vec<(PathBuf, u32, Output)>,
    streams: StreamNumber,
}

impl Files {
    /// No files yet.
    #[must_use]
    pub fn new(realtime_minus_monotonic_ns: i64) -> Self {
        Self {
            realtime_minus_monotonic_ns,
            packet_logs: Vec::new(),
            captures: Vec::new(),
            streams: 0,
        }
    }

    /// Creates those of one link that are not there yet; what its up and its down write.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn of_link(&mut self, files: &config::Files) -> Result<[Streams; 2], Error> {
        let logged = [self.next(), self.next()];
        let log = match &files.packet_log {
            Some(path) => Some(Output {
                file: create(path)?,
                header: record::file_header(self.realtime_minus_monotonic_ns).to_vec(),
                streams: logged.to_vec(),
            }),
            None => None,
        };
        let [up_log, down_log] = logged.map(|number| log.is_some().then_some(number));
        self.packet_logs.push(log);
        let [up_near, down_far] = self.capture(files.capture_client.as_deref(), "client")?;
        let [down_near, up_far] = self.capture(files.capture_server.as_deref(), "server")?;
        Ok([
            Streams {
                packet_log: up_log,
                captures: [up_near, up_far],
            },
            Streams {
                packet_log: down_log,
                captures: [down_near, down_far],
            },
        ])
    }

    /// The outputs, once all links have been here.
    #[must_use]
    pub fn outputs(self) -> Outputs {
        Outputs {
            packet_logs: self.packet_logs,
            captures: self
                .captures
                .into_iter()
                .map(|(_, _, output)| output)
                .collect(),
        }
    }

    /// One more interface of a capture: the streams of what leaves this end and of what reaches it.
    fn capture(
        &mut self,
        path: Option<&Path>,
        end: &str,
    ) -> Result<[Option<(StreamNumber, u32)>; 2], Error> {
        let Some(path) = path else {
            return Ok([None; 2]);
        };
        let streams = [self.next(), self.next()];
        let realtime_minus_monotonic_ns = self.realtime_minus_monotonic_ns;
        let mut known = self.captures.iter_mut();
        let interface = if let Some((_, interfaces, output)) = known.find(|each| each.0 == path) {
            *interfaces += 1;
            let name = format!("{end} {interfaces}");
            output.header.extend(pcapng::interface_description(
                &name,
                realtime_minus_monotonic_ns,
            ));
            output.streams.extend(streams);
            *interfaces - 1
        } else {
            let output = Output {
                file: create(path)?,
                header: pcapng::file_header(end, realtime_minus_monotonic_ns),
                streams: streams.to_vec(),
            };
            self.captures.push((path.to_owned(), 1, output));
            0
        };
        Ok(streams.map(|number| Some((number, interface))))
    }

    fn next(&mut self) -> StreamNumber {
        self.streams += 1;
        self.streams - 1
    }
}

fn create(path: &Path) -> Result<File, Error> {
    own_file::create(path).map_err(Error::system(
        format!("cannot create {}", path.display()),
        DISK_HINT,
    ))
}
