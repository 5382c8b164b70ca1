// SPDX-License-Identifier: Apache-2.0
//! Bytes that one end has sent and the other has not acknowledged, as the capture shows them: for
//! samples of the round-trip time (RFC 6298, with Karn's rule), for what is in flight, and for why
//! something was sent again.

use super::ranges::Ranges;
use super::timers::{Expired, Timers};
use std::collections::VecDeque;

/// The segments of the largest window are far fewer.
const MAX_SEGMENTS: usize = 1 << 17;
/// Linux's least distance of the retransmission timeout from the smoothed round-trip time.
const RTO_MARGIN_NS: i64 = 200_000_000;
/// RFC 6298 section 2: before the first sample.
const FIRST_RTO_NS: i64 = 1_000_000_000;
/// RFC 8985 section 7.2, and Linux: how long a receiver may delay the acknowledgment of a single segment.
const DELAYED_ACK_NS: i64 = 200_000_000;
/// Time within which what follows an acknowledgment was triggered by it.
const AT_ONCE_NS: i64 = 1_000_000;
/// RFC 5681 section 3.2.
const DUPLICATE_ACKS: u32 = 3;

#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    end: u64,
    /// The last time.
    time_ns: i64,
    again: bool,
}

/// The round-trip time as a sender would know it.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_field_names, reason = "the unit")]
pub(super) struct Rtt {
    pub(super) latest_ns: i64,
    pub(super) smoothed_ns: i64,
    pub(super) variance_ns: i64,
    pub(super) min_ns: i64,
}

impl Rtt {
    fn first(sample: i64) -> Self {
        Self {
            latest_ns: sample,
            smoothed_ns: sample,
            variance_ns: sample / 2,
            min_ns: sample,
        }
    }

    fn next(self, sample: i64) -> Self {
        let off = (self.smoothed_ns - sample).abs();
        Self {
            latest_ns: sample,
            smoothed_ns: self.smoothed_ns + (sample - self.smoothed_ns) / 8,
            variance_ns: self.variance_ns + (off - self.variance_ns) / 4,
            min_ns: self.min_ns.min(sample),
        }
    }
}

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentAgain {
    /// The instant at which it had been sent, if the capture shows it.
    pub(super) sent_ns: Option<i64>,
    /// Reason, as far as it can be told.
    pub(super) rule: Option<&'static str>,
    /// The timer that made it leave.
    pub(super) expired: Option<Expired>,
}

/// The state of one sender.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    segments: VecDeque<Sent>,
    sacked: Ranges,
    /// The first byte that is not acknowledged.
    acknowledged: u64,
    duplicate_acks: u32,
    /// Ends of recovery after a timeout, and after a fast retransmission: what is sent again before they are
    /// acknowledged follows from it.
    timeout_until: u64,
    fast_until: u64,
    timers: Timers,
    pub(super) rtt: Option<Rtt>,
}

/// The sender's own samples are not quite those that a capture shows.
fn nearly(ns: i64) -> i64 {
    ns - ns / 8
}

impl Outstanding {
    /// Memory taken.
    pub(super) fn held_bytes(&self) -> usize {
        self.segments.len() * size_of::<Sent>() + self.sacked.held_bytes()
    }

    /// Forget when what was sent.
    pub(super) fn forget(&mut self) {
        self.segments = VecDeque::new();
        self.sacked = Ranges::default();
    }

    /// New bytes leave.
    /// `sack` as for [`Self::sent_again`]; the timer that made them leave, if one did: a probe may carry them, too.
    pub(super) fn sent(
        &mut self,
        start: u64,
        end: u64,
        time_ns: i64,
        sack: bool,
    ) -> Option<Expired> {
        let expired = self.probes_with(start, time_ns, sack);
        self.timers.sent(start <= self.acknowledged, time_ns);
        if self.segments.len() >= MAX_SEGMENTS {
            self.segments.pop_front();
        }
        self.segments.push_back(Sent {
            start,
            end,
            time_ns,
            again: false,
        });
        expired
    }

    /// True if new bytes from `start` on are a tail loss probe: nothing is said to be missing, and
    /// the last word is as old as RFC 8985 section 7.2 has it. A sender that merely had nothing to
    /// send would have probed by then.
    fn probes_with(&mut self, start: u64, time_ns: i64, sack: bool) -> Option<Expired> {
        let rtt = self.rtt?;
        let first = self.segments.front().filter(|first| first.start < start)?;
        let told = self.sacked.total() > 0 || self.duplicate_acks > 0 || first.again;
        if !sack || told {
            return None;
        }
        let rto_ns = self.rto_ns();
        let timeout_ns = match self.segments.len() {
            1 => (2 * rtt.smoothed_ns + DELAYED_ACK_NS).min(rto_ns),
            _ => nearly((2 * rtt.smoothed_ns).min(rto_ns)),
        };
        // Linux probes no later than its retransmission timeout would expire, which runs from the first segment.
        let silence_ns = self.timers.silence_ns(time_ns);
        let waited = silence_ns >= timeout_ns
            || silence_ns >= AT_ONCE_NS && time_ns.saturating_sub(first.time_ns) >= rto_ns;
        waited.then(|| self.timers.probe(time_ns))
    }

