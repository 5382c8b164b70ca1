// SPDX-License-Identifier: Apache-2.0
//! Reordering, by jitter and by itself, against its closed form; duplication and corruption.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts in tests are far below 2⁵³"
)]

mod common;

use common::{chance, delivery, drive, dues, share, SEED};
use link_core::{DirectionConfig, Distribution, Jitter, Nanos, Order, Reorder, Timeline};

const PACKETS: u64 = 100_000;

/// Packets δ apart with uniform jitter in ±s: number i comes after number i + k with chance (1 − kδ / 2s)² / 2, and
/// never if kδ ≥ 2s.
#[test]
fn jitter_reorders_by_its_closed_form() {
    let (gap_ns, scale_ns) = (1_000_000, 5_000_000);
    let jitter = Jitter {
        distribution: Distribution::Uniform,
        scale: Nanos(scale_ns),
        order: Order::Reorder,
    };
    let config = DirectionConfig {
        delay: Timeline::constant(Nanos(20_000_000)),
        jitter: Timeline::constant(Some(jitter)),
        ..DirectionConfig::default()
    };
    let dues = dues(&drive(&config, SEED, PACKETS, gap_ns, 100));
    for lag in 1..=12_usize {
        let overtaken: Vec<bool> = dues
            .iter()
            .zip(&dues[lag..])
            .map(|(first, later)| first > later)
            .collect();
        let room = (1.0 - lag as f64 * gap_ns as f64 / (2.0 * scale_ns as f64)).max(0.0);
        let expected = room * room / 2.0;
        // Overlapping pairs: twice the binomial deviation is a safe bound on theirs.
        let bound = 3.3 * 2.0 * (expected * (1.0 - expected) / PACKETS as f64).sqrt();
        assert!(
            (share(&overtaken) - expected).abs() <= bound,
            "lag {lag}: {} instead of {expected}",
            share(&overtaken)
        );
    }
}

/// A share of packets is held back by itself, each is overtaken by exactly those within its extra delay, and the rest
/// keep their order.
#[test]
fn a_share_is_held_back() {
    let reorder = Reorder {
        chance: chance(0.03),
        extra_delay: Nanos(4_500),
    };
    let config = DirectionConfig {
        delay: Timeline::constant(Nanos(100_000)),
        reorder: Timeline::constant(Some(reorder)),
        ..DirectionConfig::default()
    };
    let verdicts = drive(&config, SEED, PACKETS, 1_000, 100);
    let held: Vec<bool> = verdicts
        .iter()
        .map(|v| delivery(v).is_some_and(|it| it.reordered))
        .collect();
    assert!(
        (share(&held) - 0.03).abs() < 0.0018,
        "share {}",
        share(&held)
    );
    for (i, verdict) in verdicts.iter().enumerate() {
        let extra = if held[i] { 4_500 } else { 0 };
        assert_eq!(
            delivery(verdict).expect("delivered").due,
            Nanos(i as u64 * 1_000 + 100_000 + extra)
        );
    }
}

/// The asked shares of packets are duplicated and corrupted, copies by themselves, at places all over the packet.
#[test]
fn shares_are_duplicated_and_corrupted() {
    let config = DirectionConfig {
        duplicate: Timeline::constant(chance(0.1)),
        corrupt: Timeline::constant(chance(0.2)),
        ..DirectionConfig::default()
    };
    let deliveries: Vec<_> = drive(&config, SEED, PACKETS, 1_000, 100)
        .iter()
        .filter_map(delivery)
        .collect();
    let copies: Vec<_> = deliveries.iter().filter_map(|it| it.copy).collect();
    assert!((copies.len() as f64 / PACKETS as f64 - 0.1).abs() < 0.0032);
    let corrupted: Vec<bool> = deliveries.iter().map(|it| it.corrupt.is_some()).collect();
    assert!((share(&corrupted) - 0.2).abs() < 0.0042);
    let corrupted: Vec<bool> = copies.iter().map(|it| it.corrupt.is_some()).collect();
    assert!((share(&corrupted) - 0.2).abs() < 0.0132);
    let places: Vec<f64> = deliveries
        .iter()
        .filter_map(|it| it.corrupt)
        .map(|draw| draw as f64 / u64::MAX as f64)
        .collect();
    common::assert_ks(&places, |place| place);
}
