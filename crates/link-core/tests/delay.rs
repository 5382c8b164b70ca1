// SPDX-License-Identifier: Apache-2.0
//! Delay and jitter follow the distribution that was asked for.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts in tests are far below 2⁵³"
)]

mod common;

use common::{assert_ks, autocorrelation, drive, dues, mean, normal_cdf, SEED};
use link_core::{DirectionConfig, Distribution, Jitter, Nanos, Order, Timeline};

const PACKETS: u64 = 100_000;
const DELAY: u64 = 50_000_000;
const SCALE: u64 = 5_000_000;

fn jittery(distribution: Distribution, order: Order) -> DirectionConfig {
    DirectionConfig {
        delay: Timeline::constant(Nanos(DELAY)),
        jitter: Timeline::constant(Some(Jitter {
            distribution,
            scale: Nanos(SCALE),
            order,
        })),
        ..DirectionConfig::default()
    }
}

/// Each packet's jitter, in scales.
fn jitter(config: &DirectionConfig, gap_ns: u64) -> Vec<f64> {
    let dues = dues(&drive(config, SEED, PACKETS, gap_ns, 100));
    dues.iter()
        .enumerate()
        .map(|(i, due)| (*due as f64 - (i as u64 * gap_ns + DELAY) as f64) / SCALE as f64)
        .collect()
}

/// The shapes, from their formulae alone: uniform, normal, Pareto of shape 3, and the mixture by its quantiles.
fn cdf(distribution: Distribution, x: f64) -> f64 {
    let pareto = |x: f64| {
        if x >= 4.0 {
            1.0
        } else {
            1.0 - (x * 0.75 + 1.5).max(1.0).powi(-3)
        }
    };
    match distribution {
        Distribution::Uniform => f64::midpoint(x, 1.0).clamp(0.0, 1.0),
        Distribution::Normal => normal_cdf(x),
        Distribution::Pareto => pareto(x),
        Distribution::ParetoNormal => {
            let quantile = |p: f64| {
                let normal = bisect(-6.0, 6.0, |z| normal_cdf(z) - p);
                0.25 * normal + 0.75 * bisect(-0.67, 4.0, |z| pareto(z) - p)
            };
            bisect(1e-9, 1.0 - 1e-9, |p| quantile(p) - x)
        }
    }
}

fn bisect(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if f(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The mixture's function is slow, so it is tabulated; the others have jumps, so they are not.
fn reference(distribution: Distribution) -> Box<dyn Fn(f64) -> f64> {
    if distribution != Distribution::ParetoNormal {
        return Box::new(move |x| cdf(distribution, x));
    }
    let table: Vec<f64> = (0..=12_000)
        .map(|i| cdf(distribution, f64::from(i) / 1000.0 - 6.0))
        .collect();
    Box::new(move |x: f64| {
        let place = ((x + 6.0) * 1000.0).clamp(0.0, 11_999.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped above"
        )]
        let i = place as usize;
        table[i] + (table[i + 1] - table[i]) * place.fract()
    })
}

/// Constant delay moves every packet by the same time.
#[test]
fn constant_delay_is_constant() {
    let config = DirectionConfig {
        delay: Timeline::constant(Nanos(DELAY)),
        ..DirectionConfig::default()
    };
    let expected: Vec<u64> = (0..1000).map(|i| i * 777 + DELAY).collect();
    assert_eq!(dues(&drive(&config, SEED, 1000, 777, 100)), expected);
}

/// Independent jitter of every shape follows its distribution (Kolmogorov and Smirnov, n = 100 000).
#[test]
fn jitter_follows_its_distribution() {
    for distribution in [
        Distribution::Uniform,
        Distribution::Normal,
        Distribution::Pareto,
        Distribution::ParetoNormal,
    ] {
        let values = jitter(&jittery(distribution, Order::Reorder), 1_000_000);
        assert_ks(&values, reference(distribution));
    }
}

/// With packets far apart nothing has to be held back for the order, and correlated jitter has the asked distribution
/// too: correlation does not squeeze it.
#[test]
fn correlated_jitter_keeps_its_distribution() {
    for distribution in [
        Distribution::Uniform,
        Distribution::Normal,
        Distribution::Pareto,
    ] {
        let order = Order::InOrder {
            half_life: Nanos(1_000_000_000),
        };
        let gap_ns = 2_000_000_000;
        let values = jitter(&jittery(distribution, order), gap_ns);
        // Every tenth value: 20 half-lives apart, as good as independent.
        let apart: Vec<f64> = values.into_iter().step_by(10).collect();
        assert_ks(&apart, reference(distribution));
    }
}

/// The correlation of normal jitter halves with each half-life between packets.
#[test]
fn correlation_halves_with_time() {
    let order = Order::InOrder {
        half_life: Nanos(100_000_000),
    };
    let values = jitter(&jittery(Distribution::Normal, order), 50_000_000);
    assert!(mean(&values).abs() < 0.05);
    for (lag, expected) in [(1, 0.707), (2, 0.5), (4, 0.25), (40, 0.0)] {
        let measured = autocorrelation(&values, lag);
        assert!(
            (measured - expected).abs() < 0.03,
            "lag {lag}: {measured} instead of {expected}"
        );
    }
}

/// Jitter in order never lets a packet overtake, however close they come.
#[test]
fn in_order_means_in_order() {
    for half_life in [0, 1_000_000, 1_000_000_000] {
        let order = Order::InOrder {
            half_life: Nanos(half_life),
        };
        let dues = dues(&drive(
            &jittery(Distribution::Pareto, order),
            SEED,
            PACKETS,
            10_000,
            100,
        ));
        assert!(dues.is_sorted());
    }
}

/// Jitter never makes a packet come before it was sent.
#[test]
fn delay_is_never_negative() {
    let mut config = jittery(Distribution::Normal, Order::Reorder);
    config.delay = Timeline::constant(Nanos(SCALE));
    let dues = dues(&drive(&config, SEED, PACKETS, 1000, 100));
    let at_once = dues
        .iter()
        .enumerate()
        .filter(|(i, due)| **due == *i as u64 * 1000)
        .count();
    assert!(dues
        .iter()
        .enumerate()
        .all(|(i, due)| *due >= i as u64 * 1000));
    // One in six is cut off: Φ(−1) = 0.159.
    assert!((at_once as f64 / PACKETS as f64 - 0.1587).abs() < 0.004);
}

/// A shorter delay from a given instant on does not turn packets around.
#[test]
fn a_shorter_delay_keeps_the_order() {
    let delay = Timeline::constant(Nanos(10_000)).then(Nanos(5_000), Nanos(1_000));
    let config = DirectionConfig {
        delay,
        ..DirectionConfig::default()
    };
    let dues = dues(&drive(&config, SEED, 20, 1_000, 100));
    assert_eq!(dues[4], 14_000);
    assert_eq!(dues[5], 14_000);
    assert_eq!(dues[19], 20_000);
    assert!(dues.is_sorted());
}