    /// Bytes leave once more; `next` is the end of all that has been sent. `sack`: the receiver reports what it gets
    /// beyond a hole, without which no tail is probed (RFC 8985 section 3).
    pub(super) fn sent_again(
        &mut self,
        start: u64,
        next: u64,
        time_ns: i64,
        sack: bool,
    ) -> SentAgain {
        let at = self.segments.partition_point(|sent| sent.end <= start);
        let before = self.segments.get(at).copied();
        let before = before.filter(|sent| sent.start <= start);
        let (rule, expired) = match before {
            Some(before) => self.why(start, next, time_ns, before, sack),
            None => (None, None),
        };
        if let (Some(sent), Some(_)) = (self.segments.get_mut(at), before) {
            (sent.time_ns, sent.again) = (time_ns, true);
        }
        self.timers.sent(start <= self.acknowledged, time_ns);
        SentAgain {
            sent_ns: before.map(|sent| sent.time_ns),
            rule,
            expired,
        }
    }

    fn why(
        &mut self,
        start: u64,
        next: u64,
        time_ns: i64,
        before: Sent,
        sack: bool,
    ) -> (Option<&'static str>, Option<Expired>) {
        let is_first = start <= self.acknowledged;
        let silence_ns = self.timers.silence_ns(time_ns);
        // Acknowledgments that bring nothing new do not stop the timer, but what they trigger follows them at once.
        let is_due =
            silence_ns >= AT_ONCE_NS && self.timers.running_ns(time_ns) >= nearly(self.rto_ns());
        let waited_in_vain =
            is_first && (is_due || before.again && silence_ns >= self.rto_ns() / 2);
        if !waited_in_vain && start < self.timeout_until {
            return (Some("timeout"), None);
        }
        let above = self.sacked.end().is_some_and(|end| end > start);
        let told =
            above || self.duplicate_acks >= DUPLICATE_ACKS || self.acknowledged < self.fast_until;
        if told && !waited_in_vain {
            self.fast_until = next;
            return (Some("fast_retransmit"), None);
        }
        if !waited_in_vain && self.rtt.is_some_and(|rtt| silence_ns < rtt.smoothed_ns) {
            return (None, None);
        }
        // RFC 8985 section 7.3: the probe is the last segment; a timeout begins with the first.
        if sack && !before.again && start > 0 && before.end == next {
            return (Some("tail_loss_probe"), Some(self.timers.probe(time_ns)));
        }
        self.timeout_until = next;
        (Some("timeout"), Some(self.timers.timeout(time_ns)))
    }

    fn rto_ns(&self) -> i64 {
        self.rtt.map_or(FIRST_RTO_NS, |rtt| {
            rtt.smoothed_ns + (4 * rtt.variance_ns).max(RTO_MARGIN_NS)
        })
    }

    /// Everything below `ack` has arrived; whether a sample of the round-trip time follows.
    pub(super) fn acknowledge(&mut self, ack: u64, time_ns: i64) -> bool {
        if ack <= self.acknowledged {
            return false;
        }
        self.acknowledged = ack;
        self.duplicate_acks = 0;
        self.timers.advanced(time_ns);
        let (mut newest, mut again) = (None, false);
        while let Some(sent) = self.segments.front().filter(|sent| sent.end <= ack) {
            newest = Some(*sent);
            again |= sent.again;
            self.segments.pop_front();
        }
        // What lay behind a hole arrived before the hole was filled.
        let newest = newest.filter(|_| !again);
        // What a SACK block has told of before arrived earlier than now.
        let newest = newest.filter(|sent| self.sacked.covered(sent.start, sent.end) == 0);
        self.sacked.remove(0, ack);
        self.sample(newest, time_ns)
    }

    fn sample(&mut self, arrived: Option<Sent>, time_ns: i64) -> bool {
        // Karn: what was sent twice gives no sample.
        let Some(sent) = arrived.filter(|sent| !sent.again && sent.time_ns <= time_ns) else {
            return false;
        };
        let sample = time_ns.saturating_sub(sent.time_ns);
        self.rtt = Some(match self.rtt {
            Some(rtt) => rtt.next(sample),
            None => Rtt::first(sample),
        });
        true
    }

    /// An acknowledgment says nothing new.
    pub(super) fn duplicate_ack(&mut self, time_ns: i64) {
        self.duplicate_acks = self.duplicate_acks.saturating_add(1);
        self.timers.heard(time_ns);
    }

    /// A range above the cumulative acknowledgment has arrived: whether that is news, and whether a sample follows.
    pub(super) fn sack(&mut self, start: u64, end: u64, time_ns: i64) -> (bool, bool) {
        let start = start.max(self.acknowledged);
        if start >= end || self.sacked.covered(start, end) == end - start {
            return (false, false);
        }
        self.timers.heard(time_ns);
        let at = self.segments.partition_point(|sent| sent.end < end);
        let last = self.segments.get(at).copied();
        let last =
            last.filter(|sent| sent.end == end && self.sacked.covered(sent.start, sent.end) == 0);
        self.sacked.insert(start, end);
        (true, self.sample(last, time_ns))
    }

    /// Sent and not said to have arrived: what was lost counts until it is sent again, too.
    pub(super) fn in_flight(&self, next: u64) -> u64 {
        next.saturating_sub(self.acknowledged)
            .saturating_sub(self.sacked.total())
    }
}
