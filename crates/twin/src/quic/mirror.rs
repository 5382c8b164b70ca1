// SPDX-License-Identifier: Apache-2.0
//! The server's loss recovery as its own packets and calls show it: what is in flight, what was lost, what is to be sent
//! again. quinn says no packet number; the bytes that it declares lost do.

use std::collections::BTreeMap;

use crate::quic::told::{Heard, Told};
use crate::quic::wire::{Packet, Space};

struct Sent {
    at_ns: u64,
    bytes: u64,
    ranges: Vec<(u64, u64)>,
}

/// A packet that was declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Instant of the declaration.
    pub at_ns: u64,
    /// Instant at which it had been sent.
    pub sent_ns: u64,
    /// Packet-number space.
    pub space: Space,
    /// Packet number.
    pub number: u64,
    /// Length with header and tag.
    pub bytes: u64,
    /// True if the time threshold declared it; else reordering did.
    pub by_time: bool,
}

/// Packets that the server has sent and not heard of again.
#[derive(Default)]
pub struct Mirror {
    sent: BTreeMap<(Space, u64), Sent>,
    in_flight: u64,
    largest: BTreeMap<Space, u64>,
    /// Ranges of the response that are to be sent again.
    again: Vec<(u64, u64)>,
    /// Packets that must be acknowledged beyond a lost one (RFC 9002 section 6.1.1).
    threshold: u64,
    /// Highest offset of the response sent so far.
    pub highest: u64,
    /// Losses in the order in which they were declared.
    pub lost: Vec<Lost>,
    /// Number of times that it differed from what quinn counts: 0, or what follows from it is no
    /// truth.
    pub mistakes: u32,
}

impl Mirror {
    /// Nothing sent yet, by a sender with this packet threshold.
    pub fn new(threshold: u32) -> Self {
        Self {
            threshold: threshold.into(),
            ..Self::default()
        }
    }

    /// Bytes in flight.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// True if something is to be sent again.
    pub fn has_lost(&self) -> bool {
        !self.again.is_empty()
    }

    /// The server sends a packet; whether what it carries was lost before.
    pub fn send(&mut self, now: u64, packet: &Packet) -> bool {
        let lost = self.again.len();
        let mut ranges = Vec::new();
        for frame in packet.frames.iter().filter(|frame| frame.stream == Some(0)) {
            if let (Some(offset), Some(length)) = (frame.offset, frame.length) {
                let end = offset + length;
                self.again
                    .retain(|&(from, until)| end <= from || until <= offset);
                self.highest = self.highest.max(end);
                ranges.push((offset, end));
            }
        }
        if packet.in_flight() {
            let sent = Sent {
                at_ns: now,
                bytes: packet.length,
                ranges,
            };
            self.sent.insert((packet.space, packet.number), sent);
            self.in_flight += packet.length;
        }
        self.again.len() < lost
    }

    /// A packet of the client has come.
    pub fn receive(&mut self, packet: &Packet) {
        if packet.space == Space::Handshake {
            self.discard(Space::Initial);
        }
        for &(first, last) in packet.frames.iter().flat_map(|frame| &frame.ranges) {
            let range = (packet.space, first)..=(packet.space, last);
            let acked: Vec<_> = self.sent.range(range).map(|(key, _)| *key).collect();
            for key in acked {
                self.take(key);
            }
            let largest = self.largest.entry(packet.space).or_default();
            *largest = (*largest).max(last);
        }
    }

    /// A space is no longer in use.
    pub fn discard(&mut self, space: Space) {
        let whole = (space, 0)..=(space, u64::MAX);
        let keys: Vec<_> = self.sent.range(whole).map(|(key, _)| *key).collect();
        for key in keys {
            self.take(key);
        }
    }

    fn take(&mut self, key: (Space, u64)) -> Option<Sent> {
        let sent = self.sent.remove(&key)?;
        self.in_flight -= sent.bytes;
        Some(sent)
    }

    /// Takes in what quinn has told since, in order; what it counts in flight at the end, if it said so.
    pub fn hear(&mut self, now: u64, heard: &mut Heard) -> Option<u64> {
        let mut counted = None;
        for told in heard.told.drain(..) {
            match told {
                Told::InFlight(bytes) => counted = Some(bytes),
                Told::Lost(bytes) => {
                    counted = counted.map(|counted| counted - bytes);
                    let spaces = [Space::Data, Space::Handshake, Space::Initial];
                    let found = spaces.iter().any(|space| self.lose(now, *space, bytes));
                    self.mistakes += u32::from(!found);
                }
            }
        }
        counted
    }

    /// Holds what quinn counts in flight against what is counted here.
    pub fn check(&mut self, counted: Option<u64>) {
        self.mistakes += u32::from(counted.is_some_and(|bytes| bytes != self.in_flight()));
    }

    /// The oldest packets of a space are lost, those of so many bytes; `false` if that does not come out even.
    fn lose(&mut self, now: u64, space: Space, bytes: u64) -> bool {
        let Some(&largest) = self.largest.get(&space) else {
            return false;
        };
        let (mut numbers, mut sum) = (Vec::new(), 0);
        for (&(_, number), sent) in self.sent.range((space, 0)..(space, largest)) {
            if sum >= bytes {
                break;
            }
            sum += sent.bytes;
            numbers.push(number);
        }
        if sum != bytes {
            return false;
        }
        for number in numbers {
            let Some(sent) = self.take((space, number)) else {
                continue;
            };
            self.again.extend(&sent.ranges);
            self.lost.push(Lost {
                at_ns: now,
                sent_ns: sent.at_ns,
                space,
                number,
                bytes: sent.bytes,
                by_time: largest < number + self.threshold,
            });
        }
        true
    }
}
