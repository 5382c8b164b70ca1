// SPDX-License-Identifier: Apache-2.0
//! Settings change at the instant that the schedule names, for the packet that reaches the stage then.

mod common;

use common::{chance, delivery, drive, dropped, dues, SEED};
use link_core::{
    BitRate, Bytes, DirectionConfig, Distribution, GilbertElliottTime, Jitter, Loss, Nanos, Order,
    Police, Protocol, QueueBound, Service, Timeline,
};

/// Loss, duplication and corruption are on exactly in the span that says so.
#[test]
fn effects_are_on_in_their_span() {
    let span = |on, off| {
        Timeline::constant(off)
            .then(Nanos(10_000), on)
            .then(Nanos(20_000), off)
    };
    let config = DirectionConfig {
        duplicate: span(chance(1.0), chance(0.0)),
        corrupt: span(chance(1.0), chance(0.0)),
        ..DirectionConfig::default()
    };
    for (i, verdict) in drive(&config, SEED, 30, 1_000, 100).iter().enumerate() {
        let delivery = delivery(verdict).expect("delivered");
        let on = (10..20).contains(&i);
        assert_eq!(
            (delivery.copy.is_some(), delivery.corrupt.is_some()),
            (on, on),
            "packet {i}"
        );
    }
    let loss = Timeline::constant(None)
        .then(Nanos(10_000), Some(Loss::Bernoulli(chance(1.0))))
        .then(Nanos(20_000), None);
    let config = DirectionConfig {
        loss,
        ..DirectionConfig::default()
    };
    let indices: Vec<u32> = drive(&config, SEED, 30, 1_000, 100)
        .iter()
        .filter(|v| dropped(v).is_some())
        .map(|v| v.index)
        .collect();
    assert_eq!(indices, (10..20).collect::<Vec<_>>());
}

/// A smaller queue refuses newcomers and keeps the packets that are in it.
#[test]
fn a_smaller_queue_keeps_what_it_holds() {
    let bound = |packets| QueueBound {
        packets: Some(packets),
        ..QueueBound::default()
    };
    let config = DirectionConfig {
        service: Service::Rate(Timeline::constant(Some(BitRate(0)))),
        queue: Timeline::constant(bound(10))
            .then(Nanos(5_000), bound(3))
            .then(Nanos(8_000), bound(7)),
        ..DirectionConfig::default()
    };
    let kept: Vec<u32> = drive(&config, SEED, 12, 1_000, 100)
        .iter()
        .filter(|v| dropped(v).is_none())
        .map(|v| v.index)
        .collect();
    assert_eq!(kept, [0, 1, 2, 3, 4, 8, 9]);
}

/// The later of two changes at one instant counts, and a change at t = 0 replaces the start.
#[test]
fn later_changes_win() {
    let mut timeline = Timeline::constant(1)
        .then(Nanos(0), 2)
        .then(Nanos(10), 3)
        .then(Nanos(10), 4);
    assert_eq!(
        [
            *timeline.at(Nanos(0)),
            *timeline.at(Nanos(9)),
            *timeline.at(Nanos(10))
        ],
        [2, 2, 4]
    );
}

const SECOND: u64 = 1_000_000_000;
const DELAY: u64 = 200_000_000;

fn in_order(scale_ms: u64, half_life_ms: u64) -> Jitter {
    Jitter {
        distribution: Distribution::Normal,
        scale: Nanos(scale_ms * 1_000_000),
        order: Order::InOrder {
            half_life: Nanos(half_life_ms * 1_000_000),
        },
    }
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap()
}

/// Delays that jitter adds to packets 1 ms apart.
fn offsets(jitter: Timeline<Option<Jitter>>) -> Vec<i64> {
    let config = DirectionConfig {
        delay: Timeline::constant(Nanos(DELAY)),
        jitter,
        ..DirectionConfig::default()
    };
    let dues = dues(&drive(&config, SEED, 20_000, 1_000_000, 100));
    let offset = |(i, due): (u64, &u64)| signed(*due) - signed(i * 1_000_000 + DELAY);
    (0..).zip(&dues).map(offset).collect()
}

/// A change that sets what is there changes nothing, to the nanosecond.
#[test]
fn jitter_that_is_set_again_goes_on() {
    let once = Timeline::constant(Some(in_order(5, 20)));
    let again = once.clone().then(Nanos(10 * SECOND), Some(in_order(5, 20)));
    assert_eq!(offsets(again), offsets(once));
}

