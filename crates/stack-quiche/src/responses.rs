// SPDX-License-Identifier: Apache-2.0
//! Answers that a connection of the server still has to send on each stream.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use quiche::h3::{self, Header, NameValue, Priority};
use stack_common::files::Files;
use stack_common::http3;
use stack_common::job::Scheduler;

/// Read from the file at once.
const CHUNK: usize = 256 << 10;
/// RFC 9218's default.
const URGENCY: u8 = 3;

/// Answers that are not complete.
pub struct Responses {
    open: BTreeMap<u64, Response>,
    scheduler: Scheduler,
    last_served: u64,
    /// Bytes of bodies that the connection has taken.
    taken: u64,
}

struct Response {
    headers: Option<Vec<Header>>,
    body: Body,
    sent: u64,
}

struct Body {
    file: Option<File>,
    length: u64,
    chunk: Vec<u8>,
    used: usize,
}

enum Progress {
    /// The stream took what it was offered.
    Written,
    /// The stream, the connection or the congestion window is full.
    Blocked,
    /// The answer is complete, or will never be.
    Ended,
}

impl Responses {
    /// Responses of a connection, none of them open yet.
    pub fn new(scheduler: Scheduler) -> Self {
        Self {
            open: BTreeMap::new(),
            scheduler,
            last_served: 0,
            taken: 0,
        }
    }

    /// Answer a request, later.
    pub fn add(&mut self, stream: u64, request: &[Header], files: &Files) {
        self.open.insert(stream, Response::to(request, files));
    }

    /// The peer no longer wants it.
    pub fn forget(&mut self, stream: u64) {
        self.open.remove(&stream);
    }

    /// Bytes of bodies that the connection has not taken, those that it has taken, and the stream of the only answer.
    pub fn standing(&self) -> (u64, u64, Option<u64>) {
        let ready = self
            .open
            .values()
            .map(|each| each.body.length - each.sent)
            .sum();
        let only = self.open.keys().next().filter(|_| self.open.len() == 1);
        (ready, self.taken, only.copied())
    }

    /// Give the connection as much as it takes: the oldest stream first, or a packet of each in turn.
    pub fn write(&mut self, quic: &mut quiche::Connection, http: &mut h3::Connection) {
        let (quantum, incremental) = match self.scheduler {
            Scheduler::Fifo => (CHUNK, false),
            Scheduler::RoundRobin => (quic.max_send_udp_payload_size(), true),
        };
        let mut ready: Vec<u64> = self.open.keys().copied().collect();
        if self.scheduler == Scheduler::RoundRobin {
            let first = ready.partition_point(|&stream| stream <= self.last_served);
            ready.rotate_left(first);
        }
        while !ready.is_empty() {
            ready.retain(|&stream| {
                let Some(response) = self.open.get_mut(&stream) else {
                    return false;
                };
                let before = response.sent;
                let progress = response.write(quic, http, stream, quantum, incremental);
                self.taken += response.sent - before;
                match progress {
                    Progress::Written => {
                        self.last_served = stream;
                        true
                    }
                    Progress::Blocked => false,
                    Progress::Ended => {
                        self.open.remove(&stream);
                        false
                    }
                }
            });
        }
    }
}

impl Response {
    fn to(request: &[Header], files: &Files) -> Self {
        let value = |name: &[u8]| {
            let header = request.iter().find(|header| header.name() == name);
            header.and_then(|header| std::str::from_utf8(header.value()).ok())
        };
        let method = value(b":method").unwrap_or_default();
        let answer = files.answer(method, value(b":path").unwrap_or_default());
        let status = answer.status.to_string();
        let mut headers = vec![Header::new(b":status", status.as_bytes())];
        for (name, value) in &answer.headers {
            headers.push(Header::new(name.as_bytes(), value.as_bytes()));
        }
        let (file, length) = answer.body.unzip();
        Self {
            headers: Some(headers),
            body: Body {
                file,
                length: length.unwrap_or(0),
                chunk: Vec::new(),
                used: 0,
            },
            sent: 0,
        }
    }

    fn write(
        &mut self,
        quic: &mut quiche::Connection,
        http: &mut h3::Connection,
        stream: u64,
        quantum: usize,
        incremental: bool,
    ) -> Progress {
        if let Some(headers) = &self.headers {
            let priority = Priority::new(URGENCY, incremental);
            match http.send_response_with_priority(
                quic,
                stream,
                headers,
                &priority,
                self.body.length == 0,
            ) {
                Ok(()) => self.headers = None,
                Err(h3::Error::StreamBlocked | h3::Error::Done) => return Progress::Blocked,
                Err(_) => return Progress::Ended,
            }
        }
        let length = self.body.length;
        if self.sent == length {
            return Progress::Ended;
        }
        let Ok(piece) = self.body.next(self.sent, quantum) else {
            // The file became shorter while it was served.
            let _ = quic.stream_shutdown(
                stream,
                quiche::Shutdown::Write,
                http3::INTERNAL_ERROR.into(),
            );
            return Progress::Ended;
        };
        let offered = piece.len();
        let last = self.sent + offered as u64 == length;
        match http.send_body(quic, stream, piece, last) {
            Ok(written) => {
                self.sent += written as u64;
                self.body.used += written;
                if self.sent == length {
                    Progress::Ended
                } else if written < offered {
                    Progress::Blocked
                } else {
                    Progress::Written
                }
            }
            Err(h3::Error::Done) => Progress::Blocked,
            Err(_) => Progress::Ended,
        }
    }
}

impl Body {
    /// The bytes at this offset of the file, at most so many; never none.
    fn next(&mut self, offset: u64, most: usize) -> std::io::Result<&[u8]> {
        if self.used == self.chunk.len() {
            let rest = usize::try_from(self.length - offset).unwrap_or(usize::MAX);
            self.chunk.resize(rest.min(CHUNK), 0);
            self.used = 0;
            match &self.file {
                Some(file) => file.read_exact_at(&mut self.chunk, offset)?,
                None => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            }
        }
        let end = self.chunk.len().min(self.used.saturating_add(most));
        Ok(&self.chunk[self.used..end])
    }
}
