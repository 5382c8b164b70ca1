// SPDX-License-Identifier: Apache-2.0
//! Packets above a size are dropped, all or a share of them, and no others.

mod common;

use common::{chance, drive, dropped, key, losses, share, SEED};
use link_core::{
    Bytes, Direction, DirectionConfig, DropReason, Loss, Nanos, Oversize, Packet, Timeline, Verdict,
};

const MS: u64 = 1_000_000;

fn above(bytes: u64, probability: f64, from: Nanos) -> Oversize {
    Oversize {
        above: Bytes(bytes),
        chance: chance(probability),
        from,
        told: false,
    }
}

fn lossy(oversize: Timeline<Option<Oversize>>) -> DirectionConfig {
    DirectionConfig {
        oversize,
        ..DirectionConfig::default()
    }
}

/// One packet each millisecond, of these sizes.
fn sent(config: &DirectionConfig, sizes: impl IntoIterator<Item = u64>) -> Vec<Verdict> {
    let mut direction = Direction::new(config, &key(SEED));
    (0..)
        .zip(sizes)
        .map(|(i, size)| direction.offer(Nanos(i * MS), Bytes(size)))
        .collect()
}

/// A black hole: a packet of exactly the size passes, one byte more is lost, from the instant on and always.
#[test]
fn a_black_hole_takes_every_larger_packet() {
    let config = lossy(Timeline::constant(Some(above(1300, 1.0, Nanos(4 * MS)))));
    for (size, lost) in [(1300, false), (1301, true), (40, false), (1500, true)] {
        for (at, verdict) in sent(&config, [size; 100]).iter().enumerate() {
            let reason = (lost && at >= 4).then_some(DropReason::Oversize);
            assert_eq!(dropped(verdict), reason, "{size} bytes after {at} ms");
        }
    }
}

/// A share of the larger packets is lost, each by itself; of the smaller ones between them none.
#[test]
fn a_share_of_the_larger_packets_is_lost() {
    const PACKETS: usize = 100_000;
    let config = lossy(Timeline::constant(Some(above(1300, 0.04, Nanos::ZERO))));
    let sizes = (0..PACKETS).map(|i| if i % 2 == 0 { 1500 } else { 1300 });
    let lost = losses(&sent(&config, sizes));
    let (larger, smaller): (Vec<_>, Vec<_>) = (0..PACKETS).partition(|i| i % 2 == 0);
    let of = |which: &[usize]| share(&which.iter().map(|i| lost[*i]).collect::<Vec<_>>());
    assert!((of(&smaller)).abs() < f64::EPSILON);
    // 3.3 deviations of 50,000 draws.
    assert!((of(&larger) - 0.04).abs() < 0.0029, "{}", of(&larger));
}

/// A change digs a hole, another one fills it.
#[test]
fn a_schedule_may_begin_and_end_it() {
    let config = lossy(
        Timeline::constant(None)
            .then(Nanos(2 * MS), Some(above(1000, 1.0, Nanos::ZERO)))
            .then(Nanos(4 * MS), None),
    );
    let lost = losses(&sent(&config, [1400; 6]));
    assert_eq!(lost, [false, false, true, true, false, false]);
}

/// The draws of random loss stay: of the packets that pass it takes those that it takes without a lossy size.
#[test]
fn other_draws_stay() {
    let plain = DirectionConfig {
        loss: Timeline::constant(Some(Loss::Bernoulli(chance(0.1)))),
        ..DirectionConfig::default()
    };
    let both = DirectionConfig {
        oversize: Timeline::constant(Some(above(600, 0.5, Nanos::ZERO))),
        ..plain.clone()
    };
    let before = drive(&plain, SEED, 10_000, MS, 1500);
    let after = drive(&both, SEED, 10_000, MS, 1500);
    let mut struck = 0;
    for (before, after) in before.iter().zip(&after) {
        if dropped(after) == Some(DropReason::Oversize) {
            struck += 1;
        } else {
            assert_eq!(before, after);
        }
    }
    assert!((4_800..5_200).contains(&struck), "{struck}");
    // Those that are too small for it meet the same loss to the packet.
    assert_eq!(
        drive(&plain, SEED, 10_000, MS, 600),
        drive(&both, SEED, 10_000, MS, 600)
    );
}

/// A sender is told where the link says so; the reason is another one, and a packet that may be cut passes.
#[test]
fn a_sender_may_be_told() {
    let told = Oversize {
        told: true,
        ..above(1_300, 1.0, Nanos::ZERO)
    };
    let config = DirectionConfig {
        oversize: Timeline::constant(Some(told)),
        ..DirectionConfig::default()
    };
    let mut direction = Direction::new(&config, &key(SEED));
    let mut fate = |size, fragmentable| {
        let packet = Packet {
            fragmentable,
            ..Packet::from(Bytes(size))
        };
        dropped(&direction.offer(Nanos::ZERO, packet))
    };
    assert_eq!(fate(1_300, false), None);
    assert_eq!(fate(1_301, false), Some(DropReason::TooBig));
    assert_eq!(fate(1_301, true), None);
    assert_eq!(direction.largest_at(Nanos(7)), Some(Bytes(1_300)));
    let config = DirectionConfig::default();
    let direction = Direction::new(&config, &key(SEED));
    assert_eq!(direction.largest_at(Nanos(7)), None);
}
