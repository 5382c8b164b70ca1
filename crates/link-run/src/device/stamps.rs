// SPDX-License-Identifier: Apache-2.0
//! Instants at which a device was handed the packets that are read from it, where reading does not tell: a packet
//! socket beside it sees the beginning of each, with the kernel's stamp.

use std::collections::VecDeque;
use std::io;

use super::ring::{Ring, Shape};
use super::FRAME;
use crate::clock::{monotonic_ns, StampClock};

/// Bytes by which a packet is known again: all headers, and some of what follows.
const KEPT: u32 = 112;
/// More than wait in the device at most (`link_ends.py` gives it a queue of 10,000), so that none is without a stamp
/// that is read.
const FRAMES: u32 = 16_384;
/// Two processors may hand over packets in one order and have them stamped in the other, but no further apart.
const OUT_OF_ORDER: usize = 64;

/// The stamps of what leaves through a device.
#[derive(Debug)]
pub struct Stamps {
    ring: Ring,
    clock: StampClock,
    /// Stamped, and not read yet.
    sent: VecDeque<Sent>,
}

/// The beginning of a packet, and when the device had it.
#[derive(Debug)]
struct Sent {
    bytes: [u8; KEPT as usize],
    length: usize,
    stamp_ns: u64,
}

impl Stamps {
    /// Opens a packet socket on a device of this thread's namespace.
    ///
    /// # Errors
    /// If there is no such device, or no memory.
    pub fn open(device: &str) -> io::Result<Self> {
        let shape = Shape {
            takes: (0, FRAME),
            keeps: KEPT,
            frames: FRAMES,
        };
        Ok(Self {
            ring: Ring::open(device, shape)?,
            clock: StampClock::default(),
            sent: VecDeque::new(),
        })
    }

    /// The instant at which the device had this packet, which was read from it just now (`CLOCK_MONOTONIC`). `None` if
    /// its stamp found no room, in which case the device has lost packets too.
    pub fn arrival_ns(&mut self, packet: &[u8]) -> Option<u64> {
        let mut place = 0;
        while place < self.sent.len() || self.look() {
            if self.sent[place].begins(packet) {
                // What is this far behind was dropped by the device, and will never be read.
                self.sent.drain(..place.saturating_sub(OUT_OF_ORDER));
                let stamp_ns = self.sent.remove(place.min(OUT_OF_ORDER))?.stamp_ns;
                return Some(self.clock.monotonic_ns(stamp_ns, monotonic_ns()));
            }
            place += 1;
        }
        None
    }

    /// Takes the next stamp from the ring. False: there is none.
    fn look(&mut self) -> bool {
        let before = self.sent.len();
        self.ring.take(|frame| {
            let length = frame.bytes.len().min(KEPT as usize);
            let mut bytes = [0; KEPT as usize];
            bytes[..length].copy_from_slice(&frame.bytes[..length]);
            self.sent.push_back(Sent {
                bytes,
                length,
                stamp_ns: frame.stamp_ns,
            });
        });
        self.sent.len() > before
    }
}

impl Sent {
    fn begins(&self, packet: &[u8]) -> bool {
        packet.get(..packet.len().min(KEPT as usize)) == Some(&self.bytes[..self.length])
    }
}
