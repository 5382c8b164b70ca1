// SPDX-License-Identifier: Apache-2.0
//! The sending half: what is on its way, what is lost, what may leave.

use std::collections::VecDeque;

use crate::tcp::segment::{Segment, MSS};
use crate::tcp::window::Window;

const LEAST_RTO_NS: u64 = 200_000_000;
const FIRST_RTO_NS: u64 = 1_000_000_000;
const LONGEST_RTO_NS: u64 = 120_000_000_000;

/// Rule by which a loss was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Acknowledgments of what came beyond it tell.
    FastRetransmit,
    /// The timer tells.
    Timeout,
}

/// A lost segment as a capture at the sender's end tells of it: when it is sent again.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// Instant at which it was sent again.
    pub at_ns: u64,
    /// Instant at which the lost segment had been sent.
    pub sent_ns: u64,
    /// Position of its first byte.
    pub start: u64,
    /// Length of its payload.
    pub length: u64,
    /// Rule by which it was noticed.
    pub rule: Rule,
}

/// A state of congestion as Linux names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is lost.
    Open,
    /// Recovery by SACK.
    Recovery,
    /// Repair that a timeout began.
    Loss,
}

struct Piece {
    start: u64,
    end: u64,
    sent_ns: u64,
    arrived: bool,
    lost: Option<Rule>,
    again: bool,
}

impl Piece {
    /// True if it is to be sent again.
    fn waits(&self) -> bool {
        self.lost.is_some() && !self.again && !self.arrived
    }

    fn in_flight(&self) -> bool {
        !self.arrived && (self.lost.is_none() || self.again)
    }
}

/// Reason that stops the sending half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The congestion window.
    Window,
    /// The receive window.
    ReceiveWindow,
    /// There is nothing to send.
    Empty,
}

/// The sending half of an endpoint.
pub struct Sender {
    pieces: VecDeque<Piece>,
    /// All before this position has been acknowledged.
    pub acknowledged: u64,
    /// Position of what is to be sent for the first time next.
    pub next: u64,
    /// Position up to which the program has written.
    pub written: u64,
    edge: u64,
    /// The congestion window.
    pub window: Window,
    /// The state of congestion.
    pub phase: Phase,
    recovers_at: u64,
    rtt: Option<(u64, u64)>,
    backoff: u32,
    /// Segments that must have come beyond a hole (`DupThresh` of RFC 6675).
    enough_beyond: u32,
    timer_ns: Option<u64>,
    /// Losses in the order in which they were sent again.
    pub declared: Vec<Declared>,
    /// Instants at which the retransmission timer ended.
    pub timeouts: Vec<u64>,
    /// Segments with payload that were sent.
    pub segments_sent: u64,
    /// Segments that acknowledgments, selective ones too, say have come.
    pub delivered: u64,
    /// Instant at which the last of them was.
    sent_ns: u64,
}

impl Sender {
    /// A sender with nothing to send.
    pub fn new(window: Window, enough_beyond: u32) -> Self {
        Self {
            pieces: VecDeque::new(),
            acknowledged: 0,
            next: 0,
            written: 0,
            edge: 0,
            window,
            phase: Phase::Open,
            recovers_at: 0,
            rtt: None,
            backoff: 0,
            enough_beyond,
            timer_ns: None,
            declared: Vec::new(),
            timeouts: Vec::new(),
            segments_sent: 0,
            delivered: 0,
            sent_ns: 0,
        }
    }

    /// Segments: on their way, unacknowledged, arrived beyond a hole, lost, sent again.
    pub fn counts(&self) -> [u64; 5] {
        let count = |of: fn(&Piece) -> bool| {
            let found = self.pieces.iter().filter(|piece| of(piece)).count();
            u64::try_from(found).expect("a number of segments")
        };
        [
            count(Piece::in_flight),
            count(|_| true),
            count(|piece| piece.arrived),
            count(|piece| piece.lost.is_some() && !piece.arrived),
            count(|piece| piece.again && !piece.arrived),
        ]
    }

    /// Segments on their way.
    pub fn in_flight(&self) -> u64 {
        self.counts()[0]
    }

    /// Smoothed round-trip time.
    pub fn rtt_ns(&self) -> u64 {
        self.rtt.map_or(FIRST_RTO_NS, |(smoothed, _)| smoothed)
    }

    fn rto_ns(&self) -> u64 {
        let base = self.rtt.map_or(FIRST_RTO_NS, |(smoothed, variance)| {
            (smoothed + 4 * variance).max(LEAST_RTO_NS)
        });
        (base << self.backoff).min(LONGEST_RTO_NS)
    }

    /// Takes a sample of the round-trip time (RFC 6298 section 2).
    pub fn sample(&mut self, rtt_ns: u64) {
        self.rtt = Some(match self.rtt {
            None => (rtt_ns, rtt_ns / 2),
            Some((smoothed, variance)) => (
                (7 * smoothed + rtt_ns) / 8,
                (3 * variance + smoothed.abs_diff(rtt_ns)) / 4,
            ),
        });
    }

    /// The other end takes bytes up to there.
    pub fn allow(&mut self, edge: u64) {
        self.edge = self.edge.max(edge);
    }

