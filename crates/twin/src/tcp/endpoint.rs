// SPDX-License-Identifier: Apache-2.0
//! A TCP endpoint with its program: the client that asks, and the server that answers.

use crate::case::Case;
use crate::state::{Data, Held, Sent, Step, Trigger};
use crate::tcp::kernel::{Kernel, Sample};
use crate::tcp::receiver::Receiver;
use crate::tcp::segment::Segment;
use crate::tcp::sender::{Sender, Stop};
use crate::tcp::window::Window;
use crate::world::Host;

/// `ClientHello`, and what follows the server's answer: Finished and the request.
pub const HELLO_BYTES: u64 = 517;
const REQUEST_BYTES: u64 = 74 + 100;
/// `WINDOW_UPDATE` of stream and connection in one TLS record.
const UPDATE_BYTES: u64 = 22 + 13 + 13;
/// The response's headers.
const HEADER_BYTES: u64 = 120;
/// Payload of a full DATA frame.
const FRAME_BYTES: u64 = 16_384;
const SYN_TIMER_NS: u64 = 1_000_000_000;

/// What the program of an end does.
pub enum Program {
    /// The end that asks.
    Client(Client),
    /// The end that answers.
    Server(Server),
}

/// The program that asks.
pub struct Client {
    /// Position at which the response ends.
    ends: u64,
    flight: u64,
    window: Option<u64>,
    raised: u64,
    asked: bool,
    /// `WINDOW_UPDATE`s in its stream: position of the end, limit.
    updates: Vec<(u64, u64)>,
}

/// The program that answers.
pub struct Server {
    flight: u64,
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
    resumes_ns: Option<u64>,
    paused: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Connection {
    Closed,
    Asked,
    Answered,
    Open,
}

/// One end.
pub struct Endpoint {
    no_headers: bool,
    connection: Connection,
    syn_ns: Option<u64>,
    syn_timer_ns: u64,
    syn_due: bool,
    /// The sending half.
    pub sender: Sender,
    receiver: Receiver,
    /// The program.
    pub program: Program,
    kernel: Option<Kernel>,
    stirred: Option<Trigger>,
    sent: Option<Sent>,
    /// What held it back after each of its steps.
    pub steps: Vec<Step>,
}

impl Endpoint {
    /// The end that asks.
    pub fn client(case: &Case) -> Self {
        let program = Program::Client(Client {
            ends: case.flight_bytes + HEADER_BYTES + case.body_bytes,
            flight: case.flight_bytes,
            window: case.stream_window,
            raised: 0,
            asked: false,
            updates: Vec::new(),
        });
        let mut made = Self::new(case, program, Receiver::new(case, case.receive_window));
        made.connection = Connection::Asked;
        made.syn_due = true;
        made
    }

    /// The end that answers.
    pub fn server(case: &Case) -> Self {
        let program = Program::Server(Server {
            flight: case.flight_bytes,
            body: case.body_bytes,
            window: case.stream_window,
            buffer: case.send_buffer,
            pause: (case.pause_at, case.pause_ns),
            pause_every: case.pause_every,
            begins: case.flight_bytes + HEADER_BYTES,
            made: 0,
            updates: Vec::new(),
            limits: Vec::new(),
            frames: Vec::new(),
            resumes_ns: None,
            paused: false,
        });
        let mut made = Self::new(case, program, Receiver::new(case, None));
        made.kernel = Some(Kernel::new(2 * case.delay_ns));
        made
    }

    fn new(case: &Case, program: Program, receiver: Receiver) -> Self {
        let window = Window::new(case);
        Self {
            no_headers: case.no_headers,
            connection: Connection::Closed,
            syn_ns: None,
            syn_timer_ns: SYN_TIMER_NS,
            syn_due: false,
            sender: Sender::new(window, case.packet_threshold),
            receiver,
            program,
            kernel: None,
            stirred: None,
            sent: None,
            steps: Vec::new(),
        }
    }

    /// The kernel's samples.
    pub fn samples(&self) -> &[Sample] {
        self.kernel.as_ref().map_or(&[], |kernel| &kernel.samples)
    }

    /// The program that answers, if this end is the server's.
    pub fn answering(&self) -> Option<&Server> {
        match &self.program {
            Program::Server(server) => Some(server),
            Program::Client(_) => None,
        }
    }

    fn run_program(&mut self, now: u64) {
        let read = self.receiver.next;
        match &mut self.program {
            Program::Client(client) => client.run(self.connection, read, &mut self.sender),
            Program::Server(server) => server.run(now, read, &mut self.sender),
        }
    }

    /// What keeps new data back, the congestion window aside.
    fn data(&self) -> Data {
        match (self.sender.stops(false), &self.program) {
            (None, _) => Data::There,
            (Some(Stop::ReceiveWindow), _) => Data::ReceiveWindow,
            (_, Program::Server(server)) => server.lacks(&self.sender),
            (_, Program::Client(_)) => Data::AllSent,
        }
    }

    fn take_syn(&mut self, now: u64, segment: &Segment) {
        match self.connection {
            Connection::Closed | Connection::Answered => {
                self.connection = Connection::Answered;
                self.syn_due = true;
            }
            Connection::Asked => {
                self.connection = Connection::Open;
                self.sender.sample(now - self.syn_ns.unwrap_or(now));
                self.receiver.prompt();
            }
            Connection::Open => self.receiver.prompt(),
        }
        self.sender.allow(segment.edge);
    }

    fn syn(&mut self, now: u64) -> Segment {
        self.syn_due = false;
        self.syn_ns.get_or_insert(now);
        let mut segment = Segment {
            syn: true,
            edge: self.receiver.edge(),
            ..Segment::carrying(0, 0)
        };
        if self.connection == Connection::Answered {
            self.receiver.acknowledge(&mut segment);
        }
        segment
    }

