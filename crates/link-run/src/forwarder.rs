// SPDX-License-Identifier: Apache-2.0
//! The loop that moves packets: read, stamp, cut up, judge, wait, write.

use std::io;
use std::time::Duration;

use link_core::{Bytes, Delivery, Direction, Fate, Nanos};

use crate::calendar::Calendar;
use crate::clock::monotonic_ns;
use crate::control::Control;
use crate::counters::{reason_comment, reason_number, Counters};
use crate::device::{Port, FRAME};
use crate::histogram::Histogram;
use crate::log::pcapng::{self, Way};
use crate::log::record::{Action, Record, NO_INDEX, OVERSIZED, REORDERED};
use crate::log::Logs;
use crate::packet;
use crate::pool::{Pool, HEADROOM};
use crate::segment::Segments;
use crate::timer::{Naps, Spin};

/// Packets written before the devices are looked at again: more than two reads bring, so that what is due never piles
/// up (a pile makes packets late, and cools their memory down).
const WRITES: usize = 256;
/// How often the request to stop is looked for while there is no time to sleep.
const LOOK_NS: u64 = 1_000_000;

/// One of the two directions: its packets come from one port and go to the other.
struct Lane {
    model: Direction,
    counters: Counters,
    bursts: u32,
    mtu: usize,
}

/// What went wrong outside the model.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutsideDrops {
    /// Packets that could not be read or understood.
    pub read_errors: u64,
    /// Packets that a device did not take.
    pub write_errors: u64,
    /// Packets that were lost between an end and the link, since the model's t = 0.
    pub device_drops: u64,
}

/// What a run leaves behind.
pub struct Outcome {
    /// Counts of up and down.
    pub counters: [Counters; 2],
    /// How late packets were written.
    pub lateness: Histogram,
    /// What went wrong outside the model.
    pub outside: OutsideDrops,
    /// The logs, not yet closed.
    pub logs: Logs,
    /// `CLOCK_MONOTONIC` at the model's t = 0; `None` if no packet came.
    pub model_zero_ns: Option<u64>,
}

/// Both directions of the link, in one thread.
pub struct Forwarder<'a> {
    ports: &'a mut [Box<dyn Port>; 2],
    lanes: [Lane; 2],
    pool: Pool,
    calendar: Calendar,
    logs: Logs,
    clock_offset_ns: i64,
    spin: Spin,
    naps: Naps,
    model_zero_ns: Option<u64>,
    lateness: Histogram,
    outside: OutsideDrops,
    /// What the devices had lost at the model's t = 0.
    drops_before: u64,
    /// Taken out while its content is being worked on.
    buffer: Vec<u8>,
}

impl<'a> Forwarder<'a> {
    /// `ports`, `models` and `mtus`: client and up first, then server and down.
    #[must_use]
    pub fn new(
        ports: &'a mut [Box<dyn Port>; 2],
        models: [Direction; 2],
        mtus: [u16; 2],
        logs: Logs,
        clock_offset_ns: i64,
        spin: Spin,
    ) -> Self {
        let [up, down] = models;
        let lane = |model, mtu: u16| Lane {
            model,
            counters: Counters::default(),
            bursts: 0,
            mtu: mtu.into(),
        };
        Self {
            ports,
            lanes: [lane(up, mtus[1]), lane(down, mtus[0])],
            pool: Pool::new(mtus[0].max(mtus[1]).into()),
            calendar: Calendar::default(),
            logs,
            clock_offset_ns,
            spin,
            naps: Naps::default(),
            model_zero_ns: None,
            lateness: Histogram::default(),
            outside: OutsideDrops::default(),
            drops_before: 0,
            buffer: vec![0; FRAME],
        }
    }

    /// Forwards until `control` says stop.
    ///
    /// # Errors
    /// If a device is lost.
    pub fn run(mut self, control: &Control) -> io::Result<Outcome> {
        let fds = [self.ports[0].fd(), self.ports[1].fd()];
        let mut looked_ns = monotonic_ns();
        loop {
            let read = [self.receive(0)?, self.receive(1)?];
            let wrote = self.write_due();
            let now_ns = monotonic_ns();
            self.naps.nap_if_due(now_ns);
            if now_ns - looked_ns >= LOOK_NS {
                looked_ns = now_ns;
                if control.stops() {
                    return self.finish();
                }
            }
            if read[0] || read[1] || wrote {
                continue;
            }
            let pause = self.pause();
            if pause == Some(Duration::ZERO) {
                continue;
            }
            if control.wait(fds, pause) {
                return self.finish();
            }
            self.naps.slept();
        }
    }

