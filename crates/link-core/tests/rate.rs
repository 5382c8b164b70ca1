// SPDX-License-Identifier: Apache-2.0
//! Serialisation at the bottleneck and at the edge is exact.

mod common;

use common::{delivery, drive, dues, key, SEED};
use link_core::{BitRate, Bytes, Direction, DirectionConfig, Nanos, Service, Timeline};

fn at_rate(rates: Timeline<Option<BitRate>>) -> DirectionConfig {
    DirectionConfig {
        service: Service::Rate(rates),
        ..DirectionConfig::default()
    }
}

/// The last of a million back-to-back packets of mixed sizes leaves within 1 ns of (sum of bits) / rate.
#[test]
fn a_million_packets_leave_on_the_nanosecond() {
    for rate in [
        1_000_000,
        12_345_678,
        99_999_989,
        1_000_000_007,
        9_876_543_211,
    ] {
        let mut direction = Direction::new(
            &at_rate(Timeline::constant(Some(BitRate(rate)))),
            &key(SEED),
        );
        let mut bits: u128 = 0;
        let mut last = Nanos::ZERO;
        for i in 0..1_000_000_u64 {
            let size = 40 + i * 7919 % 1461;
            bits += u128::from(size) * 8;
            last = delivery(&direction.offer(Nanos(0), Bytes(size)))
                .expect("no bound")
                .due;
        }
        let exact = bits * 1_000_000_000 / u128::from(rate);
        assert!(
            u128::from(last.0).abs_diff(exact) <= 1,
            "{rate} bit/s: {} instead of {exact}",
            last.0
        );
    }
}

/// A packet that finds the transmitter idle leaves after its own serialisation, whatever came before.
#[test]
fn idle_time_is_not_made_up_for() {
    let verdicts = drive(
        &at_rate(Timeline::constant(Some(BitRate(8_000_000)))),
        SEED,
        5,
        2_000_000,
        1000,
    );
    assert_eq!(
        dues(&verdicts),
        [1_000_000, 3_000_000, 5_000_000, 7_000_000, 9_000_000]
    );
    assert!(verdicts
        .iter()
        .all(|verdict| verdict.service == Nanos(1_000_000)));
}

/// A packet in service when the rate changes is sent in part at each rate, also across a standstill.
#[test]
fn a_change_of_rate_takes_effect_in_mid_packet() {
    let rates = Timeline::constant(Some(BitRate(8_000_000)))
        .then(Nanos(500_000), Some(BitRate(0)))
        .then(Nanos(10_000_000), Some(BitRate(4_000_000)))
        .then(Nanos(10_500_000), None);
    let verdicts = drive(&at_rate(rates), SEED, 2, 0, 1000);
    // 500 bytes before the standstill, 250 after it, and the rest takes no time.
    assert_eq!(dues(&verdicts), [10_500_000, 10_500_000]);
}

/// Framing takes time on the wire.
#[test]
fn overhead_is_serialised() {
    let mut config = at_rate(Timeline::constant(Some(BitRate(8_000_000))));
    config.overhead = Bytes(38);
    assert_eq!(
        dues(&drive(&config, SEED, 2, 0, 962)),
        [1_000_000, 2_000_000]
    );
}

/// The edge spaces a burst before the bottleneck's queue sees it.
#[test]
fn the_edge_spaces_bursts() {
    let mut config = at_rate(Timeline::constant(Some(BitRate(1_000_000_000))));
    config.edge_rate = Some(BitRate(100_000_000));
    let verdicts = drive(&config, SEED, 10, 0, 1250);
    let expected: Vec<u64> = (1..=10).map(|i| i * 100_000 + 10_000).collect();
    assert_eq!(dues(&verdicts), expected);
    assert!(
        verdicts.iter().all(|verdict| verdict.found.packets == 0),
        "the bottleneck is ten times as fast"
    );
}

/// A sender that never stops is bounded at the edge, and the bound is 64 MiB.
#[test]
fn the_edge_is_bounded() {
    let config = DirectionConfig {
        edge_rate: Some(BitRate(1)),
        ..DirectionConfig::default()
    };
    let verdicts = drive(&config, SEED, 70 * 1024, 0, 1024);
    let accepted = verdicts
        .iter()
        .filter(|verdict| delivery(verdict).is_some())
        .count();
    assert_eq!(accepted as u64, 64 * 1024);
}
