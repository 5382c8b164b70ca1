// SPDX-License-Identifier: Apache-2.0
//! A managed queue and the transmitter behind it.

use std::collections::VecDeque;

use super::dual::Dual;
use super::fair::Flows;
use super::{pie, Aqm, Leaving, Line, Queued, Rule};
use crate::packet::Packet;
use crate::queue::{Occupancy, QueueBound};
use crate::random::StreamKey;
use crate::timeline::Timeline;
use crate::transmitter::Transmitter;
use crate::units::{Bytes, Nanos};
use crate::verdict::DropReason;

/// Outcome of a packet in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The packet's number in its direction.
    pub index: u32,
    /// The packet.
    pub packet: Packet,
    /// Occupancy of the queue just before it came.
    pub found: Occupancy,
    /// Time that it took to be sent.
    pub service: Nanos,
    /// Reason why it did not leave, or its departure.
    pub outcome: Result<Departure, DropReason>,
}

/// Departure of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The instant at which its last bit left.
    pub at: Nanos,
    /// True if it bears a mark that it did not come with.
    pub marked: bool,
}

#[derive(Clone, Debug)]
enum Packets {
    Together(Line),
    ByFlow(Flows),
    Dual(Box<Dual>),
}

/// A queue whose management decides when the transmitter asks for the next packet.
///
/// What becomes of a packet may follow from packets that come after it, so it is not known before its turn. What
/// happens at the same instant happens in this order: packets leave, then packets come.
#[derive(Clone, Debug)]
pub struct ManagedQueue {
    rules: Timeline<Rule>,
    packets: Packets,
    there: Occupancy,
    largest: Bytes,
    transmitter: Transmitter,
    in_service: Bytes,
    bounds: Timeline<QueueBound>,
    coming: VecDeque<(Nanos, u32, Packet)>,
    decided: VecDeque<Decision>,
    dropped: Vec<Queued>,
    /// State of PIE, where the queue is ever under it.
    pie: Option<Box<pie::State>>,
    now: Nanos,
}

