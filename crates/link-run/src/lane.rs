// SPDX-License-Identifier: Apache-2.0
//! One direction of the link: its packets come from one end, wait, and go to the other.

use std::io;
use std::os::fd::RawFd;

use link_core::Nanos;

use crate::clock::monotonic_ns;
use crate::config::Replaced;
use crate::counters::Counters;
use crate::device::{Lost, Sink, Source};
use crate::histogram::Histogram;
use crate::late_time::LateTime;
use crate::log::pcapng::Way;
use crate::log::record::Action;
use crate::log::Counts;
use crate::stalls::Stalls;
use crate::train;
use crate::waiting::Waiting;

/// Packets after which a turn reads no more. The far end may answer each packet of a super-packet by itself: if a turn
/// read one thing only, answers would pile up in the device until it drops them.
const READS: usize = train::LONGEST;
/// Packets written before the devices are looked at again: as many as a turn may read, so that what is due never piles
/// up (a pile makes packets late, and cools their memory down).
const WRITES: usize = 2 * READS;

/// Errors outside the model in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Errors {
    /// Packets that could not be read or understood.
    pub read: u64,
    /// Packets that a device did not take.
    pub write: u64,
}

/// Account that a direction leaves behind.
pub struct Account {
    /// Counts of its packets by what happened to them.
    pub counters: Counters,
    /// Lateness at which they were written.
    pub lateness: Histogram,
    /// The time in which they were late.
    pub late_time: LateTime,
    /// Errors outside the model.
    pub errors: Errors,
    /// Counts of what was logged.
    pub logged: Counts,
    /// Packets that got lost on the way to the link or from it, since the model's t = 0.
    pub lost: Lost,
}

/// The devices of a direction, to be closed when all else is done: that takes the kernel tens of milliseconds.
pub struct Devices {
    /// Source of its packets.
    pub source: Box<dyn Source>,
    /// Sink of its packets.
    pub sink: Box<dyn Sink>,
}

/// One of the two directions.
pub struct Lane {
    source: Box<dyn Source>,
    sink: Box<dyn Sink>,
    waiting: Waiting,
    lateness: Histogram,
    late_time: LateTime,
    errors: Errors,
    /// Losses of the devices by the model's t = 0.
    lost_before: Option<Lost>,
    train: Vec<u32>,
    /// The instant at which the last packet was written.
    wrote_ns: u64,
}

impl Lane {
    /// A direction from one device to another, which is late from so much lateness on.
    #[must_use]
    pub fn new(devices: Devices, waiting: Waiting, late_from_ns: u64) -> Self {
        let Devices { source, sink } = devices;
        Self {
            source,
            sink,
            waiting,
            lateness: Histogram::default(),
            late_time: LateTime::new(late_from_ns),
            errors: Errors::default(),
            lost_before: None,
            train: Vec::with_capacity(train::LONGEST),
            wrote_ns: 0,
        }
    }

    /// The workload begins.
    pub fn begin(&mut self) {
        self.waiting.begin();
        self.lost_before = None;
    }

    /// Changes the settings of its direction; see [`Waiting::change`].
    pub fn change(&mut self, at: Nanos, replaced: &Replaced) {
        self.waiting.change(at, replaced);
    }

