// SPDX-License-Identifier: Apache-2.0
//! One direction of a connection: where its sequence numbers stand, and what is known of its sender.

use super::outstanding::Outstanding;
use super::ranges::Ranges;
use super::sent_again::Retransmissions;
use super::stream::Stream;

/// What flows one way.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// The initial sequence number, or one less than the first that was seen.
    initial: Option<u32>,
    /// The end of all that has been sent.
    pub(super) next: u64,
    /// Below `next`, and not seen.
    unseen: Ranges,
    /// The end of what has been acknowledged.
    pub(super) acknowledged: u64,
    /// The end of what its receiver allows.
    pub(super) limit: Option<u64>,
    /// The last window it was told.
    pub(super) window: u64,
    /// Its receiver holds it back.
    pub(super) blocked: bool,
    /// How its own windows are scaled, if it offered that.
    pub(super) window_scale: Option<u8>,
    /// It reports what it receives beyond a hole, and twice.
    pub(super) sack_permitted: bool,
    /// The largest segment seen.
    pub(super) largest: u64,
    /// Where its FIN stands.
    pub(super) end: Option<u64>,
    pub(super) stream: Stream,
    pub(super) outstanding: Outstanding,
    pub(super) again: Retransmissions,
    /// The most in flight within this round trip and the last one, and the end of this one.
    pub(super) peak: [u64; 2],
    pub(super) round_end: u64,
    /// When bytes were last sent whose effect on what is in flight stands in no row yet.
    pub(super) untold_ns: Option<i64>,
}

/// What a segment brings.
pub(super) struct Arrival {
    /// Some of its bytes had been seen before.
    pub(super) again: bool,
    /// It goes beyond all that has been seen.
    pub(super) new: bool,
}

impl Way {
    /// The number of `seq`, counted from the initial one; without that, the first one seen is 1.
    pub(super) fn place(&mut self, seq: u32, is_initial: bool) -> u64 {
        let Some(initial) = self.initial else {
            let initial = seq.wrapping_sub(u32::from(!is_initial));
            self.initial = Some(initial);
            let first = u64::from(!is_initial);
            self.next = first;
            self.acknowledged = first;
            self.stream = Stream::at(1);
            return first;
        };
        let near = u32::try_from(self.next & u64::from(u32::MAX)).unwrap_or_default();
        let ahead = seq.wrapping_sub(initial).wrapping_sub(near);
        let ahead = i32::from_ne_bytes(ahead.to_ne_bytes());
        self.next.saturating_add_signed(ahead.into())
    }

    /// Memory that grows with what is unanswered.
    pub(super) fn held_bytes(&self) -> usize {
        self.stream.held_bytes() + self.outstanding.held_bytes() + self.unseen.held_bytes()
    }

    /// Whether all bytes before its FIN have been handed on.
    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some_and(|end| self.stream.next() >= end)
    }

    /// Whether `seq` is that of a SYN which begins another connection.
    pub(super) fn is_another_start(&self, seq: u32) -> bool {
        self.initial.is_some_and(|initial| initial != seq)
    }

    /// Note that `start..end` was seen.
    pub(super) fn see(&mut self, start: u64, end: u64) -> Arrival {
        let old_end = end.min(self.next);
        let again = start < old_end && {
            let known = (old_end - start) - self.unseen.covered(start, old_end);
            self.unseen.remove(start, old_end);
            known > 0
        };
        let new = end > self.next;
        if start > self.next {
            self.unseen.insert(self.next, start);
        }
        self.next = self.next.max(end);
        Arrival { again, new }
    }

    /// The most in flight within this and the last round trip; `ack` may end this one.
    pub(super) fn peak_in_flight(&mut self, ack: u64) -> u64 {
        let flight = self.outstanding.in_flight(self.next);
        let [last, this] = &mut self.peak;
        *this = (*this).max(flight);
        let peak = (*last).max(*this);
        if ack > self.round_end {
            (*last, *this) = (*this, flight);
            self.round_end = self.next;
        }
        peak
    }
}