impl ManagedQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(
        aqm: &Timeline<Option<Aqm>>,
        bounds: Timeline<QueueBound>,
        transmitter: Transmitter,
        key: &StreamKey,
    ) -> Self {
        let is_dual = |aqm: &Aqm| matches!(aqm.rule, Rule::DualPi2(_));
        let is_pie = |aqm: &Aqm| matches!(aqm.rule, Rule::Pie(_));
        Self {
            rules: aqm.map(|aqm| rule_of(*aqm)),
            packets: match aqm.values().flatten().find_map(|aqm| aqm.fair) {
                None if aqm.values().flatten().any(is_dual) => Packets::Dual(Box::default()),
                None => Packets::Together(Line::default()),
                Some(fair) => Packets::ByFlow(Flows::new(fair)),
            },
            there: Occupancy::default(),
            largest: Bytes(0),
            transmitter,
            in_service: Bytes(0),
            bounds,
            coming: VecDeque::new(),
            decided: VecDeque::new(),
            dropped: Vec::new(),
            pie: aqm
                .values()
                .flatten()
                .any(is_pie)
                .then(|| Box::new(pie::State::new(key))),
            now: Nanos::ZERO,
        }
    }

    /// Gives the queue other bounds from `at` on.
    pub fn set_bounds(&mut self, at: Nanos, bounds: QueueBound) {
        self.bounds.insert(at, bounds);
    }

    /// Gives the queue another management from `at` on; queues by flow stay as they are.
    pub fn set_rule(&mut self, at: Nanos, aqm: Option<Aqm>) {
        self.rules.insert(at, rule_of(aqm));
    }

    /// The transmitter behind the queue.
    pub fn transmitter(&mut self) -> &mut Transmitter {
        &mut self.transmitter
    }

    /// A packet comes at `at`, which is never before the one of the last packet, nor before [`Self::now`].
    pub fn offer(&mut self, at: Nanos, index: u32, packet: Packet) {
        self.coming.push_back((at, index, packet));
    }

    /// The instant of the last thing that happened.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// The earliest instant of the next decision, if no packet comes before.
    #[must_use]
    pub fn next(&self) -> Option<Nanos> {
        if !self.decided.is_empty() {
            return Some(self.now);
        }
        let first = self.coming.front().map(|(at, ..)| *at);
        self.serves_at()
            .or(first.map(|at| at.max(self.transmitter.free())))
    }

    /// Decides what is to be decided up to `until`, one packet at a time. What comes later must not be before `until`.
    pub fn decide(&mut self, until: Nanos) -> Option<Decision> {
        loop {
            if let Some(decision) = self.decided.pop_front() {
                return Some(decision);
            }
            let serves_at = self
                .serves_at()
                .filter(|&at| at < Nanos::NEVER && at <= until);
            let comes_at = self
                .coming
                .front()
                .map(|(at, ..)| *at)
                .filter(|&at| at <= until);
            match (serves_at, comes_at) {
                (None, None) => return None,
                (Some(serves_at), comes_at) if comes_at.is_none_or(|at| serves_at <= at) => {
                    self.now = serves_at;
                    self.serve();
                }
                _ => self.admit(),
            }
        }
    }

    /// The instant at which the transmitter takes the next packet; `None` if none is here.
    fn serves_at(&self) -> Option<Nanos> {
        (self.there.packets > 0).then(|| self.transmitter.free().max(self.now))
    }

    /// Hands the next packet to the transmitter.
    fn serve(&mut self) {
        self.update();
        let rule = self.rules.at(self.now);
        let leaving = match &mut self.packets {
            Packets::Together(line) => line.take(rule, self.largest, self.now, &mut self.dropped),
            Packets::ByFlow(flows) => flows.take(rule, self.largest, self.now, &mut self.dropped),
            Packets::Dual(dual) => match rule {
                Rule::DualPi2(settings) => dual.take(settings, self.now, &mut self.dropped),
                _ => unreachable!("two queues are there all the time or never"),
            },
        };
        while let Some(queued) = self.dropped.pop() {
            self.remove(&queued);
            self.decided.push_front(refused(&queued, DropReason::Aqm));
        }
        let Some(Leaving { queued, marked }) = leaving else {
            return;
        };
        self.remove(&queued);
        if let Some(pie) = &mut self.pie {
            pie.wait = self.now - queued.at;
        }
        let sending = self.transmitter.plan(self.now, queued.packet.size);
        self.transmitter.send(sending);
        self.in_service = queued.packet.size;
        self.decided.push_back(Decision {
            index: queued.index,
            packet: queued.packet,
            found: queued.found,
            service: sending.service,
            outcome: Ok(Departure {
                at: sending.departure,
                marked: marked || queued.marked,
            }),
        });
    }

    /// Lets the next packet in, if there is room: a queue for all refuses it, queues by flow take room from the
    /// longest.
    fn admit(&mut self) {
        let Some((at, index, packet)) = self.coming.pop_front() else {
            return;
        };
        self.now = at;
        self.largest = self.largest.max(packet.size);
        let found = self.occupancy();
        self.update();
        let mut queued = Queued {
            index,
            packet,
            at,
            found,
            marked: false,
        };
        let bound = *self.bounds.at(at);
        match &mut self.packets {
            Packets::Together(_) | Packets::Dual(_) if !bound.holds(found.with(packet.size)) => {
                self.decided
                    .push_back(refused(&queued, DropReason::QueueFull));
                return;
            }
            Packets::Together(line) => {
                let fate = match (self.rules.at(at), &mut self.pie) {
                    (Rule::Pie(settings), Some(pie)) => {
                        pie.judge(settings, index, &packet, self.there.bytes, self.largest)
                    }
                    _ => pie::Fate::Enters,
                };
                if fate == pie::Fate::Dropped {
                    self.decided.push_back(refused(&queued, DropReason::Aqm));
                    return;
                }
                queued.marked = fate == pie::Fate::Marked;
                line.push(queued);
            }
            Packets::ByFlow(flows) => flows.push(queued),
            Packets::Dual(dual) => dual.push(queued),
        }
        self.there = self.there.with(packet.size);
        while !bound.holds(self.occupancy()) {
            let Packets::ByFlow(flows) = &mut self.packets else {
                return;
            };
            let Some(victim) = flows.sacrifice() else {
                return;
            };
            self.remove(&victim);
            self.decided
                .push_back(refused(&victim, DropReason::QueueFull));
        }
    }

    /// Calculates the probabilities that were due since something happened last; under another rule PIE begins afresh.
    fn update(&mut self) {
        if let (Packets::Dual(dual), Rule::DualPi2(settings)) =
            (&mut self.packets, self.rules.at(self.now))
        {
            dual.run_to(self.now, settings);
        }
        let Some(pie) = &mut self.pie else {
            return;
        };
        match self.rules.at(self.now) {
            Rule::Pie(settings) => pie.run_to(self.now, settings, self.there.packets == 0),
            _ => pie.stop(),
        }
    }

    fn remove(&mut self, queued: &Queued) {
        self.there.bytes.0 -= queued.packet.size.0;
        self.there.packets -= 1;
    }

    /// Occupancy now, the packet in service included.
    fn occupancy(&self) -> Occupancy {
        if self.transmitter.free() > self.now {
            self.there.with(self.in_service)
        } else {
            self.there
        }
    }
}

fn rule_of(aqm: Option<Aqm>) -> Rule {
    aqm.map_or(Rule::Droptail, |aqm| aqm.rule)
}

fn refused(queued: &Queued, reason: DropReason) -> Decision {
    Decision {
        index: queued.index,
        packet: queued.packet,
        found: queued.found,
        service: Nanos::ZERO,
        outcome: Err(reason),
    }
}
