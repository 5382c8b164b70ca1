// SPDX-License-Identifier: Apache-2.0
//! Gilbert–Elliott loss in continuous time: good and bad periods of exponential length.
//!
//! Outages lie at the same instants of model time whatever is sent, so two protocols meet the same ones.

use crate::random::{unit_interval, Chance, Stream, StreamKey};
use crate::units::Nanos;

/// Mean lengths of the periods, and the chance of loss in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GilbertElliottTime {
    /// Mean length of a good period.
    pub mean_good: Nanos,
    /// Mean length of a bad period.
    pub mean_bad: Nanos,
    /// Loss in a good period.
    pub loss_good: Chance,
    /// Loss in a bad period.
    pub loss_bad: Chance,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    model: GilbertElliottTime,
    bad: bool,
    until: Nanos,
    periods: Stream,
    losses: Stream,
}

impl State {
    /// The process starts at `at` in its stationary state: bad with chance `mean_bad` / (`mean_good` + `mean_bad`); the
    /// rest of an exponential period is exponential again. Both classes of packets meet the same periods.
    pub(super) fn new(model: GilbertElliottTime, at: Nanos, key: &StreamKey, class: &str) -> Self {
        let cycle = u128::from(model.mean_good.0) + u128::from(model.mean_bad.0);
        let draw = u128::from(key.stream("loss-start").draw(at.0));
        let bad = (draw * cycle) >> 64 < u128::from(model.mean_bad.0);
        let mut state = Self {
            model,
            bad,
            until: at,
            periods: key.stream("loss-period"),
            losses: key.stream(&format!("loss{class}")),
        };
        state.until = at + state.period();
        state
    }

    pub(super) fn loses(&mut self, t: Nanos, number: u64) -> bool {
        while self.until <= t {
            self.bad = !self.bad;
            let period = self.period();
            self.until += period;
        }
        let loss = if self.bad {
            self.model.loss_bad
        } else {
            self.model.loss_good
        };
        loss.hit(self.losses.draw(number))
    }

    /// The length of a period in the present state: exponential by inversion, at least 1 ns.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float cast saturates, and a nanosecond in 2⁵³ is below what a model of loss can mean"
    )]
    fn period(&mut self) -> Nanos {
        let mean = if self.bad {
            self.model.mean_bad
        } else {
            self.model.mean_good
        };
        let uniform = 1.0 - unit_interval(self.periods.draw_next());
        Nanos(((-uniform.ln() * mean.0 as f64) as u64).max(1))
    }
}