/// Another size stretches the course that was there; it does not begin again.
#[test]
fn jitter_that_grows_goes_on() {
    let once = Timeline::constant(Some(in_order(5, 40)));
    let before = offsets(once.clone());
    let after = offsets(once.then(Nanos(10 * SECOND), Some(in_order(10, 40))));
    assert_eq!(after[..10_000], before[..10_000]);
    // At the change the delay may become shorter at once, which keeps packets in order for as long.
    for (large, small) in after[10_100..].iter().zip(&before[10_100..]) {
        assert!((large - 2 * small).abs() <= 1);
    }
}

/// No part of the course comes twice: with another half-life too, behind a time without jitter, or with another shape.
#[test]
fn no_course_of_jitter_repeats() {
    let pareto = Some(Jitter {
        distribution: Distribution::Pareto,
        ..in_order(5, 20)
    });
    for between in [Some(in_order(10, 40)), None, pareto] {
        let changes = Timeline::constant(Some(in_order(5, 20)))
            .then(Nanos(10 * SECOND), between)
            .then(Nanos(10 * SECOND + 1), Some(in_order(5, 20)));
        let all = offsets(changes);
        let [first, second] = [&all[..10_000], &all[10_001..]].map(|part| {
            let part: Vec<f64> = part
                .iter()
                .map(|&ns| f64::from(i32::try_from(ns).unwrap()))
                .collect();
            part
        });
        let products = first.iter().zip(&second).map(|(a, b)| a * b);
        let square = first.iter().map(|a| a * a).sum::<f64>();
        // The standard error of 10 s of this course is 0.06.
        assert!((products.sum::<f64>() / square).abs() < 0.3);
    }
}

fn bursts(mean_good_ms: u64, mean_bad_ms: u64) -> Loss {
    Loss::GilbertElliottTime(GilbertElliottTime {
        mean_good: Nanos(mean_good_ms * 1_000_000),
        mean_bad: Nanos(mean_bad_ms * 1_000_000),
        loss_good: chance(0.0),
        loss_bad: chance(1.0),
    })
}

/// Times at which packets 1 ms apart were lost, in ms.
fn lost_ms(models: Timeline<Option<Loss>>) -> Vec<u32> {
    let config = DirectionConfig {
        loss: models,
        ..DirectionConfig::default()
    };
    let verdicts = drive(&config, SEED, 20_000, 1_000_000, 100);
    let is_lost = verdicts.iter().filter(|v| dropped(v).is_some());
    is_lost.map(|v| v.index).collect()
}

/// Outages are where they would be without a change that sets what is there.
#[test]
fn outages_that_are_set_again_go_on() {
    let once = Timeline::constant(Some(bursts(500, 50)));
    let again = once.clone().then(Nanos(10 * SECOND), Some(bursts(500, 50)));
    assert_eq!(lost_ms(again), lost_ms(once));
}

/// Other lengths, or a time without outages, repeat none of them.
#[test]
fn no_outages_repeat() {
    for between in [
        Some(bursts(300, 30)),
        None,
        Some(Loss::Bernoulli(chance(0.0))),
    ] {
        let changes = Timeline::constant(Some(bursts(500, 50)))
            .then(Nanos(10 * SECOND), between)
            .then(Nanos(10 * SECOND + 1), Some(bursts(500, 50)));
        let all = lost_ms(changes);
        let (first, second): (Vec<u32>, Vec<u32>) = all.iter().partition(|&&ms| ms < 10_000);
        assert!(first.len() > 300 && second.len() > 300);
        let again = second.iter().filter(|ms| first.contains(&(*ms - 10_000)));
        assert!(again.count() < second.len() / 2);
    }
}

/// A change that shortens the present period shortens what is left of it in proportion.
#[test]
fn what_is_left_of_an_outage_shrinks_with_its_mean() {
    let once = Timeline::constant(Some(bursts(500, 500)));
    let all = lost_ms(once.clone());
    let end = (1..all.len()).find(|&i| all[i] > all[i - 1] + 1).unwrap();
    let (begin, end) = (all[0], all[end - 1] + 1);
    let middle = begin.midpoint(end);
    let at = Nanos(u64::from(middle) * 1_000_000);
    let shorter = lost_ms(once.then(at, Some(bursts(500_000, 50))));
    let lost = u32::try_from(shorter.len()).unwrap();
    let expected = middle - begin + (end - middle).div_ceil(10);
    assert!(
        lost.abs_diff(expected) <= 1,
        "{lost} in place of {expected}"
    );
}

