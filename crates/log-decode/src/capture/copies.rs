// SPDX-License-Identifier: Apache-2.0
//! Packets that a capture of several interfaces shows more than once on their way through the machine.

use super::headers::{self, Headers};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Longest time of a packet through a machine; a later copy was sent again.
const MAX_TRANSIT_NS: u64 = 100_000_000;
/// Packets that are remembered.
const SLOTS: usize = 1 << 12;
/// Part of a packet that is compared: its transport header, and enough of its content.
const COMPARED_BYTES: usize = 128;

/// A packet as it was first seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    hash: u64,
    interface: u32,
    time_ns: i64,
}

/// The packets seen last.
#[derive(Debug, Default)]
pub(super) struct Copies {
    seen: Vec<Seen>,
}

impl Copies {
    /// True for a packet that another interface has shown just before. Nothing is a copy where interfaces are not told.
    pub(super) fn is_copy(
        &mut self,
        time_ns: i64,
        interface: Option<u32>,
        headers: &Headers,
        packet: &[u8],
    ) -> bool {
        let (Some(interface), Some(at), false) =
            (interface, headers.transport_at, headers.fragment)
        else {
            return false;
        };
        // Filled in by the network card where it leaves the machine, and not before.
        let checksum = match headers.protocol {
            Some(headers::TCP) => 16..18,
            Some(headers::UDP) => 6..8,
            _ => return false,
        };
        let bytes = packet.get(at..).unwrap_or_default();
        let bytes = bytes
            .get(..bytes.len().min(COMPARED_BYTES))
            .unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        (headers.addresses, headers.payload_bytes).hash(&mut hasher);
        bytes.get(..checksum.start).hash(&mut hasher);
        bytes.get(checksum.end..).hash(&mut hasher);
        let hash = hasher.finish();
        if self.seen.is_empty() {
            self.seen.resize(SLOTS, Seen::default());
        }
        let Some(slot) = self
            .seen
            .get_mut(usize::try_from(hash % SLOTS as u64).unwrap_or_default())
        else {
            return false;
        };
        let is_known = slot.hash == hash && time_ns.abs_diff(slot.time_ns) <= MAX_TRANSIT_NS;
        if is_known && slot.interface != interface {
            return true;
        }
        *slot = Seen {
            hash,
            interface,
            time_ns,
        };
        false
    }
}
