// SPDX-License-Identifier: Apache-2.0
//! Distributions of jitter as inverse tables, made from formulae.
//!
//! Shape and scale follow netem, so that a jitter of the same name and size means the same there and here: 4096
//! quantiles, in steps of 1/8192 of the scale.

/// Entries of a table; entry `i` is the quantile of (i + ½) / 4096.
pub const QUANTILES: usize = 4096;
/// The integer that stands for one scale.
pub const UNIT: i64 = 8192;

/// The shape of jitter around zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform in ±scale.
    Uniform,
    /// Normal with a standard deviation of one scale.
    Normal,
    /// (U^(−1/3) − 1.5) · 4/3 scales, at most 4: Pareto with shape 3, shifted to mean zero.
    Pareto,
    /// A quarter of the normal quantile and three quarters of the Pareto one.
    ParetoNormal,
}

impl Distribution {
    /// The quantiles in ascending order, in units of scale / 8192.
    #[must_use]
    pub fn table(self) -> Vec<i32> {
        match self {
            Self::Uniform => tabulate(|p| 2.0 * p - 1.0),
            Self::Normal => normal_quantiles().map(steps).collect(),
            Self::Pareto => tabulate(pareto),
            Self::ParetoNormal => normal_quantiles()
                .enumerate()
                .map(|(i, z)| steps(0.25 * z + 0.75 * pareto(probability(i))))
                .collect(),
        }
    }

    /// Steepest slope of the jitter over the normal level that it is made of; for a uniform one twice the normal
    /// density at its peak.
    pub(crate) fn steepest(self) -> f64 {
        match self {
            Self::Uniform => 2.0 * normal_density(0.0),
            Self::Normal | Self::Pareto | Self::ParetoNormal => 1.0,
        }
    }

    /// Levels with the density at each, for jitter that moves from one to the next.
    pub(crate) fn levels(self) -> Levels {
        let (normal, pareto) = match self {
            Self::Uniform => {
                let levels = normal_quantiles().enumerate();
                return Levels::new(levels.map(|(i, z)| Level::even(probability(i), z)));
            }
            Self::Normal => (1.0, 0.0),
            Self::Pareto => (0.0, 1.0),
            Self::ParetoNormal => (0.25, 0.75),
        };
        Levels::new(
            normal_quantiles()
                .enumerate()
                .map(|(i, z)| Level::mixed(probability(i), z, normal, pareto)),
        )
    }
}

/// A quantile, at a level that the jitter passes.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The level. Its density has one peak: for the Pareto part it is the quantile in scales without its bound, for the
    /// uniform distribution the quantile of a normal one.
    free: f64,
    /// The quantile in scales, which is shown at that level.
    shown: f64,
    /// The density at `free`.
    density: f64,
}

impl Level {
    fn even(p: f64, z: f64) -> Self {
        Self {
            free: z,
            shown: 2.0 * p - 1.0,
            density: normal_density(z),
        }
    }

    /// A mixture by quantiles: the slopes of the quantile functions, 1 / φ(z) and 4/9 · (1 − p)^(−4/3), add up.
    fn mixed(p: f64, z: f64, normal: f64, pareto: f64) -> Self {
        let slope = normal / normal_density(z) + pareto * 4.0 / 9.0 * (1.0 - p).powf(-4.0 / 3.0);
        Self {
            free: normal * z + pareto * free_pareto(p),
            shown: normal * z + pareto * self::pareto(p),
            density: 1.0 / slope,
        }
    }
}

/// The levels that a jitter passes, in ascending order; the density rises to its peak and falls behind it.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    levels: Vec<Level>,
    peak: usize,
}

impl Levels {
    fn new(levels: impl Iterator<Item = Level>) -> Self {
        let levels: Vec<Level> = levels.collect();
        let density = |i: &usize| levels[*i].density;
        let peak = (0..levels.len())
            .max_by(|a, b| density(a).total_cmp(&density(b)))
            .unwrap_or(0);
        Self { levels, peak }
    }

    /// The quantile of `p`, in scales.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "p is in [0, 1)"
    )]
    pub(crate) fn quantile(&self, p: f64) -> f64 {
        self.levels[(p * QUANTILES as f64) as usize].free
    }

    /// The level above the peak at which `share` of the peak's density is left.
    pub(crate) fn above_peak(&self, share: f64) -> f64 {
        let behind = &self.levels[self.peak..];
        let density = share * behind[0].density;
        let place = behind.partition_point(|level| level.density > density);
        behind[place.min(behind.len() - 1)].free
    }

    /// The level below the peak, and not above `from`, at which the density is `share` of that at `from` (of the
    /// peak's, if `from` lies above it).
    pub(crate) fn below(&self, from: f64, share: f64) -> f64 {
        let before = &self.levels[..=self.peak];
        let place = before.partition_point(|level| level.free < from);
        let place = place.min(self.peak);
        let density = share * before[place].density;
        before[before
            .partition_point(|level| level.density < density)
            .min(place)]
        .free
    }

    /// The jitter that is shown at a level, in scales.
    pub(crate) fn shown(&self, free: f64) -> f64 {
        let above = self.levels.partition_point(|level| level.free < free);
        let above = above.clamp(1, self.levels.len() - 1);
        let [low, high] = [self.levels[above - 1], self.levels[above]];
        let share = (free - low.free) / (high.free - low.free);
        low.shown + share.clamp(0.0, 1.0) * (high.shown - low.shown)
    }
}

fn tabulate(quantile: impl Fn(f64) -> f64) -> Vec<i32> {
    (0..QUANTILES)
        .map(|i| steps(quantile(probability(i))))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "4096 fits")]
fn probability(i: usize) -> f64 {
    (i as f64 + 0.5) / QUANTILES as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "quantiles are below 5 scales"
)]
fn steps(scales: f64) -> i32 {
    (scales * UNIT as f64).round() as i32
}

fn pareto(p: f64) -> f64 {
    free_pareto(p).min(4.0)
}

fn free_pareto(p: f64) -> f64 {
    ((1.0 - p).powf(-1.0 / 3.0) - 1.5) * (4.0 / 3.0)
}

/// All normal quantiles in ascending order, each by Newton's method from the one before.
fn normal_quantiles() -> impl Iterator<Item = f64> {
    let upper: Vec<f64> = (QUANTILES / 2..QUANTILES)
        .scan(0.0_f64, |x, i| {
            for _ in 0..6 {
                *x -= (normal_cdf(*x) - probability(i)) / normal_density(*x);
            }
            Some(*x)
        })
        .collect();
    let lower: Vec<f64> = upper.iter().rev().map(|x| -x).collect();
    lower.into_iter().chain(upper)
}

fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Φ(x) = ½ + φ(x) · (x + x³/3 + x⁵/(3·5) + …) (Marsaglia 2004).
fn normal_cdf(x: f64) -> f64 {
    let (mut sum, mut term, mut n) = (x, x, 1.0);
    while term.abs() > 1e-17 {
        n += 2.0;
        term *= x * x / n;
        sum += term;
    }
    0.5 + normal_density(x) * sum
}
