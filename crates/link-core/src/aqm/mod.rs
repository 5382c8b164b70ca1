// SPDX-License-Identifier: Apache-2.0
//! Active queue management: which packet leaves next, and which are dropped or marked on that occasion.

mod codel;
mod dual;
mod fair;
mod managed;
mod pie;

use std::collections::VecDeque;

pub use codel::CoDel;
pub use dual::DualPi2;
pub use fair::Fair;
pub use managed::ManagedQueue;
pub use pie::Pie;

use crate::packet::{Ecn, Packet};
use crate::queue::Occupancy;
use crate::units::{Bytes, Nanos};

/// Management of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aqm {
    /// Treatment of a packet as it leaves the queue.
    pub rule: Rule,
    /// One queue for each flow; `None` is one for all.
    pub fair: Option<Fair>,
}

/// Treatment of a packet as it leaves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nothing: there is no management at the moment.
    Droptail,
    /// Drops or marks while packets keep waiting too long (RFC 8289).
    CoDel(CoDel),
    /// Drops or marks packets as they come, with a probability that follows the wait (RFC 8033).
    Pie(Pie),
    /// Two queues, one of them for L4S, under one controller (RFC 9332). It holds all the time or never.
    DualPi2(DualPi2),
    /// Marks every ECT(1) packet that waited longer than the threshold, as L4S wants it (RFC 9331); drops none.
    Step {
        /// Longest time in the queue without a mark.
        threshold: Nanos,
    },
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug)]
struct Queued {
    index: u32,
    packet: Packet,
    at: Nanos,
    found: Occupancy,
    /// Marked as it came.
    marked: bool,
}

/// Packet that a queue hands out.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    queued: Queued,
    marked: bool,
}

/// Packets, first in, first out, and what the rule remembers of them.
#[derive(Clone, Debug, Default)]
struct Line {
    packets: VecDeque<Queued>,
    bytes: u64,
    codel: codel::State,
}

impl Line {
    fn push(&mut self, queued: Queued) {
        self.bytes += queued.packet.size.0;
        self.packets.push_back(queued);
    }

    fn pop(&mut self) -> Option<Queued> {
        let queued = self.packets.pop_front()?;
        self.bytes -= queued.packet.size.0;
        Some(queued)
    }

    /// Time for which the first packet has waited at `t`; none where there is no packet.
    fn wait(&self, t: Nanos) -> Nanos {
        self.packets
            .front()
            .map_or(Nanos::ZERO, |first| t - first.at)
    }

    /// The next packet under a rule; those that it drops before are appended to `dropped`. `largest` is the size of
    /// the largest packet so far.
    fn take(
        &mut self,
        rule: &Rule,
        largest: Bytes,
        now: Nanos,
        dropped: &mut Vec<Queued>,
    ) -> Option<Leaving> {
        match rule {
            Rule::Droptail | Rule::Pie(_) | Rule::DualPi2(_) => self.pop().map(|queued| Leaving {
                queued,
                marked: false,
            }),
            Rule::CoDel(settings) => codel::take(self, settings, largest, now, dropped),
            Rule::Step { threshold } => self.pop().map(|queued| Leaving {
                queued,
                marked: queued.packet.ecn == Ecn::Ect1 && now - queued.at > *threshold,
            }),
        }
    }
}
