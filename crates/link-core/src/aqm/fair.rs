// SPDX-License-Identifier: Apache-2.0
//! One queue for each flow, which take turns, new flows first (RFC 8290).

use std::collections::VecDeque;

use super::{Leaving, Line, Queued, Rule};
use crate::units::{Bytes, Nanos};

/// Settings of sharing among flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fair {
    /// Bytes of a turn.
    pub quantum: Bytes,
    /// Number of queues: flows whose hashes are equal modulo this share one. At least 1.
    pub queues: u32,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    line: Line,
    credit: i64,
    listed: bool,
}

/// The queues, and whose turn it is.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    all: Vec<Flow>,
    quantum: i64,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl Flows {
    pub(super) fn new(fair: Fair) -> Self {
        Self {
            all: vec![Flow::default(); fair.queues.max(1) as usize],
            quantum: signed(fair.quantum).max(1),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// Puts a packet into its flow's queue (RFC 8290 section 4.1).
    pub(super) fn push(&mut self, queued: Queued) {
        let number = queued.packet.flow as usize % self.all.len();
        let flow = &mut self.all[number];
        flow.line.push(queued);
        if !flow.listed {
            flow.listed = true;
            flow.credit = self.quantum;
            self.new.push_back(number);
        }
    }

    /// Takes the first packet out of the queue with the most bytes, for want of room.
    pub(super) fn sacrifice(&mut self) -> Option<Queued> {
        let fattest = self
            .all
            .iter_mut()
            .rev()
            .max_by_key(|flow| flow.line.bytes)?;
        fattest.line.pop()
    }

    /// The packet that leaves at `now` (RFC 8290 section 4.2).
    pub(super) fn take(
        &mut self,
        rule: &Rule,
        largest: Bytes,
        now: Nanos,
        dropped: &mut Vec<Queued>,
    ) -> Option<Leaving> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let flow = &mut self.all[number];
            if flow.credit <= 0 {
                flow.credit += self.quantum;
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            if let Some(leaving) = flow.line.take(rule, largest, now, dropped) {
                flow.credit -= signed(leaving.queued.packet.size);
                return Some(leaving);
            }
            list.pop_front();
            if is_new {
                // Else a flow that sends one packet at a time would be new each time, and starve the others.
                self.old.push_back(number);
            } else {
                flow.listed = false;
            }
        }
    }
}

fn signed(size: Bytes) -> i64 {
    i64::try_from(size.0).unwrap_or(i64::MAX)
}
