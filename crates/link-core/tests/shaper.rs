// SPDX-License-Identifier: Apache-2.0
//! A token bucket lets a burst through, at once or at a peak rate, and then the rate: to the nanosecond.

mod common;

use common::{drive, dues, key, SEED};
use link_core::{
    unit_interval, Aqm, BitRate, Bucket, Bytes, CoDel, Direction, DirectionConfig, Fate, Nanos,
    QueueBound, Rule, Service, Timeline,
};

const MS: u64 = 1_000_000;

/// 8 Mbit/s, 1000 bytes a millisecond, with a burst.
fn shaped(burst: u64, peak: Option<u64>) -> DirectionConfig {
    at(Timeline::constant(Some(BitRate(8_000_000))), burst, peak)
}

fn at(rates: Timeline<Option<BitRate>>, burst: u64, peak: Option<u64>) -> DirectionConfig {
    let burst = Bytes(burst);
    let peak = peak.map(BitRate);
    DirectionConfig {
        service: Service::Shaped(rates, Bucket { burst, peak }),
        ..DirectionConfig::default()
    }
}

/// A bucket that is full passes its burst at once, and then a packet each time it has its tokens.
#[test]
fn a_burst_passes_at_once_and_then_the_rate() {
    let found = dues(&drive(&shaped(3000, None), SEED, 7, 0, 1000));
    assert_eq!(found, [0, 0, 0, MS, 2 * MS, 3 * MS, 4 * MS]);
}

/// A burst passes at the peak rate, and tokens go on coming meanwhile: in a row come as many packets as have all of
/// their tokens when their sending begins, which is close to burst × peak / (peak − rate) bytes.
#[test]
fn a_burst_passes_at_the_peak_rate() {
    // 4000 bytes a millisecond: the seventh packet begins at 1.5 ms, when 7500 bytes have been allowed.
    let found = dues(&drive(&shaped(6000, Some(32_000_000)), SEED, 10, 0, 1000));
    let at_peak: Vec<u64> = (1..=7).map(|packet| packet * MS / 4).collect();
    assert_eq!(found[..7], at_peak);
    // The eighth needs its tokens first: 8000 bytes are there at 2 ms, and take a quarter of a millisecond.
    assert_eq!(found[7..], [2_250_000, 3_250_000, 4_250_000]);
}

/// A pause fills the bucket again, up to the burst.
#[test]
fn a_pause_fills_the_bucket() {
    let config = shaped(3000, None);
    let mut direction = Direction::new(&config, &key(SEED));
    let mut due = |at: u64, size: u64| match direction.offer(Nanos(at), Bytes(size)).fate {
        Fate::Delivered(delivery) => delivery.due.0,
        _ => panic!("nothing is dropped here"),
    };
    for _ in 0..3 {
        assert_eq!(due(0, 1000), 0);
    }
    assert_eq!(due(2 * MS, 1000), 2 * MS);
    assert_eq!(due(2 * MS, 1000), 2 * MS);
    assert_eq!(due(2 * MS, 1000), 3 * MS);
    let later = 1000 * MS;
    for number in 0..5_u64 {
        assert_eq!(due(later, 1000), later + number.saturating_sub(2) * MS);
    }
}

/// A packet that is larger than the bucket waits until that is full, and what follows pays for the rest.
#[test]
fn a_packet_larger_than_the_bucket_passes() {
    let config = shaped(1000, None);
    let mut direction = Direction::new(&config, &key(SEED));
    let found: Vec<Fate> = [500, 1500, 500]
        .map(|size| direction.offer(Nanos::ZERO, Bytes(size)).fate)
        .to_vec();
    let due = |fate: &Fate| match fate {
        Fate::Delivered(delivery) => delivery.due.0,
        _ => panic!("nothing is dropped here"),
    };
    assert_eq!(
        found.iter().map(due).collect::<Vec<_>>(),
        [0, MS / 2, 3 * MS / 2]
    );
}

