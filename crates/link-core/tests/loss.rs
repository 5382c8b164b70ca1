// SPDX-License-Identifier: Apache-2.0
//! Loss models lose what they say, in the pattern that they say.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts in tests are far below 2⁵³"
)]

mod common;

use common::{
    assert_chi_square, assert_geometric, autocorrelation, chance, drive, dropped, losses,
    run_lengths, share, SEED,
};
use link_core::{
    BitRate, DirectionConfig, DropReason, GilbertElliott, GilbertElliottTime, Loss, LossAt, Nanos,
    QueueBound, Service, Timeline,
};

const PACKETS: u64 = 1_000_000;

fn lossy(loss: Loss) -> DirectionConfig {
    DirectionConfig {
        loss: Timeline::constant(Some(loss)),
        ..DirectionConfig::default()
    }
}

fn bursty(p: f64, r: f64, loss_good: f64, loss_bad: f64) -> DirectionConfig {
    lossy(Loss::GilbertElliott(GilbertElliott {
        p: chance(p),
        r: chance(r),
        loss_good: chance(loss_good),
        loss_bad: chance(loss_bad),
        bad_at_start: chance(p / (p + r)),
    }))
}

fn outages(mean_good_ns: u64, mean_bad_ns: u64) -> DirectionConfig {
    lossy(Loss::GilbertElliottTime(GilbertElliottTime {
        mean_good: Nanos(mean_good_ns),
        mean_bad: Nanos(mean_bad_ns),
        loss_good: chance(0.0),
        loss_bad: chance(1.0),
    }))
}

/// Losses per 1000 packets are binomial around p, and the lengths of runs are those of independent draws.
#[test]
fn bernoulli_is_independent() {
    for p in [0.01, 0.3] {
        let lost = losses(&drive(
            &lossy(Loss::Bernoulli(chance(p))),
            SEED,
            PACKETS,
            1000,
            1500,
        ));
        let bins: Vec<f64> = lost
            .chunks(1000)
            .map(|bin| bin.iter().filter(|hit| **hit).count() as f64)
            .collect();
        let scaled: Vec<f64> = bins
            .iter()
            .map(|count| (count - 1000.0 * p) / (1.0 - p).sqrt() + 1000.0 * p)
            .collect();
        assert_chi_square(&scaled, &vec![1000.0 * p; bins.len()], bins.len() as f64);
        // Wald and Wolfowitz: the number of runs.
        let runs = lost.chunk_by(|a, b| a == b).count() as f64;
        let hits = share(&lost) * PACKETS as f64;
        let misses = PACKETS as f64 - hits;
        let expected = 1.0 + 2.0 * hits * misses / PACKETS as f64;
        let deviation = ((expected - 1.0) * (expected - 2.0) / (PACKETS as f64 - 1.0)).sqrt();
        assert!(
            (runs - expected).abs() < 3.3 * deviation,
            "p = {p}: {runs} runs instead of {expected}"
        );
    }
}

/// A chance of zero never loses, and a chance of one always does.
#[test]
fn the_ends_of_the_range_are_sure() {
    assert!(
        share(&losses(&drive(
            &lossy(Loss::Bernoulli(chance(0.0))),
            SEED,
            10_000,
            1,
            100
        ))) <= 0.0
    );
    assert!(
        share(&losses(&drive(
            &lossy(Loss::Bernoulli(chance(1.0))),
            SEED,
            10_000,
            1,
            100
        ))) >= 1.0
    );
}

/// Gilbert: a share of p / (p + r), bursts geometric with mean 1 / r, gaps with mean 1 / p, correlation 1 − p − r.
#[test]
fn gilbert_bursts_have_their_lengths() {
    for (p, r) in [(0.01, 0.3), (0.002, 0.1)] {
        let lost = losses(&drive(&bursty(p, r, 0.0, 1.0), SEED, PACKETS, 1000, 1500));
        let expected = p / (p + r);
        // The variance of a share under correlation ρ is (1 + ρ) / (1 − ρ) times the binomial one.
        let correlation = 1.0 - p - r;
        let variance = expected * (1.0 - expected) / PACKETS as f64 * (1.0 + correlation)
            / (1.0 - correlation);
        assert!(
            (share(&lost) - expected).abs() < 3.3 * variance.sqrt(),
            "share {} not {expected}",
            share(&lost)
        );
        assert_geometric(&run_lengths(&lost, true), r);
        assert_geometric(&run_lengths(&lost, false), p);
        let indicator: Vec<f64> = lost.iter().map(|hit| f64::from(u8::from(*hit))).collect();
        for lag in [1, 2, 5] {
            let expected = correlation.powi(i32::try_from(lag).expect("small"));
            let measured = autocorrelation(&indicator, lag);
            assert!(
                (measured - expected).abs() < 0.02,
                "lag {lag}: {measured} instead of {expected}"
            );
        }
    }
}

