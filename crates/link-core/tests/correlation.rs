// SPDX-License-Identifier: Apache-2.0
//! Correlated loss, duplication and corruption have the asked share of packets and the asked correlation, exactly.

mod common;

use common::{
    assert_geometric, autocorrelation, chance, delivery, drive, losses, run_lengths, share, SEED,
};
use link_core::{DirectionConfig, Loss, LossKey, Timeline};

const MS: u64 = 1_000_000;
const PACKETS: u64 = 200_000;

fn correlated(probability: f64, correlation: f64) -> DirectionConfig {
    DirectionConfig {
        loss: Timeline::constant(Some(Loss::Correlated {
            chance: chance(probability),
            repeat: chance(correlation),
        })),
        ..DirectionConfig::default()
    }
}

fn numbers(hits: &[bool]) -> Vec<f64> {
    hits.iter().map(|hit| f64::from(u8::from(*hit))).collect()
}

/// The share that is lost is the asked one whatever the correlation is, which falls by its powers.
#[test]
fn share_and_correlation_are_those_asked_for() {
    for (probability, correlation) in [(0.01, 0.25), (0.1, 0.25), (0.1, 0.9), (0.5, 0.5)] {
        let lost = losses(&drive(
            &correlated(probability, correlation),
            SEED,
            PACKETS,
            MS,
            100,
        ));
        // Variance of the mean of correlated draws: p (1 − p) (1 + ρ) / (1 − ρ) / n.
        let spread = (1.0 + correlation) / (1.0 - correlation);
        let deviation = (probability * (1.0 - probability) * spread / 200_000.0).sqrt();
        assert!((share(&lost) - probability).abs() < 3.3 * deviation);
        let lost = numbers(&lost);
        for lag in 1..4_i32 {
            let found = autocorrelation(&lost, usize::try_from(lag).unwrap());
            assert!(
                (found - correlation.powi(lag)).abs() < 0.03,
                "lag {lag}: {found}"
            );
        }
    }
}

/// Runs of losses are geometric: one ends with (1 − correlation) × (1 − probability).
#[test]
fn runs_are_geometric() {
    let lost = losses(&drive(&correlated(0.1, 0.6), SEED, PACKETS, MS, 100));
    assert_geometric(&run_lengths(&lost, true), 0.4 * 0.9);
    assert_geometric(&run_lengths(&lost, false), 0.4 * 0.1);
}

/// A correlation of zero is independent loss, to the packet; packets that share a draw share their fate.
#[test]
fn draws_are_those_of_independent_loss() {
    let plain = DirectionConfig {
        loss: Timeline::constant(Some(Loss::Bernoulli(chance(0.1)))),
        ..DirectionConfig::default()
    };
    let lost = |config: &DirectionConfig| losses(&drive(config, SEED, 5000, MS, 1000));
    assert_eq!(lost(&correlated(0.1, 0.0)), lost(&plain));
    let mut shared = correlated(0.3, 0.5);
    shared.loss_by = LossKey::Bytes;
    let lost = lost(&shared);
    // Packets 0 and 1 of each three begin in the same 1500 bytes.
    assert!(lost
        .chunks(3)
        .all(|three| three.get(1).is_none_or(|second| *second == three[0])));
    assert!((share(&lost) - 0.3).abs() < 0.05);
}

/// Duplication and corruption keep their share and their correlation too.
#[test]
fn copies_and_flipped_bits_are_correlated() {
    let config = DirectionConfig {
        duplicate: Timeline::constant(chance(0.1)),
        duplicate_repeat: chance(0.5),
        corrupt: Timeline::constant(chance(0.2)),
        corrupt_repeat: chance(0.7),
        ..DirectionConfig::default()
    };
    let verdicts = drive(&config, SEED, PACKETS, MS, 100);
    let delivered = || {
        verdicts
            .iter()
            .map(|verdict| delivery(verdict).expect("delivered"))
    };
    let copies: Vec<bool> = delivered().map(|it| it.copy.is_some()).collect();
    let flipped: Vec<bool> = delivered().map(|it| it.corrupt.is_some()).collect();
    for (hits, probability, correlation) in [(copies, 0.1, 0.5), (flipped, 0.2, 0.7)] {
        assert!((share(&hits) - probability).abs() < 0.01);
        let found = autocorrelation(&numbers(&hits), 1);
        assert!((found - correlation).abs() < 0.03, "{found}");
    }
}
