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
            Self::Normal => normal_table(),
            Self::Pareto => tabulate(pareto),
            Self::ParetoNormal => normal_quantiles()
                .enumerate()
                .map(|(i, z)| steps(0.25 * z + 0.75 * pareto(probability(i))))
                .collect(),
        }
    }
}

/// The normal quantiles, which also carry correlated jitter.
pub(crate) fn normal_table() -> Vec<i32> {
    normal_quantiles().map(steps).collect()
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
    (((1.0 - p).powf(-1.0 / 3.0) - 1.5) * (4.0 / 3.0)).min(4.0)
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
