// SPDX-License-Identifier: Apache-2.0
//! One direction of a connection: where its sequence numbers stand, and what is known of its sender.

use super::outstanding::Outstanding;
use super::ranges::Ranges;
use super::sent_again::Retransmissions;
use super::stream::Stream;

/// Flow of data one way.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// The initial sequence number, or one less than the first that was seen.
    initial: Option<u32>,
    /// True if `initial` is that of a SYN.
    begun: bool,
    /// The initial sequence number of another SYN, which the other end may take instead: a server that keeps no state
    /// sends several.
    rival: Option<u32>,
    /// The end of all that has been sent.
    pub(super) next: u64,
    /// Bytes below `next` that have not been seen.
    unseen: Ranges,
    /// The end of what has been acknowledged.
    pub(super) acknowledged: u64,
    /// The end of what its receiver allows.
    pub(super) limit: Option<u64>,
    /// The last window it was told.
    pub(super) window: u64,
    /// True if its receiver holds it back.
    pub(super) blocked: bool,
    /// Scale of its own windows, if it offered that.
    pub(super) window_scale: Option<u8>,
    /// True if it reports what it receives beyond a hole, and twice.
    pub(super) sack_permitted: bool,
    /// The largest segment seen.
    pub(super) largest: u64,
    /// Position of its FIN.
    pub(super) end: Option<u64>,
    pub(super) stream: Stream,
    pub(super) outstanding: Outstanding,
    pub(super) again: Retransmissions,
    /// The most in flight within this round trip and the last one, and the end of this one.
    pub(super) peak: [u64; 2],
    pub(super) round_end: u64,
    /// The last instant at which bytes were sent whose effect on what is in flight stands in no row yet.
    pub(super) untold_ns: Option<i64>,
}

/// Data that a segment brings.
pub(super) struct Arrival {
    /// True if some of its bytes had been seen before.
    pub(super) again: bool,
    /// True if it goes beyond all that has been seen.
    pub(super) new: bool,
}

impl Way {
    /// The number of `seq`, counted from the initial one; without that, the first one seen is 1.
    pub(super) fn place(&mut self, seq: u32, is_initial: bool) -> u64 {
        self.begun |= is_initial;
        let Some(initial) = self.initial else {
            let initial = seq.wrapping_sub(u32::from(!is_initial));
            self.initial = Some(initial);
            let first = u64::from(!is_initial);
            self.next = first;
            self.acknowledged = first;
            self.stream = Stream::at(1);
            return first;
        };
        self.next.saturating_add_signed(self.ahead(seq, initial))
    }

    /// Distance of `seq` beyond all that has been sent.
    fn ahead(&self, seq: u32, initial: u32) -> i64 {
        let near = u32::try_from(self.next & u64::from(u32::MAX)).unwrap_or_default();
        let ahead = seq.wrapping_sub(initial).wrapping_sub(near);
        i32::from_ne_bytes(ahead.to_ne_bytes()).into()
    }

    /// Distance of `seq` beyond all that has been sent; `None` where nothing has been seen.
    pub(super) fn distance(&self, seq: u32) -> Option<i64> {
        self.initial.map(|initial| self.ahead(seq, initial))
    }

    /// True if a number so far beyond all that has been sent lies before the first byte.
    pub(super) fn is_before_start(&self, distance: i64) -> bool {
        self.next
            .checked_add_signed(distance)
            .is_none_or(|number| number == 0)
    }

    /// True if nothing is known of its numbers.
    pub(super) fn is_unseen(&self) -> bool {
        self.initial.is_none()
    }

    /// True if its SYN has been seen.
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// True if a SYN with `seq` comes after another one.
    pub(super) fn has_begun_otherwise(&self, seq: u32) -> bool {
        self.begun && self.initial != Some(seq)
    }

    pub(super) fn remember_rival(&mut self, seq: u32) {
        self.rival = Some(seq);
    }

    /// The other end says which of several SYNs it has taken.
    pub(super) fn choose(&mut self, ack: u32) {
        let taken = self.rival.filter(|rival| rival.wrapping_add(1) == ack);
        if taken.is_some() && self.next <= 1 {
            self.initial = taken;
        }
    }

    /// True if a SYN with `seq` shows that what was seen before was of another connection.
    pub(super) fn is_begun_anew(&self, seq: u32) -> bool {
        !self.begun && self.initial.is_some_and(|initial| initial != seq)
    }

    /// Memory that grows with what is unanswered.
    pub(super) fn held_bytes(&self) -> usize {
        self.stream.held_bytes() + self.outstanding.held_bytes() + self.unseen.held_bytes()
    }

    /// True if all bytes before its FIN have been handed on.
    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some_and(|end| self.stream.next() >= end)
    }

    /// True if `seq` is that of a SYN which begins another connection.
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
