// SPDX-License-Identifier: Apache-2.0
//! Arrivals and seed decide the verdicts: a repetition gives the same ones, and no effect disturbs another's draws.

mod common;

use common::{chance, delivery, drive, dropped, key, losses, SEED};
use link_core::{
    BitRate, Bytes, Direction, DirectionConfig, Distribution, GilbertElliott, GilbertElliottTime,
    Jitter, Loss, Nanos, Order, QueueBound, Reorder, Service, StreamKey, Timeline, Verdict,
};

/// All effects at once, and a schedule.
fn everything() -> DirectionConfig {
    let jitter = |order| Jitter {
        distribution: Distribution::ParetoNormal,
        scale: Nanos(2_000_000),
        order,
    };
    DirectionConfig {
        edge_rate: Some(BitRate(1_000_000_000)),
        service: Service::Rate(
            Timeline::constant(Some(BitRate(20_000_000)))
                .then(Nanos(300_000_000), Some(BitRate(7_000_000))),
        ),
        queue: Timeline::constant(QueueBound {
            bytes: Some(Bytes(50_000)),
            ..QueueBound::default()
        }),
        delay: Timeline::constant(Nanos(10_000_000)).then(Nanos(500_000_000), Nanos(30_000_000)),
        jitter: Timeline::constant(Some(jitter(Order::Reorder))).then(
            Nanos(700_000_000),
            Some(jitter(Order::InOrder {
                half_life: Nanos(50_000_000),
            })),
        ),
        loss: Timeline::constant(Some(Loss::GilbertElliottTime(GilbertElliottTime {
            mean_good: Nanos(80_000_000),
            mean_bad: Nanos(8_000_000),
            loss_good: chance(0.001),
            loss_bad: chance(0.7),
        })))
        .then(Nanos(600_000_000), Some(Loss::Bernoulli(chance(0.02)))),
        reorder: Timeline::constant(Some(Reorder {
            chance: chance(0.05),
            extra_delay: Nanos(3_000_000),
        })),
        duplicate: Timeline::constant(chance(0.03)),
        corrupt: Timeline::constant(chance(0.04)),
        ..DirectionConfig::default()
    }
}

/// Irregular arrivals, as a log would hold them.
fn arrivals() -> impl Iterator<Item = (Nanos, Bytes)> {
    (0..5000_u64).map(|i| {
        (
            Nanos(i * 200_000 + i * i % 1009 * 100),
            Bytes(60 + i * 31 % 1440),
        )
    })
}

fn verdicts(config: &DirectionConfig, key: &StreamKey) -> Vec<Verdict> {
    let mut direction = Direction::new(config, key);
    arrivals()
        .map(|(at, size)| direction.offer(at, size))
        .collect()
}

