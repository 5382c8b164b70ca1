// SPDX-License-Identifier: Apache-2.0
//! The server's state as it is known beside quinn: what is in flight, what holds it back, its own log.

use quinn_proto::Connection;

use crate::case::Case;
use crate::quic::mirror::Mirror;
use crate::quic::program::Answer;
use crate::quic::told::Ear;
use crate::quic::wire::{Packet, Space};
use crate::state::{Data, Held, Sent, Step, Trigger};

/// A row of the server's own log: instant, window, bytes in flight.
pub type Metrics = (u64, u64, u64);

/// Observations of one server.
pub struct Observer {
    ear: Ear,
    /// Mirror of what is in flight and what was lost.
    pub mirror: Mirror,
    /// Limits of the client as they came: connection, stream.
    limits: (u64, u64),
    /// Packets that were sent since the last step.
    sent: Option<Sent>,
    /// The server's own log.
    pub metrics: Vec<Metrics>,
    /// State that held it back after each of its steps.
    pub steps: Vec<Step>,
    /// Probe timeouts.
    pub probes: Vec<u64>,
}

impl Observer {
    pub(super) fn new(case: &Case, ear: Ear) -> Self {
        Self {
            ear,
            mirror: Mirror::new(case.packet_threshold),
            limits: (
                case.receive_window.unwrap_or(u64::MAX),
                case.stream_window.unwrap_or(u64::MAX),
            ),
            sent: None,
            metrics: Vec::new(),
            steps: Vec::new(),
            probes: Vec::new(),
        }
    }

    /// Takes in what quinn tells its congestion control; what it counts in flight.
    fn listen(&mut self, now: u64) -> Option<u64> {
        let mut heard = self.ear.lock().expect("one thread");
        self.mirror.hear(now, &mut heard)
    }

    /// Follows what a timer of quinn's changes; whether packets were declared lost by it.
    pub(super) fn loses(&mut self, now: u64) -> bool {
        let before = self.mirror.lost.len();
        self.listen(now);
        self.mirror.lost.len() > before
    }

    /// Follows what the client's packets change.
    pub(super) fn follow(&mut self, now: u64, packets: &[Packet], open: Option<&Connection>) {
        for packet in packets {
            self.mirror.receive(packet);
            self.hear_limits(packet);
        }
        let counted = self.listen(now);
        // With the end of the handshake quinn forgets its packets, after it has counted.
        if open.is_some_and(|connection| !connection.is_handshaking()) {
            self.mirror.discard(Space::Handshake);
        }
        let acks = |packet: &&Packet| packet.frames.iter().any(|frame| frame.name == "ack");
        let last = packets.iter().rfind(acks).map(|packet| packet.space);
        self.mirror
            .check(counted.filter(|_| last == Some(Space::Data)));
        if let Some(connection) = open {
            self.note_metrics(now, connection);
        }
    }

    fn hear_limits(&mut self, packet: &Packet) {
        for frame in &packet.frames {
            match (frame.name, frame.value) {
                ("max_data", Some(limit)) => self.limits.0 = self.limits.0.max(limit),
                ("max_stream_data", Some(limit)) => self.limits.1 = self.limits.1.max(limit),
                _ => {}
            }
        }
    }

    /// Follows what the server sends.
    pub(super) fn send(&mut self, now: u64, packets: &[Packet]) {
        for packet in packets {
            let again = self.mirror.send(now, packet);
            let sent = if again { Sent::Again } else { Sent::New };
            self.sent = self.sent.or(packet.in_flight().then_some(sent));
        }
    }

    /// Notes a step: what the server sent after `trigger`, and what holds back more. `finished` says whether the
    /// request has come whole.
    pub(super) fn step(
        &mut self,
        now: u64,
        mut trigger: Trigger,
        connection: &Connection,
        (answer, finished): (&Answer, bool),
    ) {
        let path = connection.stats().path;
        let full = self.mirror.in_flight() + u64::from(path.current_mtu) >= path.cwnd;
        let data = self.data(answer, finished);
        let sent = self.sent.take();
        let waited = self.steps.last().map(|step| step.held);
        if trigger == Trigger::Other && sent.is_some() && waited.is_some_and(Held::waits_for_peer) {
            trigger = Trigger::ProbeTimer;
            self.probes.push(now);
        }
        let held = Held {
            window: full.then(|| self.ear.lock().expect("one thread").tightened),
            data,
            pacing: !full && data == Data::There,
        };
        self.steps.push(Step {
            at_ns: now,
            trigger,
            sent,
            held,
        });
        self.note_metrics(now, connection);
    }

    /// Reason that keeps new data back, the congestion window aside.
    fn data(&self, answer: &Answer, finished: bool) -> Data {
        if self.mirror.has_lost() || self.mirror.highest < answer.written {
            Data::There
        } else {
            answer.lacks(self.limits, finished)
        }
    }

    fn note_metrics(&mut self, now: u64, connection: &Connection) {
        let row = (now, connection.stats().path.cwnd, self.mirror.in_flight());
        let is_known = |last: &Metrics| (last.1, last.2) == (row.1, row.2);
        if !self.metrics.last().is_some_and(is_known) {
            self.metrics.push(row);
        }
    }
}