    /// The reason why it cannot change to that, if there is one.
    #[must_use]
    pub fn why_not(&self, replaced: &Replaced) -> Option<&'static str> {
        if self.waiting.is_to_begin() {
            return Some("the workload has not begun; change it then");
        }
        let managed = replaced.after.aqm.values().any(Option::is_some);
        (managed && !self.waiting.is_managed()).then_some(
            "aqm: a queue without management cannot get one while the link runs; begin with one",
        )
    }

    /// Takes the messages of the link to the end that its packets come from.
    pub fn take_messages(&mut self) -> Vec<Vec<u8>> {
        self.waiting.take_messages()
    }

    /// Delivers a message of the link itself to the far end.
    pub fn deliver(&mut self, message: &[u8]) {
        self.waiting.deliver(message);
    }

    /// Files to wait for.
    #[must_use]
    pub fn fds(&self) -> Vec<RawFd> {
        self.source.fds()
    }

    /// The instant at which something is to be done even if no packet comes.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        self.waiting.next_ns()
    }

    /// Reads and writes what is there and what is due. False: nothing was.
    ///
    /// # Errors
    /// If a device is lost.
    pub fn turn(&mut self, stalls: &mut Stalls) -> io::Result<bool> {
        let mut packets = 0;
        let mut read = false;
        while (packets < READS || self.source.is_crowded()) && self.receive(&mut packets)? {
            stalls.look(monotonic_ns());
            read = true;
        }
        Ok(self.write_due(stalls) || read)
    }

    /// Reads once, and adds the packets of what was read. False: nothing was there.
    fn receive(&mut self, packets: &mut usize) -> io::Result<bool> {
        let (waiting, errors) = (&mut self.waiting, &mut self.errors);
        let received = self
            .source
            .receive(&mut |received| match waiting.accept(&received) {
                Some(accepted) => *packets += accepted,
                None => errors.read += 1,
            })?;
        if received && self.lost_before.is_none() && self.waiting.model_has_begun() {
            // What was lost while addresses and routes were being set up is no part of the run.
            self.lost_before = Some(self.source.lost()?);
        }
        Ok(received)
    }

    /// Writes what is due. False: nothing was.
    fn write_due(&mut self, stalls: &mut Stalls) -> bool {
        let mut written = 0;
        while written < WRITES {
            let Some(next_ns) = self.waiting.next_ns() else {
                break;
            };
            let now_ns = monotonic_ns();
            stalls.look(now_ns);
            if next_ns > now_ns {
                break;
            }
            self.waiting.decide(now_ns);
            let longest = if self.sink.takes_trains() {
                train::LONGEST
            } else {
                1
            };
            self.train.clear();
            self.waiting.take_train(now_ns, longest, &mut self.train);
            if !self.train.is_empty() {
                written += self.train.len();
                self.write(now_ns, stalls);
            }
        }
        written > 0
    }

    fn write(&mut self, now_ns: u64, stalls: &Stalls) {
        let sent = self.sink.send(&mut self.waiting.pool, &self.train);
        for &slot in &self.train {
            let wrote_ns = self.wrote_ns;
            let own_ns = self.waiting.lateness_ns(slot, now_ns, wrote_ns, stalls);
            let record = &mut self.waiting.pool.get_mut(slot).record;
            let late_ns = now_ns.saturating_sub(record.due_ns);
            record.lateness_ns = i32::try_from(late_ns).unwrap_or(i32::MAX);
            let record = *record;
            if record.action == Action::Delivered {
                self.lateness.add(own_ns);
                self.late_time.add(now_ns, own_ns);
                self.waiting.counters.delivered += 1;
                self.waiting.counters.delivered_bytes += u64::from(record.size_bytes);
                // A far end whose interface is not up yet loses housekeeping packets, which does not matter.
                self.errors.write += u64::from(sent.is_err());
            }
            self.waiting.hand_on(slot);
            self.waiting.capture(slot, now_ns, Way::Inbound, None);
            self.waiting.logs.record(&record);
            self.waiting.pool.give_back(slot);
        }
        self.wrote_ns = now_ns;
    }

    /// Hands logs to their writer, if it is time to; else says when it will be. To be called every now and then.
    pub fn hand_logs_over(&mut self, now_ns: u64) -> Option<u64> {
        self.waiting.logs.hand_over(now_ns)
    }

    /// Counts and logs what is still waiting.
    ///
    /// # Errors
    /// If a device is lost.
    pub fn finish(mut self) -> io::Result<(Account, Devices)> {
        let lost = match self.lost_before {
            Some(before) => self.source.lost()?.since(before),
            None => Lost::default(),
        };
        let (counters, logged) = self.waiting.finish();
        let account = Account {
            counters,
            lateness: self.lateness,
            late_time: self.late_time,
            errors: self.errors,
            logged,
            lost,
        };
        let (source, sink) = (self.source, self.sink);
        Ok((account, Devices { source, sink }))
    }
}
