// SPDX-License-Identifier: Apache-2.0
//! The packets of one packet number space that their sender waits to have acknowledged.

use std::collections::{BTreeMap, VecDeque};

/// Packets on their way that are remembered.
const MAX_SENT: usize = 1 << 15;
/// Packets called lost that are remembered, in case they are acknowledged after all.
const MAX_LOST: usize = 1 << 12;
/// Pieces of data of one packet that are remembered.
const MAX_PIECES: usize = 3;
/// RFC 9002 section 6.1.1.
const PACKET_THRESHOLD: u64 = 3;

/// Data of a packet on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece {
    pub(super) stream: u64,
    pub(super) offset: u64,
    pub(super) length: u64,
}

impl Piece {
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

/// Content of a packet, as far as its recovery matters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Content {
    pieces: [Piece; MAX_PIECES],
    count: usize,
    pub(super) ack_eliciting: bool,
    pub(super) in_flight: bool,
}

impl Content {
    pub(super) fn add(&mut self, piece: Piece) {
        if piece.length == 0 {
            return;
        }
        if let Some(slot) = self.pieces.get_mut(self.count) {
            *slot = piece;
            self.count += 1;
        }
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        self.pieces.get(..self.count).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) number: u64,
    pub(super) time_ns: i64,
    pub(super) length: u64,
    pub(super) packet_type: Option<&'static str>,
    pub(super) content: Content,
    /// True if it has been acknowledged, or called lost.
    pub(super) settled: bool,
    /// True if its data has been sent again.
    pub(super) repeated: bool,
}

#[derive(Debug, Default)]
pub(super) struct SentPackets {
    sent: VecDeque<Sent>,
    /// Lost packets by number, each with the rule that calls it lost.
    lost: BTreeMap<u64, (Sent, &'static str)>,
    largest_acked: Option<u64>,
}

impl SentPackets {
    /// Remember a packet; gives one that had to be forgotten for it.
    pub(super) fn push(&mut self, packet: Sent) -> Option<Sent> {
        self.sent.push_back(packet);
        let forgotten = if self.sent.len() > MAX_SENT {
            self.sent.pop_front()
        } else {
            None
        };
        forgotten.filter(|packet| !packet.settled)
    }

    pub(super) fn last_number(&self) -> Option<u64> {
        self.sent.back().map(|packet| packet.number)
    }

    /// A packet that is not acknowledged, and the rule if it is called lost.
    pub(super) fn unacknowledged(
        &mut self,
        number: u64,
    ) -> Option<(&mut Sent, Option<&'static str>)> {
        if let Some((packet, rule)) = self.lost.get_mut(&number) {
            return Some((packet, Some(*rule)));
        }
        let at = self
            .sent
            .binary_search_by_key(&number, |packet| packet.number)
            .ok()?;
        let packet = self.sent.get_mut(at)?;
        (!packet.settled).then_some((packet, None))
    }

    /// Settle what a range acknowledges: `each` gets every packet, and whether it had been called lost.
    pub(super) fn acknowledge(&mut self, first: u64, last: u64, mut each: impl FnMut(&Sent, bool)) {
        self.largest_acked = self.largest_acked.max(Some(last));
        while let Some((&number, _)) = self.lost.range(first..=last).next() {
            if let Some((packet, _)) = self.lost.remove(&number) {
                each(&packet, true);
            }
        }
        if self.sent.front().is_none_or(|oldest| oldest.number > last) {
            return;
        }
        let from = self.sent.partition_point(|packet| packet.number < first);
        for packet in self.sent.range_mut(from..) {
            if packet.number > last {
                break;
            }
            if !packet.settled {
                packet.settled = true;
                each(packet, false);
            }
        }
    }

    /// Call packets lost by the thresholds of RFC 9002 section 6.1; `each` gets those that leave the bytes in flight.
    pub(super) fn call_lost(&mut self, sent_before_ns: i64, mut each: impl FnMut(&Sent)) {
        let largest = self.largest_acked.unwrap_or_default();
        for packet in &mut self.sent {
            if packet.number > largest {
                break;
            }
            if packet.settled {
                continue;
            }
            let rule = if packet.number.saturating_add(PACKET_THRESHOLD) <= largest {
                "reordering_threshold"
            } else if packet.time_ns <= sent_before_ns {
                "time_threshold"
            } else {
                continue;
            };
            each(packet);
            self.lost.insert(packet.number, (*packet, rule));
            packet.settled = true;
        }
        while self.sent.front().is_some_and(|packet| packet.settled) {
            self.sent.pop_front();
        }
        while self.lost.len() > MAX_LOST {
            self.lost.pop_first();
        }
    }

    /// Bytes that are neither acknowledged nor called lost.
    pub(super) fn outstanding_bytes(&self) -> u64 {
        let outstanding = self.sent.iter().filter(|packet| !packet.settled);
        outstanding.map(|packet| packet.length).sum()
    }
}
