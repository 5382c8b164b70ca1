// SPDX-License-Identifier: Apache-2.0
//! Constant delay, and jitter around it.

use crate::distribution::{Distribution, UNIT};
use crate::random::{Stream, StreamKey};
use crate::sawtooth::Sawtooth;
use crate::timeline::Timeline;
use crate::units::Nanos;

/// Whether jitter may turn packets around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Packets keep their order: the jitter is a process in time, which forgets half of itself in each `half_life`.
    InOrder {
        /// The time after which half of the correlation is left; at least [`Jitter::least_half_life`].
        half_life: Nanos,
    },
    /// Each packet by itself, as netem does without a rate: later ones may overtake.
    Reorder,
}

/// Variation of the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Shape of the distribution.
    pub distribution: Distribution,
    /// Size of the variation, see [`Distribution`].
    pub scale: Nanos,
    /// Whether packets may overtake.
    pub order: Order,
}

impl Jitter {
    /// The shortest half-life with which jitter in order can have its distribution.
    #[must_use]
    pub fn least_half_life(distribution: Distribution, scale: Nanos) -> Nanos {
        Sawtooth::least_half_life(distribution, scale)
    }
}

/// Jitter that is running, of so many nanoseconds a scale.
#[derive(Clone, Debug)]
enum Running {
    InOrder(f64, Box<Sawtooth>),
    Reorder(Nanos, Vec<i32>),
}

/// The stage that adds delay and jitter.
#[derive(Clone, Debug)]
pub struct DelayStage {
    delays: Timeline<Nanos>,
    jitters: Timeline<Option<Running>>,
    draws: Stream,
    last_due: Nanos,
}

impl DelayStage {
    /// Delays and jitters of one direction over time.
    #[must_use]
    pub fn new(
        delays: Timeline<Nanos>,
        jitters: &Timeline<Option<Jitter>>,
        key: &StreamKey,
    ) -> Self {
        let jitters = jitters.map(|at, jitter| jitter.map(|jitter| Running::new(jitter, at, key)));
        Self {
            delays,
            jitters,
            draws: key.stream("jitter"),
            last_due: Nanos::ZERO,
        }
    }

    /// The instant at which packet `index`, which enters at `t`, comes out. `t` never goes back.
    pub fn pass(&mut self, t: Nanos, index: u32) -> Nanos {
        let delay = *self.delays.at(t);
        let delayed = |offset: i64| t + Nanos(delay.0.saturating_add_signed(offset));
        match self.jitters.at(t) {
            None => self.in_order(t + delay),
            Some(Running::InOrder(scale, sawtooth)) => {
                let due = delayed(whole(*scale * sawtooth.at(t)));
                self.in_order(due)
            }
            Some(Running::Reorder(scale, table)) => {
                let quantile = (self.draws.draw(index.into()) >> 52) as usize;
                delayed(scaled(*scale, table[quantile]))
            }
        }
    }

    fn in_order(&mut self, due: Nanos) -> Nanos {
        self.last_due = self.last_due.max(due);
        self.last_due
    }
}

impl Running {
    fn new(jitter: Jitter, at: Nanos, key: &StreamKey) -> Self {
        let Jitter {
            distribution,
            scale,
            order,
        } = jitter;
        match order {
            Order::Reorder => Self::Reorder(scale, distribution.table()),
            Order::InOrder { half_life } => {
                let half_life = half_life.max(Jitter::least_half_life(distribution, scale));
                let sawtooth = Sawtooth::new(distribution, half_life, at, key);
                Self::InOrder(float(scale), Box::new(sawtooth))
            }
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a scale needs no more than 53 bits"
)]
fn float(scale: Nanos) -> f64 {
    scale.0 as f64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "below 5 scales, and the scale below 2⁶⁰ ns"
)]
fn whole(ns: f64) -> i64 {
    ns.floor() as i64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the quantile is below 5 scales and the scale below 2⁶⁰ ns"
)]
fn scaled(scale: Nanos, quantile: i32) -> i64 {
    (i128::from(scale.0) * i128::from(quantile) / i128::from(UNIT)) as i64
}
