// SPDX-License-Identifier: Apache-2.0
//! A change while a direction runs does what a schedule that had known of it would have done.

mod common;

use common::{chance, delivery, dropped, key, SEED};
use link_core::{
    Aqm, BitRate, Block, Bucket, Bytes, CoDel, Direction, DirectionConfig, Distribution, Fate,
    GilbertElliottTime, Jitter, Loss, Nanos, Order, Oversize, Packet, Police, Protocol, QueueBound,
    Reorder, Rule, Service, Slot, Timeline, Verdict,
};

const AT: Nanos = Nanos(50_000_000);
const GAP_NS: u64 = 100_000;
const PACKETS: u64 = 2_000;

/// Everything at once, without a bottleneck: what reaches a stage has only just come.
fn first() -> DirectionConfig {
    DirectionConfig {
        delay: Timeline::constant(Nanos(5_000_000)),
        jitter: Timeline::constant(Some(jitter(1_000_000))),
        loss: Timeline::constant(Some(Loss::GilbertElliottTime(bursts(20_000_000)))),
        duplicate: Timeline::constant(chance(0.1)),
        ..DirectionConfig::default()
    }
}

fn jitter(scale_ns: u64) -> Jitter {
    Jitter {
        distribution: Distribution::Normal,
        scale: Nanos(scale_ns),
        order: Order::InOrder {
            half_life: Nanos(20_000_000),
        },
    }
}

fn bursts(mean_good_ns: u64) -> GilbertElliottTime {
    GilbertElliottTime {
        mean_good: Nanos(mean_good_ns),
        mean_bad: Nanos(5_000_000),
        loss_good: chance(0.0),
        loss_bad: chance(0.9),
    }
}

/// Every setting changed at `AT`, and the delay once more later.
fn changed() -> DirectionConfig {
    let before = first();
    DirectionConfig {
        block: Timeline::constant(None).then(
            AT,
            Some(Block {
                protocol: Protocol::Udp,
                from: Nanos::ZERO,
            }),
        ),
        police: Timeline::constant(None).then(
            AT,
            Some(Police {
                protocol: Protocol::Tcp,
                rate: BitRate(50_000_000),
                burst: Bytes(30_000),
                from: Nanos::ZERO,
            }),
        ),
        oversize: Timeline::constant(None).then(
            AT,
            Some(Oversize {
                above: Bytes(1_400),
                chance: chance(0.5),
                from: Nanos::ZERO,
                told: false,
            }),
        ),
        delay: before.delay.then(AT, Nanos(9_000_000)),
        jitter: before.jitter.then(AT, Some(jitter(2_000_000))),
        loss: before
            .loss
            .then(AT, Some(Loss::GilbertElliottTime(bursts(40_000_000)))),
        slot: Timeline::constant(None).then(
            AT,
            Some(Slot {
                least: Nanos(2_000_000),
                most: Nanos(7_000_000),
                packets: Some(40),
                bytes: None,
            }),
        ),
        reorder: Timeline::constant(None).then(
            AT,
            Some(Reorder {
                chance: chance(0.2),
                extra_delay: Nanos(700_000),
            }),
        ),
        duplicate: before.duplicate.then(AT, chance(0.3)),
        corrupt: Timeline::constant(chance(0.0)).then(AT, chance(0.2)),
        ..before
    }
}

fn packet(number: u64) -> Packet {
    Packet {
        protocol: match number % 3 {
            0 => Protocol::Tcp,
            1 => Protocol::Udp,
            _ => Protocol::Other,
        },
        ..Packet::from(Bytes(100 + number * 37 % 1_400))
    }
}

fn run(config: &DirectionConfig, change: Option<&DirectionConfig>) -> Vec<Verdict> {
    let mut direction = Direction::new(config, &key(SEED));
    let mut change = change;
    (0..PACKETS)
        .map(|number| {
            let at = Nanos(number * GAP_NS);
            if at >= AT {
                if let Some(after) = change.take() {
                    direction.change(AT, config, after);
                }
            }
            direction.offer(at, packet(number))
        })
        .collect()
}

/// Bit for bit, for all effects that have no queue before them.
#[test]
fn a_live_change_equals_a_scheduled_one() {
    let (before, after) = (first(), changed());
    assert_eq!(run(&before, Some(&after)), run(&after, None));
    assert_ne!(run(&before, None), run(&after, None));
}

/// A setting that stays as it is takes no part: a policer keeps its bucket, jitter its course.
#[test]
fn what_does_not_change_goes_on() {
    let before = changed();
    assert_eq!(run(&before, Some(&before)), run(&before, None));
}

