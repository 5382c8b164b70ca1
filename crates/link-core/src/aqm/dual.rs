// SPDX-License-Identifier: Apache-2.0
//! Two coupled queues (RFC 9332): one for L4S, which is marked early, and one for all others under PI², whose
//! probability, squared there, is coupled to the other.

use super::{Leaving, Line, Queued};
use crate::packet::Ecn;
use crate::units::Nanos;

/// Gains of the controller for each update, per second (RFC 9332 appendix A.1).
const ALPHA: f64 = 0.16;
const BETA: f64 = 3.2;
/// Coupling factor k: packets of L4S are marked with k times the base probability.
pub(super) const COUPLING: f64 = 2.0;
/// Bytes of L4S that leave for each byte of the other queue, while packets wait in both.
const LOW_FOR_CLASSIC: u64 = 9;

/// Settings of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2 {
    /// The wait that is aimed at in the queue that is not of L4S.
    pub target: Nanos,
    /// Time between two calculations of the base probability; above 0.
    pub update: Nanos,
    /// Wait above which every packet of L4S is marked.
    pub threshold: Nanos,
}

/// Both queues, and the controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Dual {
    low: Line,
    classic: Line,
    /// The base probability p'.
    base: f64,
    low_sum: f64,
    classic_sum: f64,
    /// Bytes of L4S that left while others waited, less those that these had for them.
    owed: u64,
    last_wait: Nanos,
    next_update: Option<Nanos>,
}

impl Dual {
    /// Puts a packet into the queue that its ECN field names (RFC 9331).
    pub(super) fn push(&mut self, queued: Queued) {
        match queued.packet.ecn {
            Ecn::Ect1 | Ecn::Ce => self.low.push(queued),
            Ecn::NotEct | Ecn::Ect0 => self.classic.push(queued),
        }
    }

    /// Calculates the probabilities that are due up to `now`, since when nothing came or left.
    pub(super) fn run_to(&mut self, now: Nanos, settings: &DualPi2) {
        let mut due = self.next_update.unwrap_or(now + settings.update);
        while due <= now && due < Nanos::NEVER {
            let wait = self.low.wait(due).max(self.classic.wait(due));
            let step = ALPHA * (seconds(wait) - seconds(settings.target))
                + BETA * (seconds(wait) - seconds(self.last_wait));
            self.base = (self.base + step).clamp(0.0, 1.0);
            self.last_wait = wait;
            due += settings.update;
        }
        self.next_update = Some(due);
    }

    /// The packet that leaves at `now`; those that are dropped before are appended to `dropped`.
    pub(super) fn take(
        &mut self,
        settings: &DualPi2,
        now: Nanos,
        dropped: &mut Vec<Queued>,
    ) -> Option<Leaving> {
        let coupled = COUPLING * self.base;
        // Marks say no more than "all": what is too much then is dropped in both queues alike.
        let overloaded = coupled >= 1.0;
        loop {
            if self.takes_low() {
                let queued = self.low.pop()?;
                if overloaded && recurs(&mut self.classic_sum, self.base * self.base) {
                    dropped.push(queued);
                    continue;
                }
                let late = now - queued.at > settings.threshold;
                let chance = if late { 1.0 } else { coupled.min(1.0) };
                let marked = recurs(&mut self.low_sum, chance);
                return Some(Leaving { queued, marked });
            }
            let queued = self.classic.pop()?;
            let hit = recurs(&mut self.classic_sum, self.base * self.base);
            let marked = hit && queued.packet.ecn.is_capable() && !overloaded;
            if hit && !marked {
                dropped.push(queued);
                continue;
            }
            return Some(Leaving { queued, marked });
        }
    }

    /// True if the next packet is one of L4S: they go first, but for a tenth of the bytes.
    fn takes_low(&mut self) -> bool {
        let size = |line: &Line| line.packets.front().map(|queued| queued.packet.size.0);
        let (Some(low), Some(classic)) = (size(&self.low), size(&self.classic)) else {
            self.owed = 0;
            return !self.low.packets.is_empty();
        };
        if self.owed >= LOW_FOR_CLASSIC * classic {
            self.owed -= LOW_FOR_CLASSIC * classic;
            return false;
        }
        self.owed += low;
        true
    }
}

/// True each time that the sum of the probabilities has grown by one: as often as by chance, but evenly.
fn recurs(sum: &mut f64, probability: f64) -> bool {
    *sum += probability;
    let recurs = *sum >= 1.0;
    if recurs {
        *sum -= 1.0;
    }
    recurs
}

#[expect(clippy::cast_precision_loss, reason = "waits are far below 2⁵³ ns")]
fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}
