// SPDX-License-Identifier: Apache-2.0
//! The programs at the ends of a TCP connection: the one that asks, and the one that answers.

use crate::case::Case;
use crate::state::Data;
use crate::tcp::sender::Sender;

/// `ClientHello`, and what follows the server's answer: Finished and the request.
pub const HELLO_BYTES: u64 = 517;
const REQUEST_BYTES: u64 = 74 + 100;
/// `WINDOW_UPDATE` of stream and connection in one TLS record.
const UPDATE_BYTES: u64 = 22 + 13 + 13;
/// An empty SETTINGS frame with the flag ACK, in a TLS record.
const SETTINGS_ACK_BYTES: u64 = 22 + 9;
/// The response's headers.
const HEADER_BYTES: u64 = 120;
/// Payload of a full DATA frame.
const FRAME_BYTES: u64 = 16_384;

/// Behaviour of the program of an end.
pub enum Program {
    /// The end that asks.
    Client(Client),
    /// The end that answers.
    Server(Server),
}

/// The program that asks.
pub struct Client {
    /// Position at which the response ends.
    pub(super) ends: u64,
    flight: u64,
    settings: u64,
    window: Option<u64>,
    raised: u64,
    asked: bool,
    /// True if it has acknowledged the settings of the server.
    agreed: bool,
    /// `WINDOW_UPDATE`s in its stream: position of the end, limit.
    pub(super) updates: Vec<(u64, u64)>,
}

/// The program that answers.
pub struct Server {
    flight: u64,
    settings: u64,
    think_ns: u64,
    /// Instant at which it had the request.
    pub asked_ns: Option<u64>,
    body: u64,
    window: Option<u64>,
    buffer: Option<u64>,
    pause: (u64, u64),
    pause_every: Option<u64>,
    /// Position at which the response's body begins.
    begins: u64,
    /// Position after what the program has made, of which the send buffer may have no room for all.
    made: u64,
    /// Raises of the stream's credit: position of the message, limit.
    updates: Vec<(u64, u64)>,
    /// Limits of the stream as they came: instant, limit.
    pub limits: Vec<(u64, u64)>,
    /// DATA frames: position of the end, length.
    pub frames: Vec<(u64, u64)>,
    /// Instant at which it goes on after a pause.
    pub(super) resumes_ns: Option<u64>,
    paused: bool,
}

impl Client {
    /// The program of a case's end.
    pub(super) fn new(case: &Case) -> Self {
        Self {
            ends: case.flight_bytes + case.settings_bytes + HEADER_BYTES + case.body_bytes,
            flight: case.flight_bytes,
            settings: case.settings_bytes,
            window: case.stream_window,
            raised: 0,
            asked: false,
            agreed: case.settings_bytes == 0,
            updates: Vec::new(),
        }
    }

    /// Sends what the bytes that it has read so far call for.
    pub(super) fn run(&mut self, read: u64, sender: &mut Sender) {
        sender.written = sender.written.max(HELLO_BYTES);
        if read >= self.flight && !self.asked {
            self.asked = true;
            sender.written += REQUEST_BYTES;
        }
        if self.asked && !self.agreed && read >= self.flight + self.settings {
            self.agreed = true;
            sender.written += SETTINGS_ACK_BYTES;
        }
        let Some(window) = self.window else {
            return;
        };
        let body = read.saturating_sub(self.flight + self.settings + HEADER_BYTES);
        if body >= self.raised + window / 2 && read < self.ends {
            self.raised = body;
            sender.written += UPDATE_BYTES;
            self.updates.push((sender.written, body + window));
        }
    }
}

impl Server {
    /// The program of a case's end.
    pub(super) fn new(case: &Case) -> Self {
        Self {
            flight: case.flight_bytes,
            settings: case.settings_bytes,
            think_ns: case.think_ns,
            asked_ns: None,
            body: case.body_bytes,
            window: case.stream_window,
            buffer: case.send_buffer,
            pause: (case.pause_at, case.pause_ns),
            pause_every: case.pause_every,
            begins: case.flight_bytes + case.settings_bytes + HEADER_BYTES,
            made: 0,
            updates: Vec::new(),
            limits: Vec::new(),
            frames: Vec::new(),
            resumes_ns: None,
            paused: false,
        }
    }

    /// Makes what the request and the credit call for, and hands over what the send buffer has room for.
    pub(super) fn run(&mut self, now: u64, read: u64, sender: &mut Sender) {
        if self.resumes_ns.is_some_and(|at| at <= now) {
            self.resumes_ns = None;
            if let Some(every) = self.pause_every.filter(|_| self.made >= self.begins) {
                (self.pause.0, self.paused) = (self.pause.0 + every, false);
            }
        }
        if read >= HELLO_BYTES {
            self.made = self.made.max(self.flight);
        }
        if read >= HELLO_BYTES + REQUEST_BYTES {
            self.made = self.made.max(self.flight + self.settings);
            let asked_ns = *self.asked_ns.get_or_insert(now);
            if now < asked_ns + self.think_ns {
                self.resumes_ns = Some(asked_ns + self.think_ns);
            } else {
                self.made = self.made.max(self.begins);
                self.make(now, sender.next);
            }
        }
        while self.updates.first().is_some_and(|(at, _)| *at <= read) {
            let (_, limit) = self.updates.remove(0);
            self.limits.push((now, limit));
            self.make(now, sender.next);
        }
        let room = self
            .buffer
            .map_or(u64::MAX, |buffer| sender.acknowledged + buffer);
        sender.written = sender.written.max(self.made.min(room));
    }

    /// Notes raises of the stream's credit that a segment says.
    pub(super) fn hear(&mut self, updates: &[(u64, u64)]) {
        let known = self.limits.last().map_or(0, |(_, limit)| *limit);
        let news = updates.iter().filter(|(_, limit)| *limit > known);
        self.updates.extend(news);
        self.updates.sort_unstable();
        self.updates.dedup();
    }

    /// Makes more of the body, as far as the credit allows. It stops once what it made before the pause has left.
    fn make(&mut self, now: u64, sent: u64) {
        let (pause_at, pause_ns) = self.pause;
        if self.limits.is_empty() {
            self.limits.extend(self.window.map(|window| (now, window)));
        }
        if pause_ns > 0 && !self.paused && sent >= self.begins + pause_at {
            self.paused = true;
            self.resumes_ns = Some(now + pause_ns);
        }
        let is_held = self.resumes_ns.is_some() || pause_ns > 0 && !self.paused;
        let until = if is_held {
            pause_at.min(self.body)
        } else {
            self.body
        };
        let credit = self.limits.last().map_or(u64::MAX, |(_, limit)| *limit);
        loop {
            let done = self.made - self.begins;
            let length = FRAME_BYTES.min(until.min(credit).saturating_sub(done));
            if length == 0 {
                return;
            }
            self.made += length;
            self.frames.push((self.made, length));
        }
    }

    /// Reason that keeps it from handing over more.
    pub(super) fn lacks(&self, sender: &Sender) -> Data {
        let done = self.made.saturating_sub(self.begins);
        if self.made > sender.written {
            Data::SendBuffer
        } else if self.resumes_ns.is_some() {
            Data::Application
        } else if self.made >= self.begins && done < self.body {
            Data::StreamCredit
        } else {
            Data::AllSent
        }
    }
}