/// Elliott: loss in both states adds up by the time spent in each.
#[test]
fn elliott_loses_in_both_states() {
    let (p, r, loss_good, loss_bad) = (0.02, 0.2, 0.001, 0.4);
    let lost = losses(&drive(
        &bursty(p, r, loss_good, loss_bad),
        SEED,
        PACKETS,
        1000,
        1500,
    ));
    let bad = p / (p + r);
    let expected = bad * loss_bad + (1.0 - bad) * loss_good;
    assert!(
        (share(&lost) - expected).abs() < 0.001,
        "share {} not {expected}",
        share(&lost)
    );
}

/// Outages last exponential times around their mean, and so do the times between them.
#[test]
fn outages_have_their_lengths() {
    let (good_ns, bad_ns, gap_ns) = (50_000_000, 5_000_000, 10_000);
    let lost = losses(&drive(
        &outages(good_ns, bad_ns),
        SEED,
        2 * PACKETS,
        gap_ns,
        100,
    ));
    // Sampled at a fixed distance, an exponential length is geometric.
    let geometric = |mean: u64| 1.0 - (-(gap_ns as f64) / mean as f64).exp();
    let survive = |lengths: &[usize], end: f64| {
        let uniform: Vec<f64> = lengths
            .iter()
            .map(|n| 1.0 - (1.0 - end).powf(*n as f64 - 0.5))
            .collect();
        common::assert_ks(&uniform, |u| u);
    };
    survive(&run_lengths(&lost, true), geometric(bad_ns));
    survive(&run_lengths(&lost, false), geometric(good_ns));
}

/// Slow and fast senders meet the same outages at the same instants.
#[test]
fn outages_do_not_depend_on_traffic() {
    let config = outages(20_000_000, 3_000_000);
    let slow = losses(&drive(&config, SEED, 10_000, 1_000_000, 100));
    let fast = losses(&drive(&config, SEED, 200_000, 50_000, 1500));
    let fast_at_the_same_instants: Vec<bool> = fast.into_iter().step_by(20).collect();
    assert_eq!(slow, fast_at_the_same_instants);
    assert!(share(&slow) > 0.05);
}

/// Different seeds give different outages, from the first instant on: 1 in 4 starts within one.
#[test]
fn outages_start_in_the_stationary_state() {
    let config = outages(30_000_000, 10_000_000);
    let starts: Vec<bool> = (0..4000)
        .map(|seed| losses(&drive(&config, seed, 1, 1, 100))[0])
        .collect();
    assert!(
        (share(&starts) - 0.25).abs() < 0.023,
        "share {}",
        share(&starts)
    );
}

/// A list drops exactly the packets on it, for that reason.
#[test]
fn a_list_is_literal() {
    let verdicts = drive(
        &lossy(Loss::List(vec![0, 3, 4, 4, 99, 5000])),
        SEED,
        100,
        1000,
        100,
    );
    let listed: Vec<u32> = verdicts
        .iter()
        .filter(|v| dropped(v) == Some(DropReason::Listed))
        .map(|v| v.index)
        .collect();
    assert_eq!(listed, [0, 3, 4, 99]);
}

/// Loss before the queue takes none of the bottleneck's time, loss behind it does.
#[test]
fn the_place_of_loss_matters() {
    let mut config = lossy(Loss::List((0..50).collect()));
    config.service = Service::Rate(Timeline::constant(Some(BitRate(8_000_000))));
    config.queue = Timeline::constant(QueueBound {
        packets: Some(60),
        ..QueueBound::default()
    });
    let count = |config: &DirectionConfig, reason| {
        drive(config, SEED, 100, 0, 1000)
            .iter()
            .filter(|verdict| dropped(verdict) == Some(reason))
            .count()
    };
    assert_eq!(count(&config, DropReason::QueueFull), 0);
    config.loss_at = LossAt::Exit;
    assert_eq!(
        [
            count(&config, DropReason::QueueFull),
            count(&config, DropReason::Listed)
        ],
        [40, 50]
    );
    config.loss = Timeline::constant(Some(Loss::Bernoulli(chance(1.0))));
    assert_eq!(count(&config, DropReason::LossAtExit), 60);
}
