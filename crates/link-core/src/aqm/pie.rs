// SPDX-License-Identifier: Apache-2.0
//! Proportional integral controller enhanced (RFC 8033): drops, or marks, packets as they come, with a probability that
//! is calculated anew in each period from the wait in the queue and its change.

use crate::packet::Packet;
use crate::random::{unit_interval, Stream, StreamKey};
use crate::units::{Bytes, Nanos};

/// Probability per second of wait above the target, and per second by which the wait has grown (RFC 8033).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Up to this probability ECN-capable packets are marked; above it they are dropped.
const MOST_MARKED: f64 = 0.1;
/// Sums of probabilities below and from which no draw decides.
const NEVER_BELOW: f64 = 0.85;
const ALWAYS_FROM: f64 = 8.5;
/// The steps of probability by which the control is slowed down, and the factor of each.
const SLOWER: [(f64, f64); 6] = [
    (0.000_001, 2048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];

/// Settings of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pie {
    /// The wait that is aimed at.
    pub target: Nanos,
    /// Time between two calculations of the probability; above 0.
    pub update: Nanos,
    /// Time for which a burst passes after the queue was short.
    pub burst: Nanos,
    /// ECN-capable packets are marked where others are dropped, while the probability is small.
    pub ecn: bool,
}

/// Fate of a packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Enters,
    Marked,
    Dropped,
}

/// The variables of RFC 8033.
#[derive(Clone, Debug)]
pub(super) struct State {
    probability: f64,
    accumulated: f64,
    burst_left: Nanos,
    /// Wait of the last packet that left the queue.
    pub(super) wait: Nanos,
    last_wait: Nanos,
    next_update: Nanos,
    begun: bool,
    draws: Stream,
}

impl State {
    pub(super) fn new(key: &StreamKey) -> Self {
        Self {
            probability: 0.0,
            accumulated: 0.0,
            burst_left: Nanos::ZERO,
            wait: Nanos::ZERO,
            last_wait: Nanos::ZERO,
            next_update: Nanos::ZERO,
            begun: false,
            draws: key.stream("pie"),
        }
    }

    /// Calculates the probabilities that are due up to `now`, since when nothing came or left. `is_empty` tells that
    /// nothing waits.
    pub(super) fn run_to(&mut self, now: Nanos, settings: &Pie, is_empty: bool) {
        if !self.begun {
            self.begun = true;
            self.burst_left = settings.burst;
            self.next_update = now + settings.update;
        }
        while self.next_update <= now && self.next_update < Nanos::NEVER {
            self.update(settings, is_empty);
            self.next_update += settings.update;
        }
    }

    /// Forgets everything: the queue is under another rule.
    pub(super) fn stop(&mut self) {
        self.begun = false;
        (self.probability, self.accumulated) = (0.0, 0.0);
        (self.wait, self.last_wait) = (Nanos::ZERO, Nanos::ZERO);
    }

    /// `calculate_drop_prob`, with the auto-tuning, and the allowance for bursts.
    fn update(&mut self, settings: &Pie, is_empty: bool) {
        let wait = if is_empty { Nanos::ZERO } else { self.wait };
        let mut step = ALPHA * (seconds(wait) - seconds(settings.target))
            + BETA * (seconds(wait) - seconds(self.last_wait));
        if let Some((_, slower)) = SLOWER.iter().find(|(below, _)| self.probability < *below) {
            step /= slower;
        }
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        if wait == Nanos::ZERO && self.last_wait == Nanos::ZERO {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_left = self.burst_left - settings.update;
        let half = Nanos(settings.target.0 / 2);
        // The probability decays by a share, so it never gets to 0 by that alone.
        if self.probability <= 0.0 && wait < half && self.last_wait < half {
            self.burst_left = settings.burst;
        }
        self.last_wait = wait;
    }

    /// Judges a packet that finds so many bytes in the queue. `largest` is the size of the
    /// largest packet so far.
    pub(super) fn judge(
        &mut self,
        settings: &Pie,
        index: u32,
        packet: &Packet,
        waiting: Bytes,
        largest: Bytes,
    ) -> Fate {
        let half = Nanos(settings.target.0 / 2);
        if self.burst_left > Nanos::ZERO
            || self.last_wait < half && self.probability < 0.2
            || waiting.0 <= 2 * largest.0
        {
            return Fate::Enters;
        }
        if self.probability <= 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        let hit = unit_interval(self.draws.draw(index.into())) < self.probability;
        if self.accumulated < NEVER_BELOW || !hit && self.accumulated < ALWAYS_FROM {
            return Fate::Enters;
        }
        self.accumulated = 0.0;
        if settings.ecn && packet.ecn.is_capable() && self.probability < MOST_MARKED {
            Fate::Marked
        } else {
            Fate::Dropped
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "waits are far below 2⁵³ ns")]
fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}