    fn syn_wakes_ns(&self) -> Option<u64> {
        let waits = matches!(self.connection, Connection::Asked | Connection::Answered);
        let sent_ns = self.syn_ns.filter(|_| waits)?;
        Some(sent_ns + self.syn_timer_ns)
    }

    fn stir(&mut self, trigger: Trigger) {
        if self.stirred.is_none_or(|before| before == Trigger::Other) {
            self.stirred = Some(trigger);
        }
    }
}

impl Client {
    fn run(&mut self, connection: Connection, read: u64, sender: &mut Sender) {
        if connection != Connection::Open {
            return;
        }
        sender.written = sender.written.max(HELLO_BYTES);
        if read >= self.flight && !self.asked {
            self.asked = true;
            sender.written += REQUEST_BYTES;
        }
        let Some(window) = self.window else {
            return;
        };
        let body = read.saturating_sub(self.flight + HEADER_BYTES);
        if body >= self.raised + window / 2 && read < self.ends {
            self.raised = body;
            sender.written += UPDATE_BYTES;
            self.updates.push((sender.written, body + window));
        }
    }
}

impl Server {
    fn run(&mut self, now: u64, read: u64, sender: &mut Sender) {
        if self.resumes_ns.is_some_and(|at| at <= now) {
            self.resumes_ns = None;
            if let Some(every) = self.pause_every {
                (self.pause.0, self.paused) = (self.pause.0 + every, false);
            }
        }
        if read >= HELLO_BYTES {
            self.made = self.made.max(self.flight);
        }
        if read >= HELLO_BYTES + REQUEST_BYTES {
            self.made = self.made.max(self.begins);
            self.make(now, sender.next);
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

    fn hear(&mut self, updates: &[(u64, u64)]) {
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

    fn lacks(&self, sender: &Sender) -> Data {
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

impl Host for Endpoint {
    type Packet = Segment;

    fn wakes_ns(&self) -> Option<u64> {
        let resumes_ns = self.answering().and_then(|server| server.resumes_ns);
        [
            self.syn_wakes_ns(),
            self.sender.wakes_ns(),
            self.receiver.wakes_ns(),
            resumes_ns,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn wake(&mut self, now: u64) {
        if let Some(kernel) = &mut self.kernel {
            kernel.run_to(now, &self.sender);
        }
        if self.syn_wakes_ns().is_some_and(|at| at <= now) {
            self.syn_due = true;
            self.syn_ns = None;
            self.syn_timer_ns *= 2;
        }
        self.receiver.wake(now);
        let expired = self.sender.wake(now);
        self.stir(if expired {
            Trigger::LossTimer
        } else {
            Trigger::Other
        });
        self.run_program(now);
    }

    fn receive(&mut self, now: u64, segment: Segment) {
        if let Some(kernel) = &mut self.kernel {
            kernel.run_to(now, &self.sender);
        }
        if segment.syn {
            self.take_syn(now, &segment);
        } else if let Some(ack) = segment.ack {
            if self.connection == Connection::Answered {
                self.connection = Connection::Open;
                self.sender.sample(now - self.syn_ns.unwrap_or(now));
            }
            self.sender.allow(segment.edge);
            self.sender.acknowledge(now, ack, &segment.sack);
            if segment.length > 0 {
                self.receiver.take(now, &segment);
            }
            if let Program::Server(server) = &mut self.program {
                server.hear(&segment.updates);
            }
        }
        self.stir(Trigger::Packet);
        self.run_program(now);
    }

    fn send(&mut self, now: u64) -> Option<(u64, Segment)> {
        let first = self.sender.next;
        let segment = if self.syn_due {
            Some(self.syn(now))
        } else if self.connection == Connection::Open {
            self.sender
                .send(now)
                .or_else(|| self.receiver.is_due().then(|| Segment::carrying(0, 0)))
        } else {
            None
        };
        let mut segment = segment?;
        if self.connection == Connection::Open && !segment.syn {
            self.receiver.acknowledge(&mut segment);
            if segment.length == 0 {
                segment.start = self.sender.next;
            }
            if let Program::Client(client) = &self.program {
                let carried = segment.start..segment.start + segment.length;
                let ends = |(at, _): &&(u64, u64)| carried.contains(&(at - 1));
                segment.updates = client.updates.iter().filter(ends).copied().collect();
            }
        }
        if segment.length > 0 {
            let is_new = segment.start + segment.length > first;
            self.sent = self
                .sent
                .or(Some(if is_new { Sent::New } else { Sent::Again }));
        }
        self.run_program(now);
        Some((segment.size(self.no_headers), segment))
    }

    fn settle(&mut self, now: u64) {
        let Some(trigger) = self.stirred.take() else {
            return;
        };
        let full = self.sender.in_flight() >= self.sender.window.segments;
        let data = self.data();
        if let Some(kernel) = &mut self.kernel {
            kernel.run_to(now, &self.sender);
            kernel.set(
                self.sender.in_flight() > 0 || data == Data::ReceiveWindow,
                full,
                data,
            );
        }
        let window = full.then_some(self.sender.window.tightened);
        let held = Held {
            window,
            data,
            pacing: false,
        };
        self.steps.push(Step {
            at_ns: now,
            trigger,
            sent: self.sent.take(),
            held,
        });
    }

    fn done(&self) -> bool {
        match &self.program {
            Program::Client(client) => self.receiver.next >= client.ends,
            Program::Server(_) => false,
        }
    }
}
