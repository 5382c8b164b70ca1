// SPDX-License-Identifier: Apache-2.0
//! Memory for the packets that are in the link.

use crate::checksum::{self, PartialChecksum};
use crate::log::record::{Record, CORRUPTED, DUPLICATE};
use crate::segment::Headers;

/// Room before the IP header for what a device puts there.
pub const HEADROOM: usize = 24;
/// Number of buffers that are made ready at the start.
const READY: usize = 256;

/// One packet in the link.
#[derive(Debug, Default)]
pub struct Slot {
    /// [`HEADROOM`] bytes, then the IP packet.
    pub bytes: Vec<u8>,
    /// Checksum that is left to do on it.
    pub checksum: Option<PartialChecksum>,
    /// Headers of the packet, if it was cut from a super-packet.
    pub headers: Option<Headers>,
    /// Record of it in the packet log.
    pub record: Record,
}

impl Slot {
    /// The IP packet.
    #[must_use]
    pub fn packet(&self) -> &[u8] {
        &self.bytes[HEADROOM..]
    }

    /// Turns one bit over, somewhere after the first byte: the IP version in that one says what the far end is handed
    /// at all. The real checksum is completed before, so that the far end notices. `draw` is uniform over all of `u64`.
    pub fn corrupt(&mut self, draw: u64) {
        self.record.flags |= CORRUPTED;
        let packet = &mut self.bytes[HEADROOM..];
        if let Some(partial) = self.checksum.take() {
            checksum::complete(packet, partial);
        }
        let bits = (packet.len() as u128 - 1) * 8;
        let bit = usize::try_from((u128::from(draw) * bits) >> 64).unwrap_or(0);
        packet[1 + bit / 8] ^= 1 << (bit % 8);
    }
}

/// Slots that are used again: the last one freed first, as it is still in the cache.
#[derive(Debug)]
pub struct Pool {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Pool {
    /// A pool for packets of mostly up to `mtu` bytes.
    #[must_use]
    pub fn new(mtu: usize) -> Self {
        let mut pool = Self {
            slots: Vec::new(),
            free: Vec::new(),
        };
        for _ in 0..READY {
            let slot = pool.take();
            pool.get_mut(slot).bytes.resize(HEADROOM + mtu, 0);
        }
        pool.free = (0..pool.slots.len())
            .rev()
            .filter_map(|slot| u32::try_from(slot).ok())
            .collect();
        pool
    }

    /// An unused slot, whose bytes are what it last held.
    ///
    /// # Panics
    /// If 2³² packets are in the link, which no memory holds.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).expect("fewer than 2³² packets are in the link")
        })
    }

    /// A second slot with the same packet, marked as a duplicate.
    ///
    /// # Panics
    /// As [`Pool::take`].
    pub fn copy(&mut self, slot: u32) -> u32 {
        let number = self.take();
        let mut copy = std::mem::take(self.get_mut(number));
        let original = self.get(slot);
        copy.bytes.clear();
        copy.bytes.extend_from_slice(&original.bytes);
        copy.checksum = original.checksum;
        copy.headers = original.headers;
        copy.record = Record {
            flags: original.record.flags | DUPLICATE,
            ..original.record
        };
        *self.get_mut(number) = copy;
        number
    }

    /// Gives a slot back.
    pub fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// A slot in use.
    #[must_use]
    pub fn get(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    /// A slot in use.
    pub fn get_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }
}
