// SPDX-License-Identifier: Apache-2.0
//! A TCP endpoint: its connection, its two halves, and the program that it carries.

use crate::case::Case;
use crate::state::{Data, Held, Sent, Step, Trigger};
use crate::tcp::kernel::{Kernel, Sample};
use crate::tcp::program::{Client, Program, Server};
use crate::tcp::receiver::Receiver;
use crate::tcp::segment::Segment;
use crate::tcp::sender::{Sender, Stop};
use crate::tcp::window::Window;
use crate::world::Host;

const SYN_TIMER_NS: u64 = 1_000_000_000;

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
    /// State that held it back after each of its steps.
    pub steps: Vec<Step>,
}

impl Endpoint {
    /// The end that asks.
    pub fn client(case: &Case) -> Self {
        let program = Program::Client(Client::new(case));
        let mut made = Self::new(case, program, Receiver::new(case, case.receive_window));
        made.connection = Connection::Asked;
        made.syn_due = true;
        made
    }

    /// The end that answers.
    pub fn server(case: &Case) -> Self {
        let program = Program::Server(Server::new(case));
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
            Program::Client(client) => {
                if self.connection == Connection::Open {
                    client.run(read, &mut self.sender);
                }
            }
            Program::Server(server) => server.run(now, read, &mut self.sender),
        }
    }

    /// Reason that keeps new data back, the congestion window aside.
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
