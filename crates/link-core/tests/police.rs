// SPDX-License-Identifier: Apache-2.0
//! Packets that are blocked or policed are dropped, and no others.

mod common;

use common::{dropped, key, SEED};
use link_core::{
    BitRate, Block, Bytes, Direction, DirectionConfig, DropReason, Nanos, Packet, Police, Protocol,
    Timeline,
};

const MS: u64 = 1_000_000;

fn reasons(
    config: &DirectionConfig,
    arrivals: impl IntoIterator<Item = (u64, u64, Protocol)>,
) -> Vec<Option<DropReason>> {
    let mut direction = Direction::new(config, &key(SEED));
    let judge = |(at, size, protocol)| {
        let packet = Packet {
            protocol,
            ..Packet::from(Bytes(size))
        };
        dropped(&direction.offer(Nanos(at), packet))
    };
    arrivals.into_iter().map(judge).collect()
}

/// 8 Mbit/s and 3000 bytes: 1000 bytes a millisecond.
fn policed(from: Nanos) -> DirectionConfig {
    DirectionConfig {
        police: Timeline::constant(Some(Police {
            protocol: Protocol::Udp,
            rate: BitRate(8_000_000),
            burst: Bytes(3000),
            from,
        })),
        ..DirectionConfig::default()
    }
}

/// A block drops every packet of the transport from its instant on, and no other.
#[test]
fn a_block_is_complete_from_its_instant_on() {
    let config = DirectionConfig {
        block: Timeline::constant(Some(Block {
            protocol: Protocol::Udp,
            from: Nanos(5 * MS),
        })),
        ..DirectionConfig::default()
    };
    for protocol in [Protocol::Udp, Protocol::Tcp, Protocol::Other] {
        let reasons = reasons(&config, (0..10).map(|i| (i * MS, 100, protocol)));
        for (at, reason) in reasons.into_iter().enumerate() {
            let blocked = protocol == Protocol::Udp && at >= 5;
            assert_eq!(reason, blocked.then_some(DropReason::Blocked));
        }
    }
}

/// The bucket passes its burst at once, and then what fills it again: to the nanosecond.
#[test]
fn the_bucket_is_exact() {
    let config = policed(Nanos::ZERO);
    let arrivals = [
        (0, true),
        (0, true),
        (0, true),
        (0, false),
        (MS - 1, false),
        (MS, true),
        (MS, false),
    ];
    let expected: Vec<_> = arrivals
        .iter()
        .map(|(_, passes)| (!passes).then_some(DropReason::Policed))
        .collect();
    let udp = arrivals.map(|(at, _)| (at, 1000, Protocol::Udp));
    assert_eq!(reasons(&config, udp), expected);
    let tcp = arrivals.map(|(at, _)| (at, 1000, Protocol::Tcp));
    assert!(reasons(&config, tcp).iter().all(Option::is_none));
}

/// The bucket holds its burst after a pause, and no more; a packet larger than the burst never passes.
#[test]
fn the_bucket_holds_its_burst() {
    let udp = |at, size| (at, size, Protocol::Udp);
    let arrivals = (0..5)
        .map(|_| udp(1000 * MS, 1000))
        .chain([udp(9000 * MS, 3001)]);
    let reasons = reasons(&policed(Nanos::ZERO), arrivals);
    let dropped: Vec<bool> = reasons.iter().map(Option::is_some).collect();
    assert_eq!(dropped, [false, false, false, true, true, true]);
}

/// Bytes that pass over a long time are burst plus rate × time, to the packet.
#[test]
fn the_rate_is_exact_over_time() {
    let arrivals = (0..100_000_u64).map(|i| (i * 333_333, 1000, Protocol::Udp));
    let passed = reasons(&policed(Nanos::ZERO), arrivals)
        .iter()
        .filter(|reason| reason.is_none())
        .count();
    // 3 packets at once, and one for every millisecond until the last arrival after 33332.96 ms.
    assert_eq!(passed, 3 + 33_332);
}

/// A policer neither drops nor counts before its time.
#[test]
fn a_policer_may_begin_later() {
    let arrivals = (0..20).map(|i| (i / 10 * 50 * MS, 1000, Protocol::Udp));
    let reasons = reasons(&policed(Nanos(50 * MS)), arrivals);
    let dropped: Vec<bool> = reasons.iter().map(Option::is_some).collect();
    assert_eq!(dropped[..13], [false; 13]);
    assert_eq!(dropped[13..], [true; 7]);
}

/// A change puts another policer in the place of the one before, with a full bucket, or takes it away.
#[test]
fn a_policer_may_be_exchanged() {
    let mut config = policed(Nanos::ZERO);
    let narrow = Police {
        protocol: Protocol::Udp,
        rate: BitRate(8),
        burst: Bytes(1000),
        from: Nanos::ZERO,
    };
    config.police = config
        .police
        .then(Nanos(10 * MS), Some(narrow))
        .then(Nanos(20 * MS), None);
    let arrivals = (0..15).map(|i| (i / 5 * 10 * MS, 1000, Protocol::Udp));
    let dropped: Vec<bool> = reasons(&config, arrivals)
        .iter()
        .map(Option::is_some)
        .collect();
    assert_eq!(dropped[..5], [false, false, false, true, true]);
    assert_eq!(dropped[5..10], [false, true, true, true, true]);
    assert_eq!(dropped[10..], [false; 5]);
}

/// A block may end.
#[test]
fn a_block_may_be_lifted() {
    let block = Block {
        protocol: Protocol::Udp,
        from: Nanos::ZERO,
    };
    let config = DirectionConfig {
        block: Timeline::constant(None)
            .then(Nanos(2 * MS), Some(block))
            .then(Nanos(4 * MS), None),
        ..DirectionConfig::default()
    };
    let arrivals = (0..6).map(|i| (i * MS, 100, Protocol::Udp));
    let dropped: Vec<bool> = reasons(&config, arrivals)
        .iter()
        .map(Option::is_some)
        .collect();
    assert_eq!(dropped, [false, false, true, true, false, false]);
}
