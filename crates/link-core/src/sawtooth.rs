// SPDX-License-Identifier: Apache-2.0
//! Jitter that keeps the order of packets and has the asked distribution all the same: a process in time, whatever is
//! sent.
//!
//! As the wait in a queue that others fill, it jumps up and falls at a steady pace, never faster than time passes, so
//! no packet can overtake the one before it. Each fall begins at a level above the peak of the density and ends at one
//! below. With chances of these levels in proportion to the density there, a fall passes every level in proportion to
//! its density (Khinchin 1938: a distribution with one peak is a mixture of uniform ones around it), so that at any
//! instant the jitter has the distribution exactly.

use crate::distribution::{Distribution, Levels};
use crate::random::{unit_interval, Stream, StreamKey};
use crate::units::Nanos;

/// Least half-life in which the correlation may change, so that other numbers stay within their bounds.
const LEAST_HALF_LIFE: Nanos = Nanos(10_000);
/// The paces of falls are uniform within ±half of their mean, so that the jitter is not periodic.
const LEAST_STRETCH: f64 = 0.5;

/// The jitter's course in time.
#[derive(Clone, Debug)]
pub(crate) struct Sawtooth {
    levels: Levels,
    /// Mean time in which it falls by one scale.
    ns_per_scale: f64,
    falls: Stream,
    fall: Fall,
}

/// A fall from one level to another, in scales.
#[derive(Clone, Copy, Debug)]
struct Fall {
    begin_ns: f64,
    from: f64,
    to: f64,
    ns_per_scale: f64,
}

impl Sawtooth {
    /// The shortest half-life that a jitter can have and keep the order: its fastest fall is then as fast as time.
    pub(crate) fn least_half_life(distribution: Distribution, scale: Nanos) -> Nanos {
        let least_ns = half_life_of(distribution) / LEAST_STRETCH * float(scale.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time below 2⁶² ns, rounded up"
        )]
        LEAST_HALF_LIFE.max(Nanos(least_ns.ceil() as u64))
    }

    /// Begins at `at`, in the middle of a fall (which a longer fall is likelier to be): from there on it is stationary.
    pub(crate) fn new(
        distribution: Distribution,
        half_life: Nanos,
        at: Nanos,
        key: &StreamKey,
    ) -> Self {
        let levels = distribution.levels();
        let ns_per_scale = float(half_life.0) / half_life_of(distribution);
        let mut start = key.stream("jitter-start");
        let mut draw = || unit_interval(start.draw_next());
        let from = levels.quantile(draw());
        let fall = Fall {
            begin_ns: float(at.0),
            from,
            to: levels.below(from, draw()),
            ns_per_scale: ns_per_scale * (LEAST_STRETCH * LEAST_STRETCH + 2.0 * draw()).sqrt(),
        };
        Self {
            levels,
            ns_per_scale,
            falls: key.stream("jitter-fall"),
            fall,
        }
    }

    /// The jitter at `t`, in scales. `t` never goes back.
    pub(crate) fn at(&mut self, t: Nanos) -> f64 {
        let t_ns = float(t.0);
        while self.fall.end_ns() <= t_ns {
            let mut draw = || unit_interval(self.falls.draw_next());
            let from = self.levels.above_peak(draw());
            self.fall = Fall {
                begin_ns: self.fall.end_ns(),
                from,
                to: self.levels.below(from, draw()),
                ns_per_scale: self.ns_per_scale * (LEAST_STRETCH + draw()),
            };
        }
        let fallen = (t_ns - self.fall.begin_ns) / self.fall.ns_per_scale;
        self.levels.shown(self.fall.from - fallen)
    }
}

impl Fall {
    fn end_ns(&self) -> f64 {
        self.begin_ns + (self.from - self.to) * self.ns_per_scale
    }
}

/// Half-life of the correlation, as a multiple of the time in which the jitter falls by one scale (computed from
/// 200,000 falls; the tests hold it against the process).
fn half_life_of(distribution: Distribution) -> f64 {
    match distribution {
        Distribution::Uniform => 0.19,
        Distribution::Normal => 0.42,
        Distribution::Pareto => 1.085,
        Distribution::ParetoNormal => 0.685,
    }
}

#[expect(clippy::cast_precision_loss, reason = "2⁵³ ns are a hundred days")]
fn float(ns: u64) -> f64 {
    ns as f64
}