    /// An acknowledgment has come.
    pub fn acknowledge(&mut self, now: u64, ack: u64, sack: &[(u64, u64)]) {
        let before = self.in_flight();
        let mut fresh = 0;
        let mut newest = None;
        while self.pieces.front().is_some_and(|piece| piece.end <= ack) {
            let piece = self.pieces.pop_front().expect("a first piece");
            fresh += 1;
            self.delivered += u64::from(!piece.arrived);
            if !piece.again && !piece.arrived {
                newest = Some(piece.sent_ns);
            }
        }
        if let Some(sent_ns) = newest {
            self.sample(now - sent_ns);
        }
        for piece in &mut self.pieces {
            let told = sack
                .iter()
                .any(|&(from, until)| from <= piece.start && piece.end <= until);
            self.delivered += u64::from(told && !piece.arrived);
            piece.arrived |= told;
        }
        let advanced = ack > self.acknowledged;
        self.acknowledged = self.acknowledged.max(ack);
        if self.phase != Phase::Open && self.acknowledged >= self.recovers_at {
            self.phase = Phase::Open;
        }
        self.notice();
        if advanced {
            self.backoff = 0;
            self.timer_ns = (!self.pieces.is_empty()).then(|| now + self.rto_ns());
            if self.phase != Phase::Recovery {
                // The window limited if it was full, or more than half of it in slow start (RFC 7661).
                let slow = self
                    .window
                    .threshold
                    .is_none_or(|at| self.window.segments < at);
                let used = if slow { 2 * before } else { before };
                let rtt_ns = self.rtt_ns();
                self.window
                    .grow(now, fresh, used >= self.window.segments, rtt_ns);
            }
        }
    }

    /// Marks what must be lost, as so much has come beyond it (RFC 6675 section 4, `IsLost`).
    fn notice(&mut self) {
        let mut beyond = 0;
        let mut news = false;
        for piece in self.pieces.iter_mut().rev() {
            if piece.arrived {
                beyond += 1;
            } else if beyond >= self.enough_beyond && piece.lost.is_none() {
                piece.lost = Some(Rule::FastRetransmit);
                news = true;
            }
        }
        if news && self.phase == Phase::Open {
            let [_, outstanding, arrived, ..] = self.counts();
            self.window.reduce(outstanding - arrived);
            self.phase = Phase::Recovery;
            self.recovers_at = self.next;
        }
    }

    /// Instant at which the retransmission timer ends.
    pub fn wakes_ns(&self) -> Option<u64> {
        self.timer_ns
    }

    /// The retransmission timer has ended (RFC 6298 section 5.4 and on): whether it had.
    pub fn wake(&mut self, now: u64) -> bool {
        if self.timer_ns.is_none_or(|at| at > now) {
            return false;
        }
        let [_, outstanding, arrived, ..] = self.counts();
        self.timeouts.push(now);
        for piece in self.pieces.iter_mut().filter(|piece| !piece.arrived) {
            (piece.lost, piece.again) = (Some(Rule::Timeout), false);
        }
        if self.phase == Phase::Loss {
            self.window.segments = self.window.segments.min(1);
        } else {
            self.window.collapse(outstanding - arrived);
        }
        self.phase = Phase::Loss;
        self.recovers_at = self.next;
        self.backoff += 1;
        self.timer_ns = Some(now + self.rto_ns());
        true
    }

    /// Reason that stops it now; `None` if something may leave.
    pub fn stop(&self) -> Option<Stop> {
        self.stops(self.in_flight() >= self.window.segments)
    }

    /// Reason that would stop it if the congestion window were full or not.
    pub fn stops(&self, full: bool) -> Option<Stop> {
        if full {
            return Some(Stop::Window);
        }
        if self.pieces.iter().any(Piece::waits) {
            return None;
        }
        if self.next >= self.written {
            return Some(Stop::Empty);
        }
        (self.next + self.fits() > self.edge).then_some(Stop::ReceiveWindow)
    }

    fn fits(&self) -> u64 {
        (self.written - self.next).min(MSS)
    }

    /// The next segment that leaves now.
    pub fn send(&mut self, now: u64) -> Option<Segment> {
        if self.stop().is_some() {
            return None;
        }
        if self.pieces.is_empty() && self.segments_sent > 0 {
            let rto_ns = self.rto_ns();
            self.window.after_idle(now - self.sent_ns, rto_ns);
        }
        self.segments_sent += 1;
        self.sent_ns = now;
        self.timer_ns = self.timer_ns.or(Some(now + self.rto_ns()));
        let lost = |piece: &&mut Piece| piece.waits();
        if let Some(piece) = self.pieces.iter_mut().find(lost) {
            self.declared.push(Declared {
                at_ns: now,
                sent_ns: piece.sent_ns,
                start: piece.start,
                length: piece.end - piece.start,
                rule: piece.lost.unwrap_or(Rule::FastRetransmit),
            });
            (piece.again, piece.sent_ns) = (true, now);
            return Some(Segment::carrying(piece.start, piece.end));
        }
        let (start, end) = (self.next, self.next + self.fits());
        self.next = end;
        self.pieces.push_back(Piece {
            start,
            end,
            sent_ns: now,
            arrived: false,
            lost: None,
            again: false,
        });
        Some(Segment::carrying(start, end))
    }
}
