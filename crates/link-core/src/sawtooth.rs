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

/// The jitter's course in time, which goes on when its size or its half-life changes.
#[derive(Clone, Debug)]
pub(crate) struct Sawtooth {
    starts: Stream,
    falls: Stream,
    running: Option<Running>,
}

/// The course of one distribution.
#[derive(Clone, Debug)]
struct Running {
    distribution: Distribution,
    levels: Levels,
    /// Mean time in which it falls by one scale.
    ns_per_scale: f64,
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
        let fastest = distribution.steepest() / LEAST_STRETCH;
        let least_ns = half_life_of(distribution) * fastest * float(scale.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time below 2⁶² ns, rounded up"
        )]
        LEAST_HALF_LIFE.max(Nanos(least_ns.ceil() as u64))
    }

    /// A course that has not begun.
    pub(crate) fn new(key: &StreamKey) -> Self {
        Self {
            starts: key.stream("jitter-start"),
            falls: key.stream("jitter-fall"),
            running: None,
        }
    }

    /// Gives the course a distribution and a half-life from `at` on. One of this distribution goes on from where it is,
    /// at another pace if the half-life is another one. Any other begins in the middle of a fall (which a longer fall is
    /// likelier to be): from there on it is stationary.
    pub(crate) fn set(&mut self, distribution: Distribution, half_life: Nanos, at: Nanos) {
        let ns_per_scale = float(half_life.0) / half_life_of(distribution);
        if self
            .running
            .as_ref()
            .is_some_and(|it| it.distribution == distribution)
        {
            self.at(at);
        }
        match &mut self.running {
            Some(it) if it.distribution == distribution => {
                if it.ns_per_scale.to_bits() != ns_per_scale.to_bits() {
                    it.fall = it.fall.at_pace(float(at.0), ns_per_scale / it.ns_per_scale);
                    it.ns_per_scale = ns_per_scale;
                }
            }
            _ => {
                let levels = distribution.levels();
                let mut draw = || unit_interval(self.starts.draw_next());
                let from = levels.quantile(draw());
                let fall = Fall {
                    begin_ns: float(at.0),
                    from,
                    to: levels.below(from, draw()),
                    ns_per_scale: ns_per_scale
                        * (LEAST_STRETCH * LEAST_STRETCH + 2.0 * draw()).sqrt(),
                };
                self.running = Some(Running {
                    distribution,
                    levels,
                    ns_per_scale,
                    fall,
                });
            }
        }
    }

    /// The jitter at `t`, in scales; 0 before the course begins. `t` never goes back.
    pub(crate) fn at(&mut self, t: Nanos) -> f64 {
        let t_ns = float(t.0);
        let Some(it) = &mut self.running else {
            return 0.0;
        };
        while it.fall.end_ns() <= t_ns {
            let mut draw = || unit_interval(self.falls.draw_next());
            let from = it.levels.above_peak(draw());
            it.fall = Fall {
                begin_ns: it.fall.end_ns(),
                from,
                to: it.levels.below(from, draw()),
                ns_per_scale: it.ns_per_scale * (LEAST_STRETCH + draw()),
            };
        }
        it.levels.shown(it.fall.level_at(t_ns))
    }
}

impl Fall {
    fn level_at(&self, t_ns: f64) -> f64 {
        self.from - (t_ns - self.begin_ns) / self.ns_per_scale
    }

    /// The rest of the fall from `at_ns` on, which takes so many times as long.
    fn at_pace(&self, at_ns: f64, times: f64) -> Self {
        Self {
            begin_ns: at_ns,
            from: self.level_at(at_ns),
            to: self.to,
            ns_per_scale: self.ns_per_scale * times,
        }
    }

    fn end_ns(&self) -> f64 {
        self.begin_ns + (self.from - self.to) * self.ns_per_scale
    }
}

/// Half-life of the correlation, as a multiple of the time in which the jitter falls by one scale (computed from
/// 200,000 falls; the tests hold it against the process).
fn half_life_of(distribution: Distribution) -> f64 {
    match distribution {
        Distribution::Uniform => 0.4235,
        Distribution::Normal => 0.42,
        Distribution::Pareto => 1.085,
        Distribution::ParetoNormal => 0.685,
    }
}

#[expect(clippy::cast_precision_loss, reason = "2⁵³ ns are a hundred days")]
fn float(ns: u64) -> f64 {
    ns as f64
}
