// SPDX-License-Identifier: Apache-2.0
//! The receiving half: what has come, and when to say so.

use crate::case::Case;
use crate::tcp::segment::Segment;

const MOST_BLOCKS: usize = 3;

/// The receiving half of an endpoint.
pub struct Receiver {
    /// All before this position has come.
    pub next: u64,
    /// Ranges beyond it, latest first.
    beyond: Vec<(u64, u64)>,
    window: u64,
    /// Full segments that were not acknowledged yet.
    pending: u32,
    delayed_ns: Option<u64>,
    due: bool,
    every: u32,
    delay_ns: u64,
}

impl Receiver {
    /// A receiver whose program reads at once; `window` bytes may be on their way.
    pub fn new(case: &Case, window: Option<u64>) -> Self {
        Self {
            next: 0,
            beyond: Vec::new(),
            window: window.unwrap_or(1 << 40),
            pending: 0,
            delayed_ns: None,
            due: false,
            every: case.ack_every,
            delay_ns: case.ack_delay_ns,
        }
    }

    /// Takes a segment with payload.
    pub fn take(&mut self, now: u64, segment: &Segment) {
        let (start, end) = (segment.start, segment.start + segment.length);
        let in_order = start == self.next && self.beyond.is_empty();
        self.add(start, end);
        self.pending += 1;
        if !in_order || self.pending >= self.every {
            self.due = true;
        } else {
            self.delayed_ns = self.delayed_ns.or(Some(now + self.delay_ns));
        }
    }

    fn add(&mut self, mut start: u64, mut end: u64) {
        if end <= self.next {
            return;
        }
        start = start.max(self.next);
        self.beyond.retain(|&(from, until)| {
            let apart = until < start || from > end;
            if !apart {
                (start, end) = (start.min(from), end.max(until));
            }
            apart
        });
        if start == self.next {
            self.next = end;
        } else {
            self.beyond.insert(0, (start, end));
        }
    }

    /// True if an acknowledgment is to leave now.
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// Acknowledge at the next chance.
    pub fn prompt(&mut self) {
        self.due = true;
    }

    /// Instant at which a delayed acknowledgment leaves.
    pub fn wakes_ns(&self) -> Option<u64> {
        self.delayed_ns
    }

    /// The delay is over.
    pub fn wake(&mut self, now: u64) {
        if self.delayed_ns.is_some_and(|at| at <= now) {
            self.due = true;
            self.delayed_ns = None;
        }
    }

    /// Position of the window's right edge.
    pub fn edge(&self) -> u64 {
        self.next + self.window
    }

    /// Writes the acknowledgment into a segment that leaves.
    pub fn acknowledge(&mut self, segment: &mut Segment) {
        segment.ack = Some(self.next);
        segment.sack = self.beyond.iter().copied().take(MOST_BLOCKS).collect();
        segment.edge = self.edge();
        (self.pending, self.due, self.delayed_ns) = (0, false, None);
    }
}