/// FNV-1a over everything that a verdict says; that there is no mark goes without saying.
fn digest(verdicts: &[Verdict]) -> u64 {
    verdicts
        .iter()
        .flat_map(|verdict| {
            format!("{verdict:?}")
                .replace("marked: false, ", "")
                .into_bytes()
        })
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Recorded arrivals and the seed give every verdict again, bit for bit.
#[test]
fn a_replay_is_identical() {
    let first = verdicts(&everything(), &key(SEED));
    assert_eq!(first, verdicts(&everything(), &key(SEED)));
    for other in [
        key(SEED + 1),
        StreamKey::new(SEED, "bottleneck", "down"),
        StreamKey::new(SEED, "access", "up"),
    ] {
        assert_ne!(first, verdicts(&everything(), &other));
    }
}

/// Verdicts stay what they were when these numbers were written down: a change here changes every recorded study.
#[test]
fn verdicts_are_golden() {
    let stream: Vec<u64> = (0..3).map(|i| key(SEED).stream("loss").draw(i)).collect();
    assert_eq!(stream, GOLDEN_DRAWS);
    let lost = |loss: Loss| {
        let config = DirectionConfig {
            loss: Timeline::constant(Some(loss)),
            ..DirectionConfig::default()
        };
        let lost = losses(&drive(&config, SEED, 300, 1_000_000, 1500));
        lost.iter()
            .enumerate()
            .filter(|(_, hit)| **hit)
            .map(|(i, _)| i)
            .collect::<Vec<_>>()
    };
    assert_eq!(lost(Loss::Bernoulli(chance(0.05))), GOLDEN_BERNOULLI);
    let (p, r) = (0.02, 0.3);
    let gilbert = GilbertElliott {
        p: chance(p),
        r: chance(r),
        loss_good: chance(0.0),
        loss_bad: chance(1.0),
        bad_at_start: chance(p / (p + r)),
    };
    assert_eq!(lost(Loss::GilbertElliott(gilbert)), GOLDEN_GILBERT);
    let outages = GilbertElliottTime {
        mean_good: Nanos(50_000_000),
        mean_bad: Nanos(4_000_000),
        loss_good: chance(0.0),
        loss_bad: chance(1.0),
    };
    assert_eq!(lost(Loss::GilbertElliottTime(outages)), GOLDEN_OUTAGES);
    assert_eq!(
        digest(&verdicts(&everything(), &key(SEED))),
        GOLDEN_EVERYTHING
    );
}

const GOLDEN_DRAWS: [u64; 3] = [
    3_117_685_414_530_417_208,
    15_223_355_430_612_196_934,
    4_126_977_747_931_727_391,
];
const GOLDEN_BERNOULLI: [usize; 11] = [35, 46, 114, 130, 209, 212, 219, 238, 257, 260, 267];
const GOLDEN_GILBERT: [usize; 7] = [178, 179, 240, 241, 242, 243, 258];
const GOLDEN_OUTAGES: [usize; 13] = [6, 7, 17, 18, 19, 20, 21, 22, 23, 24, 25, 114, 115];
const GOLDEN_EVERYTHING: u64 = 15_541_264_360_974_347_662;

/// Packets that an effect strikes do not depend on which other effects are on.
#[test]
fn effects_do_not_disturb_each_other() {
    let loss = Timeline::constant(Some(Loss::Bernoulli(chance(0.1))));
    let jitter = Jitter {
        distribution: Distribution::Normal,
        scale: Nanos(1_000_000),
        order: Order::Reorder,
    };
    let alone = DirectionConfig {
        loss: loss.clone(),
        ..DirectionConfig::default()
    };
    let mut all = DirectionConfig {
        loss,
        ..everything()
    };
    all.queue = Timeline::constant(QueueBound::default());
    let struck = |config: &DirectionConfig, by: fn(&Verdict) -> bool| {
        verdicts(config, &key(SEED))
            .iter()
            .filter(|v| by(v))
            .map(|v| v.index)
            .collect::<Vec<_>>()
    };
    let is_dropped: fn(&Verdict) -> bool = |v| dropped(v).is_some();
    assert_eq!(struck(&alone, is_dropped), struck(&all, is_dropped));

    let duplicated: fn(&Verdict) -> bool = |v| delivery(v).is_some_and(|it| it.copy.is_some());
    let corrupted: fn(&Verdict) -> bool = |v| delivery(v).is_some_and(|it| it.corrupt.is_some());
    let mut some = DirectionConfig {
        duplicate: Timeline::constant(chance(0.1)),
        corrupt: Timeline::constant(chance(0.1)),
        ..DirectionConfig::default()
    };
    let before = [struck(&some, duplicated), struck(&some, corrupted)];
    some.jitter = Timeline::constant(Some(jitter));
    some.reorder = Timeline::constant(Some(Reorder {
        chance: chance(0.5),
        extra_delay: Nanos(1),
    }));
    assert_eq!(
        before,
        [struck(&some, duplicated), struck(&some, corrupted)]
    );
    assert!(before.iter().all(|struck| struck.len() > 400));
}

/// An effect that is switched on later strikes the packets that it would have struck had it been on from the start.
#[test]
fn draws_belong_to_packets() {
    let from_start = DirectionConfig {
        duplicate: Timeline::constant(chance(0.1)),
        ..DirectionConfig::default()
    };
    let later = DirectionConfig {
        duplicate: Timeline::constant(chance(0.0)).then(Nanos(500_000_000), chance(0.1)),
        ..DirectionConfig::default()
    };
    let struck = |config: &DirectionConfig| {
        drive(config, SEED, 1000, 1_000_000, 100)
            .iter()
            .map(|v| delivery(v).is_some_and(|it| it.copy.is_some()))
            .collect::<Vec<_>>()
    };
    let (all, half) = (struck(&from_start), struck(&later));
    assert!(half[..500].iter().all(|hit| !hit));
    assert_eq!(all[500..], half[500..]);
}
