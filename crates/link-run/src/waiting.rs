// SPDX-License-Identifier: Apache-2.0
//! The packets of one direction that are in the link: cut up, judged by the model, and kept until they are due.

mod change;
mod messages;
mod translation;

use std::collections::HashMap;
use std::sync::Arc;

use link_core::{Bytes, Delivery, Direction, DropReason, Fate, Nanos, Packet, Verdict};

use crate::bursts::Bursts;
use crate::calendar::{Calendar, Entry};
use crate::clock::monotonic_ns;
use crate::counters::Counters;
use crate::device::Received;
use crate::log::pcapng::{self, Way};
use crate::log::record::{Action, Record, MARKED, NO_INDEX, OVERSIZED, REORDERED};
use crate::log::{Counts, Logs};
use crate::model_zero::ModelZero;
use crate::packet;
use crate::pool::{Pool, HEADROOM};
use crate::segment::Segments;
use crate::stalls::Stalls;
use crate::train;
pub use translation::SharedNat;
use translation::Translated;

/// Constants of a direction.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// 0 up, 1 down.
    pub direction: u8,
    /// Largest packet that the far end takes.
    pub mtu: u16,
    /// True if nothing slows packets down but this machine.
    pub unlimited: bool,
    /// `CLOCK_REALTIME` − `CLOCK_MONOTONIC`, for captures.
    pub realtime_minus_monotonic_ns: i64,
}

/// Packets in the link in one direction.
pub struct Waiting {
    passage: Passage,
    model: Direction,
    /// The model as it was at first, while what passes is not yet of the workload.
    unused: Option<Direction>,
    zero: Arc<ModelZero>,
    calendar: Calendar,
    /// Packets in a managed queue, by their number: their slots.
    undecided: HashMap<u32, u32>,
    bursts: Bursts,
    /// Translation of the client's ports, which both directions share.
    nat: Option<SharedNat>,
    /// Messages of the link to the end that packets come from.
    messages: Vec<Vec<u8>>,
    last_arrival_ns: u64,
    /// The packets themselves.
    pub pool: Pool,
    /// Counts of them by what happened to them.
    pub counters: Counters,
    /// Logs about them.
    pub logs: Logs,
}

impl Waiting {
    /// Nothing yet. Where the workload begins `when_told`, the model does to packets before that what it does to all,
    /// and begins anew then.
    #[must_use]
    pub fn new(
        passage: Passage,
        model: Direction,
        zero: Arc<ModelZero>,
        logs: Logs,
        bursts: Bursts,
        when_told: bool,
    ) -> Self {
        Self {
            passage,
            unused: when_told.then(|| model.clone()),
            model,
            zero,
            calendar: Calendar::default(),
            undecided: HashMap::new(),
            bursts,
            nat: None,
            messages: Vec::new(),
            last_arrival_ns: 0,
            pool: Pool::new(passage.mtu.into()),
            counters: Counters::default(),
            logs,
        }
    }

    /// Lateness of a packet that is written at `now_ns`, the one before it having been written at
    /// `wrote_ns`. Where nothing slows an end down but this machine, packets wait for those before
    /// them: there the link's own are the time that it takes for each, and all in which it stood
    /// still.
    #[must_use]
    pub fn lateness_ns(&self, slot: u32, now_ns: u64, wrote_ns: u64, stalls: &Stalls) -> u64 {
        let due_ns = self.pool.get(slot).record.due_ns;
        if self.passage.unlimited {
            let behind_others_ns = now_ns.saturating_sub(due_ns.max(wrote_ns));
            behind_others_ns.max(stalls.since_ns(due_ns))
        } else {
            now_ns.saturating_sub(due_ns)
        }
    }

    /// True if a packet of the workload came in either direction.
    #[must_use]
    pub fn model_has_begun(&self) -> bool {
        self.zero.get().is_some()
    }

    /// The workload begins: t = 0 is its first packet, which is number 0. What came before was outside the model.
    pub fn begin(&mut self) {
        let Some(unused) = self.unused.take() else {
            return;
        };
        self.model = unused;
        self.zero.clear();
        self.begin_translation();
        self.counters = Counters {
            outside_model: self.counters.outside_model + self.counters.packets_in,
            ..Counters::default()
        };
        // The model that was to decide on these is gone.
        let now_ns = monotonic_ns();
        for (_, slot) in self.undecided.drain() {
            self.pool.get_mut(slot).record.due_ns = now_ns;
            self.calendar.push(now_ns, slot);
        }
    }

