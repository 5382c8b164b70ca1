// SPDX-License-Identifier: Apache-2.0
//! Controlled delay (RFC 8289): drops, or marks, while no packet of an interval waited less than the target.

use super::{Leaving, Line, Queued};
use crate::units::{Bytes, Nanos};

/// Settings of `CoDel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDel {
    /// A standing queue of so much time is accepted.
    pub target: Nanos,
    /// Time for which it may be longer; of the order of a round trip.
    pub interval: Nanos,
    /// ECN-capable packets are marked where others are dropped.
    pub ecn: bool,
}

/// The variables of RFC 8289 section 5.3.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    first_above: Option<Nanos>,
    dropping: bool,
    drop_next: Nanos,
    count: u64,
    last_count: u64,
}

impl State {
    /// True if the packet that was just taken out of `line` may be dropped (`dodequeue`).
    fn may_drop(
        &mut self,
        line_bytes: u64,
        queued: Option<&Queued>,
        settings: &CoDel,
        largest: Bytes,
        now: Nanos,
    ) -> bool {
        let waits_too_long = queued
            .is_some_and(|queued| now - queued.at >= settings.target && line_bytes > largest.0);
        if !waits_too_long {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + settings.interval);
                false
            }
            Some(first_above) => now >= first_above,
        }
    }

    /// The instant of the next drop (`control_law`): interval / √count after `t`, to the nanosecond below.
    fn schedule(&mut self, t: Nanos, settings: &CoDel) {
        let squared = u128::from(settings.interval.0).pow(2) / u128::from(self.count);
        self.drop_next = t + Nanos(u64::try_from(squared.isqrt()).unwrap_or(u64::MAX));
    }

    /// Begins to drop: where the last time is not long ago, at the rate that was found then.
    fn begin(&mut self, now: Nanos, settings: &CoDel) {
        let more = self.count - self.last_count;
        let recent = now - self.drop_next < Nanos(settings.interval.0.saturating_mul(16));
        self.dropping = true;
        self.count = if more > 1 && recent { more } else { 1 };
        self.last_count = self.count;
        self.schedule(now, settings);
    }
}

/// The packet that leaves at `now` (`dequeue`).
pub(super) fn take(
    line: &mut Line,
    settings: &CoDel,
    largest: Bytes,
    now: Nanos,
    dropped: &mut Vec<Queued>,
) -> Option<Leaving> {
    let pop = |line: &mut Line| {
        let queued = line.pop();
        let may_drop = line
            .codel
            .may_drop(line.bytes, queued.as_ref(), settings, largest, now);
        (queued, may_drop)
    };
    let marks = |queued: &Queued| settings.ecn && queued.packet.ecn.is_capable();
    let (mut queued, mut may_drop) = pop(line);
    let mut marked = false;
    if line.codel.dropping {
        line.codel.dropping = may_drop;
        while let (Some(condemned), true) = (
            queued,
            line.codel.dropping && now >= line.codel.drop_next && !marked,
        ) {
            line.codel.count += 1;
            marked = marks(&condemned);
            if !marked {
                dropped.push(condemned);
                (queued, may_drop) = pop(line);
                line.codel.dropping = may_drop;
            }
            if may_drop {
                line.codel.schedule(line.codel.drop_next, settings);
            }
        }
    } else if let (Some(condemned), true) = (queued, may_drop) {
        marked = marks(&condemned);
        if !marked {
            dropped.push(condemned);
            (queued, _) = pop(line);
        }
        line.codel.begin(now, settings);
    }
    queued.map(|queued| Leaving { queued, marked })
}
