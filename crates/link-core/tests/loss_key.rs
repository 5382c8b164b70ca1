// SPDX-License-Identifier: Apache-2.0
//! The loss of each packet is as likely as asked, whatever numbers the draws; what the number
//! decides is which packets of two protocols are lost together.
mod common;

use std::collections::BTreeSet;

use common::{chance, dropped, key, SEED};
use link_core::{
    Bytes, Direction, DirectionConfig, Distribution, GilbertElliott, GilbertElliottTime, Jitter,
    Loss, LossKey, Nanos, Order, Packet, Timeline,
};

const KEYS: [LossKey; 4] = [
    LossKey::Index,
    LossKey::Class,
    LossKey::Bytes,
    LossKey::SuperPacket,
];

fn lossy(loss: Loss, loss_by: LossKey) -> DirectionConfig {
    DirectionConfig {
        loss: Timeline::constant(Some(loss)),
        loss_by,
        ..DirectionConfig::default()
    }
}

/// True if each of the packets, one a microsecond, is lost.
fn lost(config: &DirectionConfig, sizes: impl IntoIterator<Item = u64>) -> Vec<bool> {
    let mut direction = Direction::new(config, &key(SEED));
    sizes
        .into_iter()
        .zip(0..)
        .map(|(size, at)| dropped(&direction.offer(Nanos(at * 1000), Bytes(size))).is_some())
        .collect()
}

/// Large packets of two sizes with small ones between them in an irregular order.
fn mixed(packets: u64) -> Vec<u64> {
    (0..packets)
        .map(|i| match i * i % 7 {
            0 | 1 => 52,
            2 => 1500,
            _ => 1228,
        })
        .collect()
}

/// The share of lost packets among those of one kind, and its standard deviation over 100 parts of the sequence,
/// which takes care of packets that are lost together.
fn share_of(lost: &[bool], sizes: &[u64], kind: impl Fn(u64) -> bool) -> (f64, f64) {
    let hits: Vec<f64> = lost
        .iter()
        .zip(sizes)
        .filter(|(_, size)| kind(**size))
        .map(|(lost, _)| f64::from(u8::from(*lost)))
        .collect();
    let parts: Vec<f64> = hits
        .chunks(hits.len() / 100)
        .take(100)
        .map(common::mean)
        .collect();
    let mean = common::mean(&parts);
    let variance = parts.iter().map(|part| (part - mean).powi(2)).sum::<f64>() / 99.0;
    (mean, (variance / 100.0).sqrt())
}

/// Large and small packets are lost as often as was asked, by whatever key and in each model.
#[test]
fn the_rate_of_each_packet_stays() {
    let chain = GilbertElliott {
        p: chance(0.02),
        r: chance(0.38),
        loss_good: chance(0.0),
        loss_bad: chance(1.0),
        bad_at_start: chance(0.05),
    };
    let outages = GilbertElliottTime {
        mean_good: Nanos(900_000),
        mean_bad: Nanos(100_000),
        loss_good: chance(0.0),
        loss_bad: chance(0.5),
    };
    let sizes = mixed(210_000);
    for loss in [
        Loss::Bernoulli(chance(0.05)),
        Loss::GilbertElliott(chain),
        Loss::GilbertElliottTime(outages),
    ] {
        for loss_by in KEYS {
            let lost = lost(&lossy(loss.clone(), loss_by), sizes.iter().copied());
            for (name, of) in [("large", 600..2000), ("small", 0..600)] {
                let (share, deviation) = share_of(&lost, &sizes, |size| of.contains(&size));
                assert!(
                    (share - 0.05).abs() < 3.9 * deviation && deviation < 0.005,
                    "{loss:?} by {loss_by:?}: {share} ± {deviation} of the {name} packets"
                );
            }
        }
    }
}

/// Packets that fill 1500 bytes each are drawn alike by every key: then all of them are the same model.
#[test]
fn full_packets_are_lost_alike_by_every_key() {
    for loss in [
        Loss::Bernoulli(chance(0.03)),
        Loss::GilbertElliott(GilbertElliott {
            p: chance(0.02),
            r: chance(0.5),
            loss_good: chance(0.01),
            loss_bad: chance(0.7),
            bad_at_start: chance(0.04),
        }),
    ] {
        let [index, class, bytes, super_packet] =
            KEYS.map(|by| lost(&lossy(loss.clone(), by), vec![1500; 20_000]));
        assert!(common::share(&index) > 0.01);
        assert_eq!(index, class);
        assert_eq!(index, bytes);
        assert_eq!(index, super_packet);
    }
}

/// The numbers of the lost data packets of a transfer: `handshake` packets come first, and there is a small packet
/// after each `every` of data.
fn lost_data(loss_by: LossKey, handshake: &[u64], every: u64) -> BTreeSet<usize> {
    let data = (0..3000).flat_map(|i| {
        let acknowledgment = (i % every == every - 1).then_some(60);
        std::iter::once(1500).chain(acknowledgment)
    });
    let sizes: Vec<u64> = handshake.iter().copied().chain(data).collect();
    let config = lossy(Loss::Bernoulli(chance(0.02)), loss_by);
    lost(&config, sizes.iter().copied())
        .into_iter()
        .zip(&sizes)
        .filter(|(_, size)| **size == 1500)
        .enumerate()
        .filter(|(_, (lost, _))| *lost)
        .map(|(number, _)| number)
        .collect()
}

