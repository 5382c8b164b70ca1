// SPDX-License-Identifier: Apache-2.0
//! Messages of the link itself, which pass outside the model.

use link_core::Nanos;

use super::Waiting;
use crate::clock::monotonic_ns;
use crate::icmp;
use crate::log::record::{Action, Record, NO_INDEX};
use crate::packet;
use crate::pool::HEADROOM;

impl Waiting {
    /// Writes to the sender of a packet that it was too big, over the other direction.
    pub(super) fn tell_too_big(&mut self, slot: u32) {
        let entry = self.pool.get(slot);
        let arrival_ns = entry.record.arrival_ns;
        let at = Nanos(arrival_ns.saturating_sub(self.zero.get().unwrap_or(arrival_ns)));
        let largest = self.model.largest_at(at).map_or(0, |bytes| bytes.0);
        let mtu = u16::try_from(largest).unwrap_or(u16::MAX);
        self.messages.extend(icmp::too_big(entry.packet(), mtu));
    }

    /// Takes the messages to the end that packets come from.
    pub fn take_messages(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.messages)
    }

    /// Delivers a message of the link itself, at once and outside the model.
    pub fn deliver(&mut self, message: &[u8]) {
        let now_ns = monotonic_ns();
        let slot = self.pool.take();
        let entry = self.pool.get_mut(slot);
        entry.bytes.truncate(HEADROOM);
        entry.bytes.resize(HEADROOM, 0);
        entry.bytes.extend_from_slice(message);
        entry.checksum = None;
        entry.headers = None;
        entry.record = Record {
            arrival_ns: now_ns,
            due_ns: now_ns,
            size_bytes: u16::try_from(message.len()).unwrap_or(u16::MAX),
            index: NO_INDEX,
            action: Action::OutsideModel,
            source_burst: self.bursts.count(),
            flow: packet::flow(message),
            direction: self.passage.direction,
            ..Record::default()
        };
        self.counters.outside_model += 1;
        self.calendar.push(now_ns, slot);
    }
}