/// A schedule goes on with what it has for later, and what it has done stays done.
#[test]
fn a_schedule_goes_on_behind_a_live_change() {
    let later = Nanos(AT.0 * 2);
    let before = DirectionConfig {
        delay: Timeline::constant(Nanos(1_000)).then(later, Nanos(3_000)),
        ..DirectionConfig::default()
    };
    let after = DirectionConfig {
        delay: Timeline::constant(Nanos(1_000))
            .then(AT, Nanos(2_000))
            .then(later, Nanos(3_000)),
        ..DirectionConfig::default()
    };
    let verdicts = run(&before, Some(&after));
    let delay = |number: usize| {
        let due = delivery(&verdicts[number]).expect("delivered").due;
        due.0 - number as u64 * GAP_NS
    };
    assert_eq!(
        [499, 500, 999, 1_000].map(delay),
        [1_000, 2_000, 2_000, 3_000]
    );
}

/// The packets in a droptail queue keep their departures; the next one leaves at the new rate behind them.
#[test]
fn a_new_rate_is_for_packets_that_come() {
    let rate = |rate| Timeline::constant(Some(BitRate(rate)));
    let config = |rates| DirectionConfig {
        service: Service::Rate(rates),
        ..DirectionConfig::default()
    };
    let before = config(rate(8_000_000));
    let after = config(rate(8_000_000).then(Nanos(500_000), Some(BitRate(80_000_000))));
    let mut direction = Direction::new(&before, &key(SEED));
    let due = |direction: &mut Direction, at| {
        delivery(&direction.offer(Nanos(at), Bytes(1_000)))
            .expect("delivered")
            .due
            .0
    };
    assert_eq!(due(&mut direction, 0), 1_000_000);
    assert_eq!(due(&mut direction, 0), 2_000_000);
    direction.change(Nanos(500_000), &before, &after);
    assert_eq!(due(&mut direction, 600_000), 2_100_000);
    assert_eq!(due(&mut direction, 5_000_000), 5_100_000);
}

/// A bucket fills at the new rate from then on; the packet that has its tokens by the old one keeps its departure.
#[test]
fn a_bucket_fills_at_a_new_rate() {
    let bucket = Bucket {
        burst: Bytes(1_000),
        peak: None,
    };
    let config = |rates| DirectionConfig {
        service: Service::Shaped(rates, bucket),
        ..DirectionConfig::default()
    };
    let slow = Timeline::constant(Some(BitRate(8_000_000)));
    let before = config(slow.clone());
    let after = config(slow.then(Nanos(500_000), Some(BitRate(80_000_000))));
    let mut direction = Direction::new(&before, &key(SEED));
    let due = |direction: &mut Direction, at| {
        delivery(&direction.offer(Nanos(at), Bytes(1_000)))
            .expect("delivered")
            .due
            .0
    };
    assert_eq!(due(&mut direction, 0), 0);
    assert_eq!(due(&mut direction, 0), 1_000_000);
    direction.change(Nanos(500_000), &before, &after);
    assert_eq!(due(&mut direction, 600_000), 1_100_000);
}

/// A smaller queue refuses those that come, and a managed one has its new rule and rate at the next turn.
#[test]
fn queues_change_as_they_run() {
    let bound = |packets| QueueBound {
        packets: Some(packets),
        ..QueueBound::default()
    };
    let codel = |target| {
        Some(Aqm {
            rule: Rule::CoDel(CoDel {
                target: Nanos(target),
                interval: Nanos(1_000_000),
                ecn: false,
            }),
            fair: None,
        })
    };
    let config = |aqm: Timeline<Option<Aqm>>, queue| DirectionConfig {
        service: Service::Rate(Timeline::constant(Some(BitRate(8_000_000)))),
        queue,
        aqm,
        ..DirectionConfig::default()
    };
    let queue = Timeline::constant(bound(1_000));
    let before = config(Timeline::constant(None), queue.clone());
    let after = config(Timeline::constant(None), queue.clone().then(AT, bound(1)));
    let fates = run(&before, Some(&after));
    assert!(dropped(&fates[400]).is_none());
    assert!(dropped(&fates[501]).is_some());

    let lax = Timeline::constant(codel(1_000_000_000));
    let strict = lax.clone().then(AT, codel(100_000));
    let decided = |config: &DirectionConfig, change: Option<&DirectionConfig>| {
        let mut direction = Direction::new(config, &key(SEED));
        let mut dropped = Vec::new();
        for number in 0..PACKETS {
            let now = Nanos(number * GAP_NS);
            while let Some(verdict) = direction.decide(now) {
                if matches!(verdict.fate, Fate::Dropped(_)) {
                    dropped.push(verdict.index);
                }
            }
            if let (AT, Some(after)) = (now, change) {
                direction.change(AT, config, after);
            }
            direction.offer(now, packet(number));
        }
        dropped
    };
    let (before, after) = (config(lax, queue.clone()), config(strict, queue));
    assert_eq!(decided(&before, Some(&after)), decided(&after, None));
    assert_ne!(decided(&before, None), decided(&after, None));
}
