// SPDX-License-Identifier: Apache-2.0
//! Constant delay, and jitter around it.

use crate::distribution::{Distribution, UNIT};
use crate::random::{Stream, StreamKey};
use crate::sawtooth::Sawtooth;
use crate::timeline::{Changes, Timeline};
use crate::units::Nanos;

/// Order of packets under jitter: it may turn them around, or not.
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
    /// Order of the packets: they may overtake, or not.
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
    None,
    InOrder(f64),
    Reorder(Nanos, Vec<i32>),
}

/// The stage that adds delay and jitter.
#[derive(Clone, Debug)]
pub struct DelayStage {
    delays: Timeline<Nanos>,
    jitters: Changes<Option<Jitter>>,
    running: Running,
    /// The course of jitter in order, which goes on when a change sets jitter again.
    course: Box<Sawtooth>,
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
        Self {
            delays,
            jitters: jitters.changes(),
            running: Running::None,
            course: Box::new(Sawtooth::new(key)),
            draws: key.stream("jitter"),
            last_due: Nanos::ZERO,
        }
    }

    /// Sets another delay from `at` on.
    pub(crate) fn set_delay(&mut self, at: Nanos, delay: Nanos) {
        self.delays.insert(at, delay);
    }

    /// Sets another jitter from `at` on, or none.
    pub(crate) fn set_jitter(&mut self, at: Nanos, jitter: Option<Jitter>) {
        self.jitters.insert(at, jitter);
    }

    /// The instant at which packet `index`, which enters at `t`, comes out. `t` never goes back.
    pub fn pass(&mut self, t: Nanos, index: u32) -> Nanos {
        let delay = *self.delays.at(t);
        let delayed = |offset: i64| t + Nanos(delay.0.saturating_add_signed(offset));
        while let Some((at, jitter)) = self.jitters.take(t) {
            self.running = self.begin(at, jitter);
        }
        match &self.running {
            Running::None => self.in_order(t + delay),
            Running::InOrder(scale) => {
                let due = delayed(whole(scale * self.course.at(t)));
                self.in_order(due)
            }
            Running::Reorder(scale, table) => {
                let quantile = (self.draws.draw(index.into()) >> 52) as usize;
                delayed(scaled(*scale, table[quantile]))
            }
        }
    }

    /// The jitter that a change at `at` sets.
    fn begin(&mut self, at: Nanos, jitter: Option<Jitter>) -> Running {
        let Some(jitter) = jitter else {
            return Running::None;
        };
        let Jitter {
            distribution,
            scale,
            order,
        } = jitter;
        match order {
            Order::Reorder => Running::Reorder(scale, distribution.table()),
            Order::InOrder { half_life } => {
                let half_life = half_life.max(Jitter::least_half_life(distribution, scale));
                self.course.set(distribution, half_life, at);
                Running::InOrder(float(scale))
            }
        }
    }

    fn in_order(&mut self, due: Nanos) -> Nanos {
        self.last_due = self.last_due.max(due);
        self.last_due
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
