// SPDX-License-Identifier: Apache-2.0
//! The droptail queue drops exactly what does not fit.

mod common;

use common::{delivery, drive, dropped, dues, SEED};
use link_core::{
    BitRate, Bytes, DirectionConfig, DropReason, Nanos, QueueBound, Service, Timeline,
};

fn queue(rate: u64, bound: QueueBound) -> DirectionConfig {
    DirectionConfig {
        service: Service::Rate(Timeline::constant(Some(BitRate(rate)))),
        queue: Timeline::constant(bound),
        ..DirectionConfig::default()
    }
}

fn packets(limit: u32) -> QueueBound {
    QueueBound {
        packets: Some(limit),
        ..QueueBound::default()
    }
}

/// Exactly the last k of limit + k packets sent into a link that stands still are dropped: bound in packets.
#[test]
fn a_bound_in_packets_is_exact() {
    for limit in [1, 2, 32, 1000] {
        let verdicts = drive(
            &queue(0, packets(limit)),
            SEED,
            u64::from(limit) + 17,
            10,
            1500,
        );
        let (kept, rest) = verdicts.split_at(limit as usize);
        assert!(kept
            .iter()
            .all(|verdict| delivery(verdict).is_some_and(|it| it.due == Nanos::NEVER)));
        assert!(rest
            .iter()
            .all(|verdict| dropped(verdict) == Some(DropReason::QueueFull)));
        assert!(rest.iter().all(|verdict| verdict.found.packets == limit));
    }
}

/// Exactly those packets are kept that fit when they are sent into a link that stands still: bound in bytes.
#[test]
fn a_bound_in_bytes_is_exact() {
    let bound = QueueBound {
        bytes: Some(Bytes(10_000)),
        ..QueueBound::default()
    };
    let kept = |size| {
        drive(&queue(0, bound), SEED, 100, 10, size)
            .iter()
            .filter(|v| delivery(v).is_some())
            .count()
    };
    assert_eq!(
        [kept(1000), kept(1001), kept(10_000), kept(10_001)],
        [10, 9, 1, 0]
    );
}

/// A packet may stay as long as the bound in time says, and not a nanosecond longer.
#[test]
fn a_bound_in_time_is_exact() {
    let bound = |ns| QueueBound {
        time: Some(Nanos(ns)),
        ..QueueBound::default()
    };
    // 1000 bytes at 8 Mbit/s take 1 ms.
    let kept = |ns| {
        drive(&queue(8_000_000, bound(ns)), SEED, 100, 0, 1000)
            .iter()
            .filter(|v| delivery(v).is_some())
            .count()
    };
    assert_eq!([kept(10_000_000), kept(9_999_999)], [10, 9]);
}

/// Each bound holds where several are given.
#[test]
fn all_bounds_hold() {
    let bound = QueueBound {
        bytes: Some(Bytes(5000)),
        packets: Some(3),
        time: Some(Nanos(10_000_000)),
    };
    let kept = |size| {
        drive(&queue(8_000_000, bound), SEED, 100, 0, size)
            .iter()
            .filter(|v| delivery(v).is_some())
            .count()
    };
    assert_eq!([kept(1000), kept(2000), kept(5000)], [3, 2, 1]);
}

/// A full queue holds packets back by limit × size × 8 / rate.
#[test]
fn the_standing_delay_is_limit_over_rate() {
    // Offered at twice the rate, so the queue stands full in the end.
    let verdicts = drive(&queue(12_000_000, packets(50)), SEED, 1000, 500_000, 1500);
    let last = verdicts
        .iter()
        .rposition(|verdict| delivery(verdict).is_some())
        .expect("some pass");
    let due = delivery(&verdicts[last]).expect("delivered").due;
    let delay = due.0 - last as u64 * 500_000;
    // The last packet that fits finds 49 others, one of them partly sent.
    assert!((49_000_000..=50_000_000).contains(&delay), "{delay} ns");
}

/// A packet that leaves at the instant of an arrival has made room for it.
#[test]
fn departures_come_before_arrivals_of_the_same_instant() {
    let verdicts = drive(&queue(12_000_000, packets(1)), SEED, 100, 1_000_000, 1500);
    assert_eq!(
        dues(&verdicts),
        (1..=100).map(|i| i * 1_000_000).collect::<Vec<_>>()
    );
    let verdicts = drive(&queue(12_000_000, packets(1)), SEED, 100, 999_999, 1500);
    assert_eq!(
        verdicts
            .iter()
            .filter(|verdict| dropped(verdict).is_some())
            .count(),
        50
    );
}

/// The queue that a packet finds counts the whole packet in service, without framing.
#[test]
fn the_occupancy_counts_ip_bytes() {
    let mut config = queue(8_000_000, QueueBound::default());
    config.overhead = Bytes(100);
    let found: Vec<_> = drive(&config, SEED, 3, 10, 900)
        .iter()
        .map(|v| (v.found.bytes.0, v.found.packets))
        .collect();
    assert_eq!(found, [(0, 0), (900, 1), (1800, 2)]);
}