    /// Takes in all packets of one read: how many. `None`: it is not to be understood.
    pub fn accept(&mut self, received: &Received<'_>) -> Option<usize> {
        let packet = received.packet;
        let segments = received
            .offload
            .filter(|_| packet::is_ip(packet))
            .and_then(|offload| Segments::new(packet, offload))?;
        // What two processors saw at once may come in either order.
        let arrival_ns = received
            .arrival_ns
            .unwrap_or_else(monotonic_ns)
            .max(self.last_arrival_ns);
        self.last_arrival_ns = arrival_ns;
        let housekeeping = packet::is_housekeeping(packet);
        let template = Record {
            arrival_ns,
            source_burst: self.bursts.count(),
            flow: packet::flow(packet),
            direction: self.passage.direction,
            ..Record::default()
        };
        for number in 0..segments.count() {
            let slot = self.pool.take();
            let entry = self.pool.get_mut(slot);
            entry.bytes.truncate(HEADROOM);
            entry.bytes.resize(HEADROOM, 0);
            segments.write(number, &mut entry.bytes);
            entry.checksum = segments.checksum();
            entry.headers = segments.headers();
            let size = entry.bytes.len() - HEADROOM;
            let kept = self.bursts.kept(entry.packet());
            entry.record = Record {
                size_bytes: u16::try_from(size).unwrap_or(u16::MAX),
                source_burst: kept.unwrap_or(template.source_burst),
                ..template
            };
            if size > self.passage.mtu.into() {
                entry.record.flags |= OVERSIZED;
                self.counters.oversized += 1;
            }
            if housekeeping {
                self.pass_outside(slot);
            } else {
                self.judge(slot, size as u64);
            }
        }
        Some(segments.count())
    }

    /// Passes a packet on at once, outside the model.
    fn pass_outside(&mut self, slot: u32) {
        self.counters.outside_model += 1;
        let record = &mut self.pool.get_mut(slot).record;
        record.index = NO_INDEX;
        record.action = Action::OutsideModel;
        record.due_ns = record.arrival_ns;
        let arrival_ns = record.arrival_ns;
        self.capture(slot, arrival_ns, Way::Outbound, None);
        self.calendar.push(arrival_ns, slot);
    }

    /// Has the model judge a packet, or wait for its verdict.
    fn judge(&mut self, slot: u32, size: u64) {
        let arrival_ns = self.pool.get(slot).record.arrival_ns;
        let port = self.translate(slot, arrival_ns);
        let entry = self.pool.get(slot);
        let packet = Packet {
            size: Bytes(size),
            flow: entry.record.flow,
            ecn: packet::ecn(entry.packet()),
            protocol: packet::protocol(entry.packet()),
            content: packet::content(entry.packet()),
            fragmentable: packet::is_fragmentable(entry.packet()),
            super_packet: Some(entry.record.source_burst),
            unmapped: port == Translated::Unmapped,
        };
        let zero_ns = self.zero.or_set(arrival_ns);
        // The other direction may have set t = 0 with a packet that came after this one and was read before.
        let at = Nanos(arrival_ns.saturating_sub(zero_ns));
        let verdict = self.model.offer(at, packet);
        self.counters.packets_in += 1;
        self.counters.bytes_in += size;
        let record = &mut self.pool.get_mut(slot).record;
        if self.unused.is_some() {
            record.index = NO_INDEX;
            record.action = Action::OutsideModel;
        } else {
            record.index = verdict.index;
        }
        let comment = match verdict.fate {
            Fate::Dropped(reason) => Some(reason.remark()),
            Fate::Delivered(_) | Fate::Waiting => None,
        };
        self.capture(slot, arrival_ns, Way::Outbound, comment);
        if comment.is_none() {
            self.set_port(slot, port);
        }
        if verdict.fate == Fate::Waiting {
            self.undecided.insert(verdict.index, slot);
        } else {
            self.execute(slot, &verdict);
        }
    }

    /// Learns what the model has decided up to `now_ns` about packets that waited.
    pub fn decide(&mut self, now_ns: u64) {
        let Some(zero_ns) = self.zero.get() else {
            return;
        };
        while let Some(verdict) = self.model.decide(Nanos(now_ns.saturating_sub(zero_ns))) {
            if let Some(slot) = self.undecided.remove(&verdict.index) {
                self.execute(slot, &verdict);
            }
            // What is read from now on and came before this decision came too late for it.
            let decided_ns = zero_ns.saturating_add(self.model.decided_until().0);
            self.last_arrival_ns = self.last_arrival_ns.max(decided_ns);
        }
    }

    /// Puts a packet in the calendar or drops it.
    fn execute(&mut self, slot: u32, verdict: &Verdict) {
        let zero_ns = self.zero.get().unwrap_or(0);
        let record = &mut self.pool.get_mut(slot).record;
        record.queue_bytes = u32::try_from(verdict.found.bytes.0).unwrap_or(u32::MAX);
        record.queue_packets = u16::try_from(verdict.found.packets).unwrap_or(u16::MAX);
        record.service_ns = u32::try_from(verdict.service.0).unwrap_or(u32::MAX);
        match verdict.fate {
            Fate::Waiting => {}
            Fate::Dropped(reason) => {
                self.counters.drop(reason);
                record.reason = reason.number();
                if record.action == Action::OutsideModel {
                    record.due_ns = record.arrival_ns; // a time that nothing waits for
                } else {
                    record.action = Action::Dropped;
                }
                self.logs.record(record);
                if reason == DropReason::TooBig {
                    self.tell_too_big(slot);
                }
                self.pool.give_back(slot);
            }
            Fate::Delivered(delivery) => {
                record.due_ns = zero_ns.saturating_add(delivery.due.0);
                self.schedule(slot, delivery);
            }
        }
    }

