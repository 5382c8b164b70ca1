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
    jitter_of(config, PACKETS, gap_ns)
}

fn jitter_of(config: &DirectionConfig, packets: u64, gap_ns: u64) -> Vec<f64> {
    let dues = dues(&drive(config, SEED, packets, gap_ns, 100));
    dues.iter()
        .enumerate()
        .map(|(i, due)| (*due as f64 - (i as u64 * gap_ns + DELAY) as f64) / SCALE as f64)
        .collect()
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares = values.iter().map(|value| (value - mean).powi(2));
    (squares.sum::<f64>() / values.len() as f64).sqrt()
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

const IN_ORDER: [Distribution; 4] = [
    Distribution::Uniform,
    Distribution::Normal,
    Distribution::Pareto,
    Distribution::ParetoNormal,
];

/// Jitter in order of the shortest half-life that is possible, times `stretch`.
fn in_order(distribution: Distribution, stretch: u64) -> (DirectionConfig, u64) {
    let half_life = Jitter::least_half_life(distribution, Nanos(SCALE)).0 * stretch;
    let order = Order::InOrder {
        half_life: Nanos(half_life),
    };
    (jittery(distribution, order), half_life)
}

/// Seen now and then, jitter in order has the asked distribution: nothing squeezes or shifts it.
#[test]
fn jitter_in_order_keeps_its_distribution() {
    for distribution in IN_ORDER {
        let (config, half_life) = in_order(distribution, 3);
        let values = jitter_of(&config, PACKETS / 4, half_life * 61);
        assert_ks(&values, reference(distribution));
    }
}

/// A packet's delay does not depend on what else is sent: 10 packets a second, as acknowledgements may come, find what
/// they would have found among 100,000, and none waits for the one before it. So the distribution is that of the test
/// above at every rate.
#[test]
fn jitter_in_order_is_the_same_at_every_rate() {
    const DENSE_GAP: u64 = 10_000;
    for distribution in IN_ORDER {
        for stretch in [1, 3] {
            let (config, _) = in_order(distribution, stretch);
            let dense = dues(&drive(&config, SEED, 5 * PACKETS, DENSE_GAP, 100));
            assert!(dense.is_sorted());
            for share in [10, 100, 1000, 10_000] {
                let gap = DENSE_GAP * share;
                let sparse = dues(&drive(&config, SEED, 5 * PACKETS / share, gap, 100));
                let step = usize::try_from(share).expect("small");
                let same: Vec<u64> = dense.iter().copied().step_by(step).collect();
                assert_eq!(sparse, same);
            }
        }
    }
}

/// Mean and standard deviation are at each rate within 3 % of the scale of those of the distribution, over 40,000
/// half-lives.
#[test]
fn jitter_in_order_has_mean_and_deviation_at_every_rate() {
    for distribution in [
        Distribution::Uniform,
        Distribution::Normal,
        Distribution::Pareto,
    ] {
        let (config, half_life) = in_order(distribution, 3);
        let independent = jitter(&jittery(distribution, Order::Reorder), 1_000_000);
        for packets in [PACKETS, 10 * PACKETS] {
            let values = jitter_of(&config, packets, 40_000 * half_life / packets);
            assert!((mean(&values) - mean(&independent)).abs() < 0.03);
            assert!((deviation(&values) - deviation(&independent)).abs() < 0.03);
        }
    }
}

/// Half of the correlation is left after a half-life, and none after many.
#[test]
fn correlation_halves_in_a_half_life() {
    for distribution in IN_ORDER {
        let (config, half_life) = in_order(distribution, 4);
        let values = jitter_of(&config, 10 * PACKETS, half_life / 10);
        for (lag, expected, within) in [(10, 0.5, 0.03), (1000, 0.0, 0.05)] {
            let measured = autocorrelation(&values, lag);
            assert!(
                (measured - expected).abs() < within,
                "{distribution:?}, lag {lag}: {measured} instead of {expected}"
            );
        }
    }
}

/// Two changes of the jitter, to another size and to none, turn no packets around.
#[test]
fn jitter_that_changes_keeps_the_order() {
    let (mut config, _) = in_order(Distribution::Pareto, 1);
    let setting = |scale: u64| {
        let order = Order::InOrder {
            half_life: Nanos(20 * SCALE),
        };
        Some(Jitter {
            distribution: Distribution::Normal,
            scale: Nanos(scale),
            order,
        })
    };
    config.jitter = Timeline::constant(setting(SCALE))
        .then(Nanos(300_000_000), setting(SCALE / 10))
        .then(Nanos(600_000_000), None);
    assert!(dues(&drive(&config, SEED, PACKETS, 10_000, 100)).is_sorted());
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