const PERIOD: u64 = 15_000;

/// A course that repeats itself is the same in each period, from its first value on.
#[test]
fn a_course_repeats_itself() {
    let mut timeline = Timeline::constant(1)
        .then(Nanos(0), 2)
        .then(Nanos(10), 3)
        .repeated(Nanos(100));
    for lap in [0, 1, 2, 1_000_000] {
        let found = [0, 9, 10, 99].map(|t| *timeline.at(Nanos(lap * 100 + t)));
        assert_eq!(found, [2, 2, 3, 3], "period {lap}");
    }
}

/// Delay, loss, rate and duplication are in each period what they were in the first.
#[test]
fn every_setting_may_repeat_itself() {
    let config = DirectionConfig {
        delay: Timeline::constant(Nanos(100))
            .then(Nanos(5_000), Nanos(900))
            .repeated(Nanos(PERIOD)),
        loss: Timeline::constant(None)
            .then(Nanos(7_000), Some(Loss::Bernoulli(chance(1.0))))
            .then(Nanos(8_000), None)
            .repeated(Nanos(PERIOD)),
        duplicate: Timeline::constant(chance(0.0))
            .then(Nanos(12_000), chance(1.0))
            .repeated(Nanos(PERIOD)),
        ..DirectionConfig::default()
    };
    let verdicts = drive(&config, SEED, 150, 1_000, 100);
    for (i, verdict) in verdicts.iter().enumerate() {
        let within = i % 15;
        let Some(delivery) = delivery(verdict) else {
            assert_eq!(within, 7, "packet {i}");
            continue;
        };
        assert_ne!(within, 7, "packet {i}");
        // A smaller delay does not turn packets around.
        let wanted = if (5..15).contains(&within) { 900 } else { 100 };
        let due = u64::try_from(i).unwrap() * 1_000 + wanted;
        assert_eq!(
            (delivery.due.0, delivery.copy.is_some()),
            (due, within >= 12)
        );
    }
}

/// Packets go on at the rate of their moment over the ends of periods, also one that takes several of them.
#[test]
fn a_rate_repeats_itself() {
    let rates = Timeline::constant(Some(BitRate(8_000_000)))
        .then(Nanos(3_000_000), Some(BitRate(0)))
        .repeated(Nanos(10_000_000));
    let config = DirectionConfig {
        service: Service::Rate(rates),
        ..DirectionConfig::default()
    };
    // 1000 bytes a millisecond for three of each ten.
    let found = dues(&drive(&config, SEED, 8, 0, 1000));
    assert_eq!(
        found,
        [1, 2, 3, 11, 12, 13, 21, 22].map(|ms| ms * 1_000_000)
    );
    assert_eq!(dues(&drive(&config, SEED, 1, 0, 7000)), [21_000_000]);
}

/// A policer that a period brings has a full bucket in each of them.
#[test]
fn a_policer_comes_anew_in_each_period() {
    let police = Police {
        protocol: Protocol::Other,
        rate: BitRate(8),
        burst: Bytes(1000),
        from: Nanos::ZERO,
    };
    let config = DirectionConfig {
        police: Timeline::constant(None)
            .then(Nanos(5_000), Some(police))
            .repeated(Nanos(10_000)),
        ..DirectionConfig::default()
    };
    let passed: Vec<u32> = drive(&config, SEED, 40, 1_000, 1000)
        .iter()
        .filter(|v| dropped(v).is_none())
        .map(|v| v.index)
        .collect();
    let wanted: Vec<u32> = (0..40).filter(|i| i % 10 < 6).collect();
    assert_eq!(passed, wanted);
}

/// Jitter that a period sets again goes on with its course: no period has the delays of another.
#[test]
fn jitter_is_not_periodic() {
    let jitter = Timeline::constant(Some(in_order(2, 8)))
        .then(Nanos(SECOND), Some(in_order(2, 8)))
        .repeated(Nanos(2 * SECOND));
    assert_eq!(
        offsets(jitter),
        offsets(Timeline::constant(Some(in_order(2, 8))))
    );
}