/// Tokens come at the rate of their moment; a rate of none fills the bucket at once, and one of 0 not at all.
#[test]
fn tokens_follow_the_schedule() {
    let rates = Timeline::constant(Some(BitRate(8_000_000)))
        .then(Nanos(2 * MS), Some(BitRate(0)))
        .then(Nanos(5 * MS), Some(BitRate(16_000_000)))
        .then(Nanos(6 * MS), None);
    let found = dues(&drive(&at(rates, 1000, None), SEED, 8, 0, 1000));
    let six = 6 * MS;
    assert_eq!(found, [0, MS, 2 * MS, 5_500_000, six, six, six, six]);
    let stops = Timeline::constant(Some(BitRate(8_000_000))).then(Nanos(MS), Some(BitRate(0)));
    let found = dues(&drive(&at(stops, 1000, None), SEED, 3, 0, 1000));
    assert_eq!(found, [0, MS, u64::MAX]);
}

/// Packets that wait for tokens are in the queue, whose bounds hold; the queue's management sees their wait.
#[test]
fn packets_wait_in_the_queue() {
    let mut config = shaped(2000, None);
    config.queue = Timeline::constant(QueueBound {
        packets: Some(3),
        ..QueueBound::default()
    });
    let kept: Vec<u32> = drive(&config, SEED, 8, 0, 1000)
        .iter()
        .filter(|verdict| matches!(verdict.fate, Fate::Delivered(_)))
        .map(|verdict| verdict.index)
        .collect();
    assert_eq!(kept, [0, 1, 2, 3, 4]);
    config.queue = Timeline::constant(QueueBound::default());
    config.aqm = Timeline::constant(Some(Aqm {
        rule: Rule::CoDel(CoDel {
            target: Nanos(5 * MS),
            interval: Nanos(100 * MS),
            ecn: false,
        }),
        fair: None,
    }));
    let mut direction = Direction::new(&config, &key(SEED));
    for packet in 0..1000 {
        direction.offer(Nanos(packet * MS / 2), Bytes(1000));
    }
    let mut dropped = 0;
    while let Some(verdict) = direction.decide(Nanos(2000 * MS)) {
        dropped += usize::from(matches!(verdict.fate, Fate::Dropped(_)));
    }
    assert!(dropped > 5, "{dropped}");
}

/// No more than burst + rate × time passes over any span of time, whatever the packets are.
#[test]
fn the_bucket_bounds_every_span_of_time() {
    let mut dice = key(5).stream("dice");
    for round in 0..50_u64 {
        let burst = 1500 + dice.draw_next() % 20_000;
        let peak = (round % 2 == 0).then(|| 20_000_000 + dice.draw_next() % 80_000_000);
        let mut direction = Direction::new(&shaped(burst, peak), &key(SEED));
        let mut passed: Vec<(u64, u64, u64)> = Vec::new();
        let mut now = 0;
        for _ in 0..300 {
            now += if unit_interval(dice.draw_next()) < 0.2 {
                dice.draw_next() % 20_000_000
            } else {
                0
            };
            let size = 40 + dice.draw_next() % 1460;
            if let Fate::Delivered(delivery) = direction.offer(Nanos(now), Bytes(size)).fate {
                passed.push((now, delivery.due.0, size));
            }
        }
        for from in 0..passed.len() {
            let mut bytes = 0;
            for (_, due, size) in &passed[from..] {
                bytes += size;
                // With a peak rate a packet's tokens are taken up to one service time before it has left.
                let sending_ns = peak.map_or(0, |peak| passed[from].2 * 8_000_000_000 / peak + 1);
                let began_ns = passed[from].1.saturating_sub(sending_ns);
                let most = u128::from(burst) * 1_000_000 + u128::from(due - began_ns + 1) * 1000;
                assert!(u128::from(bytes) * 1_000_000 <= most, "round {round}");
            }
        }
        assert!(passed.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    }
}
