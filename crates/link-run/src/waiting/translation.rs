// SPDX-License-Identifier: Apache-2.0
//! Packets get the ports that the network's translation gives the client.

use std::sync::{Arc, Mutex, PoisonError};

use super::Waiting;
use crate::nat::{self, Inward, Nat};
use crate::packet;
use crate::pool::HEADROOM;

/// Bytes that hold an IP header with all options, and the ports behind it.
const HEADERS: usize = 64;

/// The translation of a link.
pub type SharedNat = Arc<Mutex<Nat>>;

/// A packet's port behind the translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Translated {
    /// The port that it has.
    Same,
    /// This one: the source port upwards, the destination port downwards.
    To(u16),
    /// No port, as there is no mapping.
    Unmapped,
}

impl Waiting {
    /// Has the client's ports translated.
    #[must_use]
    pub fn translated_by(mut self, nat: Option<SharedNat>) -> Self {
        self.nat = nat;
        self
    }

    /// Looks up the port of a packet that came at `arrival_ns`. Its flow goes by the client's own port in both directions.
    pub(super) fn translate(&mut self, slot: u32, arrival_ns: u64) -> Translated {
        let Some(nat) = &self.nat else {
            return Translated::Same;
        };
        let now_ns = arrival_ns.saturating_sub(self.zero.get().unwrap_or(arrival_ns));
        let mut nat = nat.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = self.pool.get_mut(slot);
        if self.passage.direction == 0 {
            let port = nat.outward(entry.packet(), now_ns);
            return port.map_or(Translated::Same, Translated::To);
        }
        match nat.inward(entry.packet(), now_ns) {
            Inward::Untouched => Translated::Same,
            Inward::Unmapped => Translated::Unmapped,
            Inward::To(port) => {
                let mut begin = [0; HEADERS];
                let length = entry.packet().len().min(HEADERS);
                begin[..length].copy_from_slice(&entry.packet()[..length]);
                nat::set_destination_port(&mut begin[..length], port, false);
                entry.record.flow = packet::flow(&begin[..length]);
                Translated::To(port)
            }
        }
    }

    /// Writes the port into a packet that was not dropped.
    pub(super) fn set_port(&mut self, slot: u32, port: Translated) {
        let Translated::To(port) = port else {
            return;
        };
        let entry = self.pool.get_mut(slot);
        let whole_checksum = entry.checksum.is_none();
        let packet = &mut entry.bytes[HEADROOM..];
        if self.passage.direction == 0 {
            nat::set_source_port(packet, port, whole_checksum);
        } else {
            nat::set_destination_port(packet, port, whole_checksum);
        }
    }

    pub(super) fn begin_translation(&mut self) {
        if let Some(nat) = &self.nat {
            nat.lock().unwrap_or_else(PoisonError::into_inner).begin();
        }
    }
}