/// Two protocols whose handshakes and acknowledgments differ lose the same data packets by class, and others by index.
#[test]
fn protocols_share_the_losses_of_their_data_by_class() {
    let tcp = |by| lost_data(by, &[60, 52, 400], 2);
    let quic = |by| lost_data(by, &[80, 90, 70, 64, 500, 120], 10);
    assert!(tcp(LossKey::Class).len() > 30);
    assert_eq!(tcp(LossKey::Class), quic(LossKey::Class));
    let (a, b) = (tcp(LossKey::Index), quic(LossKey::Index));
    assert!(a.intersection(&b).count() * 5 < a.len());
}

/// Packets of 1250 bytes are lost in the same 1500 bytes as those of 1500, and nowhere else.
#[test]
fn sizes_share_the_losses_of_their_bytes() {
    let config = lossy(Loss::Bernoulli(chance(0.02)), LossKey::Bytes);
    let cells = |size: u64| -> BTreeSet<u64> {
        lost(
            &config,
            vec![size; usize::try_from(3_000_000 / size).expect("small")],
        )
        .into_iter()
        .zip(0..)
        .filter(|(lost, _)| *lost)
        .map(|(_, number)| number * size / 1500)
        .collect()
    };
    assert!(cells(1500).len() > 20);
    assert_eq!(cells(1500), cells(1250));
}

/// Small packets share nothing by bytes: one that is repeated after a loss has a draw of its own, and however many there
/// are, data are lost at the same bytes.
#[test]
fn small_packets_are_drawn_each_by_itself() {
    let loss = Loss::Bernoulli(chance(0.5));
    let small = |by| lost(&lossy(loss.clone(), by), vec![60; 5000]);
    assert_eq!(small(LossKey::Bytes), small(LossKey::Class));
    let runs = common::run_lengths(&small(LossKey::Bytes), true);
    common::assert_geometric(&runs, 0.5);
    assert_eq!(
        lost_data(LossKey::Bytes, &[60, 52, 400], 2),
        lost_data(LossKey::Bytes, &[80], 10)
    );
}

/// A list is of packet numbers whatever the key.
#[test]
fn a_list_knows_numbers_only() {
    for loss_by in KEYS {
        let lost = lost(
            &lossy(Loss::List(vec![3]), loss_by),
            [60, 1500, 60, 60, 1500],
        );
        assert_eq!(lost, [false, false, false, true, false]);
    }
}

/// True if each packet is lost: super-packets of three segments, each 10 ms after the one before, numbered from
/// `first` on.
fn lost_of_threes(config: &DirectionConfig, first: u32, super_packets: u32) -> Vec<bool> {
    let mut direction = Direction::new(config, &key(SEED));
    (0..3 * super_packets)
        .map(|number| {
            let packet = Packet {
                super_packet: Some(first + number / 3),
                ..Packet::from(Bytes(1500))
            };
            let at = Nanos(u64::from(number / 3) * 10_000_000);
            dropped(&direction.offer(at, packet)).is_some()
        })
        .collect()
}

/// All of a super-packet is lost, or nothing of it, each with the chance that was asked for; the numbers of the host
/// begin anywhere.
#[test]
fn a_super_packet_is_lost_as_one() {
    for loss in [
        Loss::Bernoulli(chance(0.04)),
        Loss::GilbertElliott(GilbertElliott {
            p: chance(0.02),
            r: chance(0.48),
            loss_good: chance(0.0),
            loss_bad: chance(1.0),
            bad_at_start: chance(0.04),
        }),
    ] {
        let config = lossy(loss, LossKey::SuperPacket);
        let lost = lost_of_threes(&config, 0, 20_000);
        assert!(lost
            .chunks(3)
            .all(|of_one| of_one.iter().all(|each| *each == of_one[0])));
        let share = common::share(&lost);
        assert!((0.035..0.045).contains(&share), "{share}");
        assert_eq!(lost, lost_of_threes(&config, 77, 20_000));
    }
}

/// A packet that came by itself has a draw of its own.
#[test]
fn packets_that_came_by_themselves_share_nothing() {
    let sizes = vec![1500; 10_000];
    let chance = Loss::Bernoulli(chance(0.04));
    assert_eq!(
        lost(&lossy(chance.clone(), LossKey::SuperPacket), sizes.clone()),
        lost(&lossy(chance, LossKey::Index), sizes)
    );
}

/// Jitter by packet is drawn once for a super-packet, so that its packets stay together.
#[test]
fn jitter_moves_a_super_packet_as_one() {
    let jitter = Jitter {
        distribution: Distribution::Uniform,
        scale: Nanos(5_000_000),
        order: Order::Reorder,
    };
    for (loss_by, together) in [(LossKey::SuperPacket, true), (LossKey::Index, false)] {
        let config = DirectionConfig {
            delay: Timeline::constant(Nanos(20_000_000)),
            jitter: Timeline::constant(Some(jitter)),
            loss_by,
            ..DirectionConfig::default()
        };
        let mut direction = Direction::new(&config, &key(SEED));
        let due: Vec<_> = (0..30)
            .map(|number| {
                let packet = Packet {
                    super_packet: Some(number / 3),
                    ..Packet::from(Bytes(1500))
                };
                let at = Nanos(u64::from(number / 3) * 1_000_000);
                common::delivery(&direction.offer(at, packet)).map(|delivery| delivery.due)
            })
            .collect();
        assert_eq!(
            due.chunks(3)
                .all(|of_one| of_one.iter().all(|each| *each == of_one[0])),
            together
        );
    }
}
