// SPDX-License-Identifier: Apache-2.0
//! The droptail queue before a transmitter.

use std::collections::VecDeque;

use crate::units::{Bytes, Nanos};

/// Bounds of a droptail queue; each one that is given holds. The packet in service counts as queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueBound {
    /// Most bytes, the new packet included.
    pub bytes: Option<Bytes>,
    /// Most packets, the new one included.
    pub packets: Option<u32>,
    /// Longest time from arrival to the last bit's departure.
    pub time: Option<Nanos>,
}

/// Packets and bytes in the queue at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Bytes, the whole packet in service included.
    pub bytes: Bytes,
    /// Packets, the one in service included.
    pub packets: u32,
}

/// The packets that have been accepted and have not left yet.
#[derive(Clone, Debug, Default)]
pub struct Backlog {
    departures: VecDeque<(Nanos, Bytes)>,
    now: Occupancy,
}

impl Backlog {
    /// Takes out all that has left at `t` and tells what remains.
    pub fn at(&mut self, t: Nanos) -> Occupancy {
        while let Some(&(departure, size)) = self.departures.front() {
            if departure > t {
                break;
            }
            self.departures.pop_front();
            self.now.bytes.0 -= size.0;
            self.now.packets -= 1;
        }
        self.now
    }

    /// Puts in a packet that will leave at `departure`.
    pub fn push(&mut self, departure: Nanos, size: Bytes) {
        self.departures.push_back((departure, size));
        self.now.bytes.0 += size.0;
        self.now.packets += 1;
    }
}

impl Occupancy {
    /// Adds one packet.
    #[must_use]
    pub(crate) fn with(self, size: Bytes) -> Self {
        Self {
            bytes: Bytes(self.bytes.0 + size.0),
            packets: self.packets + 1,
        }
    }
}

impl QueueBound {
    /// True if a packet that would leave `sojourn` after its arrival may join what is there.
    #[must_use]
    pub fn admits(&self, there: Occupancy, size: Bytes, sojourn: Nanos) -> bool {
        self.holds(there.with(size)) && self.time.is_none_or(|most| sojourn <= most)
    }

    /// True if so much may be there, in bytes and packets.
    #[must_use]
    pub fn holds(&self, there: Occupancy) -> bool {
        self.bytes.is_none_or(|most| there.bytes <= most)
            && self.packets.is_none_or(|most| there.packets <= most)
    }
}