    /// Puts a packet, and its copy, in the calendar.
    fn schedule(&mut self, slot: u32, delivery: Delivery) {
        self.counters.reordered += u64::from(delivery.reordered);
        self.counters.duplicated += u64::from(delivery.copy.is_some());
        self.counters.marked += u64::from(delivery.marked);
        let entry = self.pool.get_mut(slot);
        if delivery.reordered {
            entry.record.flags |= REORDERED;
        }
        if delivery.marked {
            entry.record.flags |= MARKED;
            packet::mark_ce(&mut entry.bytes[HEADROOM..]);
        }
        let copy = delivery.copy.map(|copied| (self.pool.copy(slot), copied));
        let due_ns = self.pool.get(slot).record.due_ns;
        for (slot, corrupt) in [(slot, delivery.corrupt)]
            .into_iter()
            .chain(copy.map(|(slot, copied)| (slot, copied.corrupt)))
        {
            if let Some(draw) = corrupt {
                self.counters.corrupted += 1;
                self.pool.get_mut(slot).corrupt(draw);
            }
            self.calendar.push(due_ns, slot);
        }
    }

    /// The instant at which something is next to be done: a packet is due, or the model decides on one that waits.
    /// `None`: never.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        let due_ns = self.calendar.first().map(|entry| entry.due_ns);
        let decision_ns = self
            .model
            .next_decision()
            .map(|at| self.zero.get().unwrap_or(0).saturating_add(at.0));
        due_ns
            .into_iter()
            .chain(decision_ns)
            .min()
            .filter(|&at_ns| at_ns != u64::MAX)
    }

    /// Takes out the next packet that is due at `now_ns`, and with it what follows it in its super-packet and is due
    /// too.
    pub fn take_train(&mut self, now_ns: u64, longest: usize, train: &mut Vec<u32>) {
        let is_due = |entry: &Entry| entry.due_ns <= now_ns;
        if self.calendar.first().as_ref().is_some_and(is_due) {
            train.extend(self.calendar.pop().map(|entry| entry.slot));
        }
        while let (&[first, ..], &[.., last], Some(next)) =
            (&train[..], &train[..], self.calendar.first())
        {
            let [first, last] = [first, last].map(|slot| self.pool.get(slot));
            if train.len() >= longest
                || !is_due(&next)
                || !train::continues(first, last, self.pool.get(next.slot))
            {
                break;
            }
            self.calendar.pop();
            train.push(next.slot);
        }
    }

    /// Lets a packet go, with the number of its super-packet for a link behind this one.
    pub fn hand_on(&self, slot: u32) {
        let entry = self.pool.get(slot);
        self.bursts.keep(entry.packet(), entry.record.source_burst);
    }

    /// Captures a packet as it leaves its own end or reaches the other.
    pub fn capture(&mut self, slot: u32, time_ns: u64, way: Way, comment: Option<&str>) {
        let entry = self.pool.get(slot);
        let Record {
            direction, index, ..
        } = entry.record;
        let packet = pcapng::Packet {
            time_ns: time_ns.wrapping_add_signed(self.passage.realtime_minus_monotonic_ns),
            way,
            id: (index != NO_INDEX).then(|| u64::from(direction) << 32 | u64::from(index)),
            comment,
            data: entry.packet(),
        };
        self.logs.capture(&packet);
    }

    /// Logs what is still waiting.
    #[must_use]
    pub fn finish(mut self) -> (Counters, Counts) {
        let undecided = std::mem::take(&mut self.undecided);
        let mut undecided: Vec<u32> = undecided.into_values().collect();
        undecided.sort_unstable_by_key(|&slot| self.pool.get(slot).record.index);
        for slot in undecided {
            self.pool.get_mut(slot).record.due_ns = u64::MAX;
            self.calendar.push(u64::MAX, slot);
        }
        while let Some(entry) = self.calendar.pop() {
            let mut record = self.pool.get(entry.slot).record;
            if record.action == Action::Delivered {
                record.action = Action::InsideAtEnd;
                self.counters.inside_at_end += 1;
            }
            self.logs.record(&record);
        }
        let loss = self.model.loss();
        self.counters.dropped_as_asked = loss.dropped().to_vec();
        self.counters.spared_as_asked = loss.spared().to_vec();
        (self.counters, self.logs.finish())
    }
}
