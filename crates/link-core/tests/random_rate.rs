// SPDX-License-Identifier: Apache-2.0
//! Rates that are drawn by chance: within their range, for their period, the same for whatever is sent.

mod common;

use common::{assert_ks, dues, key, SEED};
use link_core::{
    BitRate, Bytes, Direction, DirectionConfig, DropReason, Fate, Nanos, QueueBound, RandomRate,
    RandomRates, Service, StreamKey, Timeline,
};

const RANGE: RandomRate = RandomRate {
    least: BitRate(50_000_000),
    most: BitRate(150_000_000),
    every: Nanos(1_000_000_000),
};

fn config() -> DirectionConfig {
    DirectionConfig {
        service: Service::Random(RANGE),
        ..DirectionConfig::default()
    }
}

fn drawn(key: &StreamKey, periods: usize) -> Vec<u64> {
    let mut rates = RandomRates::new(RANGE, key);
    (0..periods).map(|period| rates.of(period).0).collect()
}

/// Every rate of the range is as likely, and the bounds belong to it.
#[test]
#[expect(clippy::cast_precision_loss, reason = "rates are below 2⁵³")]
fn rates_are_uniform() {
    let rates: Vec<f64> = drawn(&key(SEED), 10_000)
        .into_iter()
        .map(|rate| rate as f64)
        .collect();
    assert_ks(&rates, |rate| ((rate - 50e6) / 100e6).clamp(0.0, 1.0));
    let narrow = RandomRate {
        least: BitRate(7),
        most: BitRate(9),
        ..RANGE
    };
    let mut few = RandomRates::new(narrow, &key(SEED));
    let mut seen: Vec<u64> = (0..100).map(|period| few.of(period).0).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [7, 8, 9]);
}

/// The rates stay what they were when these numbers were written down, and each direction has its own.
#[test]
fn rates_are_golden() {
    assert_eq!(drawn(&key(SEED), 4), GOLDEN);
    for other in [
        key(SEED + 1),
        StreamKey::new(SEED, "bottleneck", "down"),
        StreamKey::new(SEED, "access", "up"),
    ] {
        assert_ne!(drawn(&other, 4), GOLDEN);
    }
}

const GOLDEN: [u64; 4] = [68_554_210, 111_368_019, 135_548_767, 52_934_509];

/// While packets never run out, each period carries as many bits as its rate says.
#[test]
fn a_period_carries_its_rate() {
    let mut direction = Direction::new(&config(), &key(SEED));
    let verdicts: Vec<_> = (0..40_000)
        .map(|_| direction.offer(Nanos::ZERO, Bytes(1500)))
        .collect();
    let left = dues(&verdicts);
    for (period, rate) in drawn(&key(SEED), 4).into_iter().enumerate() {
        let within = |due: &&u64| **due / RANGE.every.0 == period as u64;
        let bits = left.iter().filter(within).count() as u64 * 12_000;
        assert!(
            bits.abs_diff(rate) <= 12_000,
            "{bits} bits in period {period} at {rate} bit/s"
        );
    }
}

/// Two senders with nothing in common but the seed find the same rate at the same instant.
#[test]
fn the_rate_does_not_depend_on_what_is_sent() {
    let service_at = |gap_ns: u64, size: u64| {
        let mut direction = Direction::new(&config(), &key(SEED));
        (0..10_000_000_000 / gap_ns)
            .map(|i| direction.offer(Nanos(i * gap_ns), Bytes(size)))
            .map(|verdict| (verdict.service.0 * 1500).div_ceil(size))
            .collect::<Vec<_>>()
    };
    let (often, seldom) = (service_at(10_000_000, 1500), service_at(70_000_000, 300));
    for (i, service) in seldom.iter().enumerate() {
        assert!(
            service.abs_diff(often[i * 7]) <= 5,
            "{service} ns and {} ns at {} ms",
            often[i * 7],
            i * 70
        );
    }
}

/// A packet refused by a full queue at the end of a period does not move the rate forward.
#[test]
fn a_refused_packet_leaves_the_rate_alone() {
    let bound = QueueBound {
        packets: Some(1),
        ..QueueBound::default()
    };
    let bounded = DirectionConfig {
        queue: Timeline::constant(bound),
        ..config()
    };
    let just_before = Nanos(RANGE.every.0 - 1000);
    let mut direction = Direction::new(&bounded, &key(SEED));
    direction.offer(just_before, Bytes(1500));
    let refused = direction.offer(just_before, Bytes(1500));
    assert_eq!(refused.fate, Fate::Dropped(DropReason::QueueFull));
    let after = direction.offer(Nanos(RANGE.every.0 + 500_000_000), Bytes(1500));
    let second = drawn(&key(SEED), 2)[1];
    assert_eq!(after.service.0, 12_000 * 1_000_000_000 / second);
}