    /// How long there is nothing to do unless a packet comes; zero to spin, `None` for ever.
    fn pause(&mut self) -> Option<Duration> {
        let due_ns = self.calendar.first()?.due_ns;
        let sleep_ns = self.spin.sleep_ns(monotonic_ns(), due_ns);
        Some(Duration::from_nanos(sleep_ns))
    }

    /// Reads once from the port where direction `lane` starts. False: nothing was there.
    fn receive(&mut self, lane: usize) -> io::Result<bool> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let received = self.ports[lane].receive(&mut buffer);
        if let Ok(Some(received)) = received {
            let arrival_ns = monotonic_ns();
            let first = self.model_zero_ns.is_none();
            let packet = &buffer[received.start..received.end];
            let segments = received
                .offload
                .and_then(|offload| Segments::new(packet, offload));
            match segments {
                Some(segments) if packet::is_ip(packet) => {
                    self.accept(lane, packet, &segments, arrival_ns);
                }
                _ => self.outside.read_errors += 1,
            }
            if first && self.model_zero_ns.is_some() {
                // What was lost while addresses and routes were being set up is no part of the run.
                self.drops_before = self.device_drops()?;
            }
        }
        self.buffer = buffer;
        received.map(|received| received.is_some())
    }

    /// Takes in all packets of one read.
    fn accept(&mut self, lane: usize, packet: &[u8], segments: &Segments<'_>, arrival_ns: u64) {
        let housekeeping = packet::is_housekeeping(packet);
        let burst = self.lanes[lane].bursts;
        self.lanes[lane].bursts = burst.wrapping_add(1);
        let template = Record {
            arrival_ns,
            source_burst: burst,
            flow: packet::flow(packet),
            direction: u8::from(lane == 1),
            ..Record::default()
        };
        for number in 0..segments.count() {
            let slot = self.pool.take();
            let entry = self.pool.get_mut(slot);
            entry.bytes.truncate(HEADROOM);
            entry.bytes.resize(HEADROOM, 0);
            segments.write(number, &mut entry.bytes);
            entry.checksum = segments.checksum();
            let size = entry.bytes.len() - HEADROOM;
            entry.record = Record {
                size_bytes: u16::try_from(size).unwrap_or(u16::MAX),
                ..template
            };
            if size > self.lanes[lane].mtu {
                entry.record.flags |= OVERSIZED;
                self.lanes[lane].counters.oversized += 1;
            }
            if housekeeping {
                self.pass_outside(lane, slot);
            } else {
                self.judge(lane, slot, size as u64);
            }
        }
    }

    /// Passes a packet on at once, outside the model.
    fn pass_outside(&mut self, lane: usize, slot: u32) {
        self.lanes[lane].counters.outside_model += 1;
        let entry = self.pool.get_mut(slot);
        entry.record.index = NO_INDEX;
        entry.record.action = Action::OutsideModel;
        entry.record.due_ns = entry.record.arrival_ns;
        let arrival_ns = entry.record.arrival_ns;
        self.capture(lane, slot, arrival_ns, Way::Outbound, None);
        self.calendar.push(arrival_ns, slot);
    }

    /// Has the model judge a packet, and puts it in the calendar or drops it.
    fn judge(&mut self, lane: usize, slot: u32, size: u64) {
        let arrival_ns = self.pool.get(slot).record.arrival_ns;
        let zero_ns = *self.model_zero_ns.get_or_insert(arrival_ns);
        let Lane {
            model, counters, ..
        } = &mut self.lanes[lane];
        let verdict = model.offer(Nanos(arrival_ns - zero_ns), Bytes(size));
        counters.packets_in += 1;
        counters.bytes_in += size;
        let record = &mut self.pool.get_mut(slot).record;
        record.index = verdict.index;
        record.queue_bytes = u32::try_from(verdict.found.bytes.0).unwrap_or(u32::MAX);
        record.queue_packets = u16::try_from(verdict.found.packets).unwrap_or(u16::MAX);
        record.service_ns = u32::try_from(verdict.service.0).unwrap_or(u32::MAX);
        match verdict.fate {
            Fate::Dropped(reason) => {
                counters.drop(reason);
                record.action = Action::Dropped;
                record.reason = reason_number(reason);
                let record = *record;
                self.capture(
                    lane,
                    slot,
                    arrival_ns,
                    Way::Outbound,
                    Some(reason_comment(reason)),
                );
                self.logs.record(&record);
                self.pool.give_back(slot);
            }
            Fate::Delivered(delivery) => {
                record.due_ns = zero_ns.saturating_add(delivery.due.0);
                self.capture(lane, slot, arrival_ns, Way::Outbound, None);
                self.schedule(lane, slot, delivery);
            }
        }
    }

    /// Puts a packet, and its copy, in the calendar.
    fn schedule(&mut self, lane: usize, slot: u32, delivery: Delivery) {
        let Lane { counters, .. } = &mut self.lanes[lane];
        counters.reordered += u64::from(delivery.reordered);
        counters.duplicated += u64::from(delivery.copy.is_some());
        if delivery.reordered {
            self.pool.get_mut(slot).record.flags |= REORDERED;
        }
        let copy = delivery.copy.map(|copied| (self.pool.copy(slot), copied));
        let due_ns = self.pool.get(slot).record.due_ns;
        for (slot, corrupt) in [(slot, delivery.corrupt)]
            .into_iter()
            .chain(copy.map(|(slot, copied)| (slot, copied.corrupt)))
        {
            if let Some(draw) = corrupt {
                self.lanes[lane].counters.corrupted += 1;
                self.pool.get_mut(slot).corrupt(draw);
            }
            self.calendar.push(due_ns, slot);
        }
    }

    /// Writes what is due. False: nothing was.
    fn write_due(&mut self) -> bool {
        let mut written = 0;
        while written < WRITES {
            let now_ns = match self.calendar.first() {
                Some(entry) if entry.due_ns != u64::MAX => monotonic_ns(),
                _ => break,
            };
            match self.calendar.first() {
                Some(entry) if entry.due_ns <= now_ns => {
                    self.calendar.pop();
                    self.write(entry.slot, now_ns);
                    written += 1;
                }
                _ => break,
            }
        }
        written > 0
    }

    fn write(&mut self, slot: u32, now_ns: u64) {
        let entry = self.pool.get_mut(slot);
        let lane = usize::from(entry.record.direction);
        let far = 1 - lane;
        let late_ns = now_ns - entry.record.due_ns;
        entry.record.lateness_ns = i32::try_from(late_ns).unwrap_or(i32::MAX);
        let record = entry.record;
        let sent = self.ports[far].send(&mut entry.bytes, entry.checksum);
        if record.action == Action::Delivered {
            self.lateness.add(late_ns);
            self.lanes[lane].counters.delivered += 1;
            self.lanes[lane].counters.delivered_bytes += u64::from(record.size_bytes);
            // A far end whose interface is not up yet loses housekeeping packets, and nobody minds.
            self.outside.write_errors += u64::from(sent.is_err());
        }
        self.capture(far, slot, now_ns, Way::Inbound, None);
        self.logs.record(&record);
        self.pool.give_back(slot);
    }

    fn capture(&mut self, end: usize, slot: u32, time_ns: u64, way: Way, comment: Option<&str>) {
        let entry = self.pool.get(slot);
        let Record {
            direction, index, ..
        } = entry.record;
        let packet = pcapng::Packet {
            time_ns: time_ns.wrapping_add_signed(self.clock_offset_ns),
            way,
            id: (index != NO_INDEX).then(|| u64::from(direction) << 32 | u64::from(index)),
            comment,
            data: entry.packet(),
        };
        self.logs.capture(end, &packet);
    }

    fn device_drops(&mut self) -> io::Result<u64> {
        Ok(self.ports[0].drops()? + self.ports[1].drops()?)
    }

    /// Counts and logs what is still in the link.
    fn finish(mut self) -> io::Result<Outcome> {
        if self.model_zero_ns.is_some() {
            self.outside.device_drops = self.device_drops()?.saturating_sub(self.drops_before);
        }
        while let Some(entry) = self.calendar.pop() {
            let mut record = self.pool.get(entry.slot).record;
            if record.action == Action::Delivered {
                record.action = Action::InsideAtEnd;
                self.lanes[usize::from(record.direction)]
                    .counters
                    .inside_at_end += 1;
            }
            self.logs.record(&record);
        }
        Ok(Outcome {
            counters: self.lanes.map(|lane| lane.counters),
            lateness: self.lateness,
            outside: self.outside,
            logs: self.logs,
            model_zero_ns: self.model_zero_ns,
        })
    }
}
