// SPDX-License-Identifier: Apache-2.0
//! Constant delay, and jitter around it.

use crate::distribution::{normal_table, Distribution, QUANTILES, UNIT};
use crate::random::{Stream, StreamKey};
use crate::timeline::Timeline;
use crate::units::Nanos;

/// Whether jitter may turn packets around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Packets keep their order; the jitter of two packets is correlated, by half after each `half_life` between
    /// them (zero: independent).
    InOrder {
        /// The time after which half of the correlation is left.
        half_life: Nanos,
    },
    /// Each packet by itself, as netem does without a rate: later ones may overtake.
    Reorder,
}

/// Variation of the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Its shape.
    pub distribution: Distribution,
    /// Its size, see [`Distribution`].
    pub scale: Nanos,
    /// Whether packets may overtake.
    pub order: Order,
}

/// Jitter that is running.
#[derive(Clone, Debug)]
struct Running {
    jitter: Jitter,
    table: Vec<i32>,
    normal: Vec<i32>,
    /// The Gaussian process behind correlated jitter, and when it was last looked at.
    latent: Option<(Nanos, f64)>,
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
        let jitters = jitters.map(|_, jitter| jitter.map(Running::new));
        Self {
            delays,
            jitters,
            draws: key.stream("jitter"),
            last_due: Nanos::ZERO,
        }
    }

    /// When packet `index`, which enters at `t`, comes out. `t` never goes back.
    pub fn pass(&mut self, t: Nanos, index: u32) -> Nanos {
        let delay = *self.delays.at(t);
        let Some(running) = self.jitters.at(t) else {
            return self.in_order(t + delay);
        };
        let offset = running.offset(t, self.draws.draw(index.into()));
        let due = t + Nanos(delay.0.saturating_add_signed(offset));
        match running.jitter.order {
            Order::InOrder { .. } => self.in_order(due),
            Order::Reorder => due,
        }
    }

    fn in_order(&mut self, due: Nanos) -> Nanos {
        self.last_due = self.last_due.max(due);
        self.last_due
    }
}

impl Running {
    fn new(jitter: Jitter) -> Self {
        Self {
            jitter,
            table: jitter.distribution.table(),
            normal: normal_table(),
            latent: None,
        }
    }

    /// The jitter of one packet in nanoseconds.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the quantile is below 5 scales and the scale below 2⁶⁰ ns"
    )]
    fn offset(&mut self, t: Nanos, draw: u64) -> i64 {
        let quantile = (draw >> 52) as usize;
        let quantile = match self.jitter.order {
            Order::InOrder { half_life } if half_life > Nanos::ZERO => {
                self.correlated(t, quantile, half_life)
            }
            _ => quantile,
        };
        (i128::from(self.jitter.scale.0) * i128::from(self.table[quantile]) / i128::from(UNIT))
            as i64
    }

    /// A first-order autoregression in time: correlation 2^(−Δt / `half_life`). It runs on a normal variable whose
    /// quantile then selects from the asked distribution, so the distribution stays what was asked for.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio of lengths of time needs no more than 53 bits"
    )]
    fn correlated(&mut self, t: Nanos, quantile: usize, half_life: Nanos) -> usize {
        let innovation = f64::from(self.normal[quantile]);
        let value = match self.latent {
            None => innovation,
            Some((last, value)) => {
                let correlation = (-(t.since(last).0 as f64) / half_life.0 as f64).exp2();
                correlation * value + (1.0 - correlation * correlation).sqrt() * innovation
            }
        };
        self.latent = Some((t, value));
        self.normal
            .partition_point(|&entry| f64::from(entry) < value)
            .min(QUANTILES - 1)
    }
}
