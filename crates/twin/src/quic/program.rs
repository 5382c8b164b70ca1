// SPDX-License-Identifier: Apache-2.0
//! The program that answers over QUIC: it writes as much as it has, and as the credit takes.

use bytes::Bytes;
use quinn_proto::SendStream;

use crate::case::Case;
use crate::state::Data;

/// The response's headers.
const HEADER_BYTES: u64 = 120;
const CHUNK_BYTES: u64 = 65_536;

/// The response of a case, and how far it is.
pub struct Answer {
    /// Bytes that the program has handed over.
    pub(super) written: u64,
    length: u64,
    pause: (u64, u64),
    pause_every: Option<u64>,
    buffer: Option<u64>,
    /// Instant at which it goes on after a pause.
    pub(super) resumes_ns: Option<u64>,
    paused: bool,
    ended: bool,
}

impl Answer {
    pub(super) fn new(case: &Case) -> Self {
        Self {
            written: 0,
            length: HEADER_BYTES + case.body_bytes,
            pause: (HEADER_BYTES + case.pause_at, case.pause_ns),
            pause_every: case.pause_every,
            buffer: case.send_buffer,
            resumes_ns: None,
            paused: false,
            ended: false,
        }
    }

    /// Goes on after a pause that is over.
    pub(super) fn resume(&mut self, now: u64) {
        if self.resumes_ns.is_some_and(|at| at <= now) {
            self.resumes_ns = None;
            if let Some(every) = self.pause_every {
                (self.pause.0, self.paused) = (self.pause.0 + every, false);
            }
        }
    }

    /// Writes as much of the response as there is and as the credit takes. It pauses once the highest offset sent is
    /// that of the pause.
    pub(super) fn write(&mut self, now: u64, highest: u64, sending: &mut SendStream<'_>) {
        let (pause_at, pause_ns) = self.pause;
        if pause_ns > 0 && !self.paused && highest >= pause_at {
            self.paused = true;
            self.resumes_ns = Some(now + pause_ns);
        }
        let is_held = self.resumes_ns.is_some() || pause_ns > 0 && !self.paused;
        let until = if is_held {
            pause_at.min(self.length)
        } else {
            self.length
        };
        while self.written < until {
            let length = usize::try_from((until - self.written).min(CHUNK_BYTES));
            let chunk = Bytes::from(vec![0; length.expect("a chunk")]);
            match sending.write_chunks(&mut [chunk]) {
                Ok(written) => self.written += u64::try_from(written.bytes).expect("a chunk"),
                Err(_) => return,
            }
        }
        if self.written == self.length && !self.ended {
            self.ended = true;
            sending.finish().expect("an open stream");
        }
    }

    /// Reason that keeps it from handing over more than is sent: `limits` are those of connection
    /// and stream, `asked` says whether the request has come.
    pub(super) fn lacks(&self, (connection, stream): (u64, u64), asked: bool) -> Data {
        if self.resumes_ns.is_some() {
            Data::Application
        } else if self.written == self.length || !asked {
            Data::AllSent
        } else if self.buffer.is_some() && self.written < stream.min(connection) {
            Data::SendBuffer
        } else if self.written == stream {
            Data::StreamCredit
        } else if self.written == connection {
            Data::ConnectionCredit
        } else {
            Data::Application
        }
    }
}
