// SPDX-License-Identifier: Apache-2.0
//! Helpers of the virtual-time tests: ways to drive a direction, and the statistics to judge it by.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts in tests are far below 2⁵³"
)]
#![allow(dead_code, reason = "each test file uses a part of this")]

use link_core::{
    Bytes, Chance, Delivery, Direction, DirectionConfig, DropReason, Fate, Nanos, StreamKey,
    Verdict,
};

/// Normal deviate that is exceeded with probability 0.001.
const Z_001: f64 = 3.09;

pub const SEED: u64 = 20_261_121;

pub fn key(seed: u64) -> StreamKey {
    StreamKey::new(seed, "bottleneck", "up")
}

pub fn chance(probability: f64) -> Chance {
    Chance::new(probability).expect("a probability")
}

/// Sends packets of one size at a fixed distance and collects the verdicts.
pub fn drive(
    config: &DirectionConfig,
    seed: u64,
    packets: u64,
    gap_ns: u64,
    size: u64,
) -> Vec<Verdict> {
    let mut direction = Direction::new(config, &key(seed));
    (0..packets)
        .map(|i| direction.offer(Nanos(i * gap_ns), Bytes(size)))
        .collect()
}

pub fn delivery(verdict: &Verdict) -> Option<Delivery> {
    match verdict.fate {
        Fate::Delivered(delivery) => Some(delivery),
        Fate::Dropped(_) | Fate::Waiting => None,
    }
}

pub fn dropped(verdict: &Verdict) -> Option<DropReason> {
    match verdict.fate {
        Fate::Delivered(_) | Fate::Waiting => None,
        Fate::Dropped(reason) => Some(reason),
    }
}

/// Due times of packets that must all be delivered.
pub fn dues(verdicts: &[Verdict]) -> Vec<u64> {
    verdicts
        .iter()
        .map(|verdict| delivery(verdict).expect("nothing is dropped here").due.0)
        .collect()
}

pub fn losses(verdicts: &[Verdict]) -> Vec<bool> {
    verdicts
        .iter()
        .map(|verdict| dropped(verdict).is_some())
        .collect()
}

pub fn share(hits: &[bool]) -> f64 {
    hits.iter().filter(|hit| **hit).count() as f64 / hits.len() as f64
}

/// Asserts that a chi-square statistic stays below its 0.999 quantile (Wilson and Hilferty 1931).
#[track_caller]
pub fn assert_chi_square(observed: &[f64], expected: &[f64], degrees: f64) {
    let statistic: f64 = observed
        .iter()
        .zip(expected)
        .map(|(o, e)| (o - e).powi(2) / e)
        .sum();
    let limit =
        degrees * (1.0 - 2.0 / (9.0 * degrees) + Z_001 * (2.0 / (9.0 * degrees)).sqrt()).powi(3);
    assert!(
        statistic < limit,
        "chi-square {statistic} ≥ {limit} with {degrees} degrees of freedom"
    );
}

/// Asserts that the lengths of runs are geometric with mean 1 / `end`: chi-square over bins of at least 50.
#[track_caller]
pub fn assert_geometric(lengths: &[usize], end: f64) {
    let count = lengths.len() as f64;
    let (mut observed, mut expected) = (Vec::new(), Vec::new());
    let (mut seen, mut mass) = (0.0, 0.0);
    let (mut binned_seen, mut binned_mass) = (0.0, 0.0);
    let mut counts = vec![0_u32; lengths.iter().max().expect("runs") + 1];
    for length in lengths {
        counts[*length] += 1;
    }
    for (length, runs) in counts.into_iter().enumerate().skip(1) {
        seen += f64::from(runs);
        mass += end * (1.0 - end).powi(i32::try_from(length).expect("short") - 1);
        let rest = 1.0 - binned_mass - mass;
        if mass * count >= 50.0 && rest * count >= 50.0 {
            observed.push(seen);
            expected.push(mass * count);
            binned_seen += seen;
            binned_mass += mass;
            (seen, mass) = (0.0, 0.0);
        }
    }
    observed.push(count - binned_seen);
    expected.push((1.0 - binned_mass) * count);
    assert!(observed.len() >= 3, "too few bins to tell");
    assert_chi_square(&observed, &expected, observed.len() as f64 - 1.0);
}

/// Lengths of the runs of `value`, without the first and last run, which the ends cut.
pub fn run_lengths(hits: &[bool], value: bool) -> Vec<usize> {
    let runs: Vec<(bool, usize)> = hits
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0], run.len()))
        .collect();
    let inner = runs.len().saturating_sub(1);
    runs.into_iter()
        .take(inner)
        .skip(1)
        .filter(|(of, _)| *of == value)
        .map(|(_, length)| length)
        .collect()
}

/// Asserts by Kolmogorov and Smirnov, at 0.001, that values follow a distribution, which may have jumps.
#[track_caller]
pub fn assert_ks(values: &[f64], cdf: impl Fn(f64) -> f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let (mut below, mut distance) = (0.0, 0.0_f64);
    for equal in sorted.chunk_by(|a, b| a <= b && b <= a) {
        distance = distance.max((cdf(equal[0] - 1e-9) - below / n).abs());
        below += equal.len() as f64;
        distance = distance.max((cdf(equal[0]) - below / n).abs());
    }
    let limit = 1.95 / n.sqrt();
    assert!(distance < limit, "distance {distance} ≥ {limit}");
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Correlation of each value with the one `lag` later.
pub fn autocorrelation(values: &[f64], lag: usize) -> f64 {
    let mean = mean(values);
    let covariance = |lag: usize| {
        values
            .iter()
            .zip(&values[lag..])
            .map(|(a, b)| (a - mean) * (b - mean))
            .sum::<f64>()
            / values.len() as f64
    };
    covariance(lag) / covariance(0)
}

/// Φ(x) to 1.5 · 10⁻⁷ (Abramowitz and Stegun 7.1.26).
pub fn normal_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs() / std::f64::consts::SQRT_2);
    let poly = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let erf = 1.0 - poly * (-x * x / 2.0).exp();
    if x >= 0.0 {
        0.5 * (1.0 + erf)
    } else {
        0.5 * (1.0 - erf)
    }
}
