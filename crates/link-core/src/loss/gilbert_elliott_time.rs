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

/// The periods so far, which go on when a change sets other lengths.
#[derive(Clone, Debug)]
pub(super) struct State {
    starts: Stream,
    periods: Stream,
    losses: Stream,
    running: Option<Running>,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    model: GilbertElliottTime,
    bad: bool,
    until: Nanos,
}

impl State {
    /// No period yet. Both classes of packets meet the same periods.
    pub(super) fn new(key: &StreamKey, class: &str) -> Self {
        Self {
            starts: key.stream("loss-start"),
            periods: key.stream("loss-period"),
            losses: key.stream(&format!("loss{class}")),
            running: None,
        }
    }

    /// Gives the process a model from `at` on. The first one starts in its stationary state: bad with chance `mean_bad` /
    /// (`mean_good` + `mean_bad`); the rest of an exponential period is exponential again. From one to the next the
    /// present period goes on, and what is left of it becomes longer or shorter as its mean does.
    pub(super) fn set(&mut self, model: GilbertElliottTime, at: Nanos) {
        self.advance(at);
        self.running = Some(match self.running {
            None => {
                let cycle = u128::from(model.mean_good.0) + u128::from(model.mean_bad.0);
                let draw = u128::from(self.starts.draw(at.0));
                let bad = (draw * cycle) >> 64 < u128::from(model.mean_bad.0);
                let until = at + period(&mut self.periods, model.mean(bad));
                Running { model, bad, until }
            }
            Some(before) => {
                let left = u128::from(before.until.since(at).0);
                let [from, to] =
                    [before.model, model].map(|each| u128::from(each.mean(before.bad).0));
                let left = u64::try_from(left * to / from.max(1))
                    .unwrap_or(u64::MAX)
                    .max(1);
                Running {
                    model,
                    bad: before.bad,
                    until: at + Nanos(left),
                }
            }
        });
    }

    pub(super) fn loses(&mut self, t: Nanos, number: u64) -> bool {
        self.advance(t);
        let loss = self
            .running
            .map_or(Chance::NEVER, |it| it.model.loss(it.bad));
        loss.hit(self.losses.draw(number))
    }

    fn advance(&mut self, t: Nanos) {
        let Some(it) = &mut self.running else {
            return;
        };
        while it.until <= t {
            it.bad = !it.bad;
            it.until += period(&mut self.periods, it.model.mean(it.bad));
        }
    }
}

impl GilbertElliottTime {
    fn mean(&self, bad: bool) -> Nanos {
        if bad {
            self.mean_bad
        } else {
            self.mean_good
        }
    }

    fn loss(&self, bad: bool) -> Chance {
        if bad {
            self.loss_bad
        } else {
            self.loss_good
        }
    }
}

/// The length of the next period: exponential by inversion, at least 1 ns.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and a nanosecond in 2⁵³ is below what a model of loss can mean"
)]
fn period(periods: &mut Stream, mean: Nanos) -> Nanos {
    let uniform = 1.0 - unit_interval(periods.draw_next());
    Nanos(((-uniform.ln() * mean.0 as f64) as u64).max(1))
}
