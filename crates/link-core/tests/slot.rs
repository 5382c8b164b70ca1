// SPDX-License-Identifier: Apache-2.0
//! Slots hold packets and let them out together, in order, no more than fit, at instants that no packet changes.

mod common;

use common::{delivery, drive, dues, key, mean, SEED};
use link_core::{
    Aqm, BitRate, Bytes, CoDel, Direction, DirectionConfig, Fate, Nanos, QueueBound, Rule, Service,
    Slot, Timeline,
};

const MS: u64 = 1_000_000;

fn every(ms: u64) -> Slot {
    Slot {
        least: Nanos(ms * MS),
        most: Nanos(ms * MS),
        packets: None,
        bytes: None,
    }
}

fn slotted(slot: Slot) -> DirectionConfig {
    DirectionConfig {
        slot: Timeline::constant(Some(slot)),
        ..DirectionConfig::default()
    }
}

fn ms(dues: &[u64]) -> Vec<u64> {
    dues.iter().map(|due| due / MS).collect()
}

/// Packets are let out at the next opening, one that comes at that instant included.
#[test]
fn packets_leave_when_a_slot_opens() {
    let found = dues(&drive(&slotted(every(5)), SEED, 12, MS, 100));
    assert_eq!(ms(&found), [0, 5, 5, 5, 5, 5, 10, 10, 10, 10, 10, 15]);
}

/// No more packets, and no more bytes, leave at an opening than it lets out; a larger single packet does.
#[test]
fn an_opening_lets_out_no_more_than_fits() {
    let packets = Slot {
        packets: Some(3),
        ..every(5)
    };
    let found = dues(&drive(&slotted(packets), SEED, 8, 0, 1000));
    assert_eq!(ms(&found), [0, 0, 0, 5, 5, 5, 10, 10]);
    let bytes = Slot {
        bytes: Some(Bytes(2500)),
        ..every(5)
    };
    let found = dues(&drive(&slotted(bytes), SEED, 5, 0, 1000));
    assert_eq!(ms(&found), [0, 0, 5, 5, 10]);
    let found = dues(&drive(&slotted(bytes), SEED, 3, 0, 9000));
    assert_eq!(ms(&found), [0, 5, 10]);
}

/// Behind a rate packets are held once they are sent; while an opening has all that it lets out, the next packet waits
/// in the queue, so that the lesser of rate and slots passes.
#[test]
fn what_does_not_fit_waits_in_the_queue() {
    let mut config = slotted(Slot {
        packets: Some(2),
        ..every(5)
    });
    // A packet of 1000 bytes takes a millisecond.
    config.service = Service::Rate(Timeline::constant(Some(BitRate(8_000_000))));
    let verdicts = drive(&config, SEED, 7, 0, 1000);
    assert_eq!(ms(&dues(&verdicts)), [5, 5, 10, 10, 15, 15, 20]);
    assert!(verdicts.iter().all(|verdict| verdict.service == Nanos(MS)));
    config.queue = Timeline::constant(QueueBound {
        packets: Some(4),
        ..QueueBound::default()
    });
    let kept = drive(&config, SEED, 7, 0, 1000)
        .iter()
        .filter(|verdict| delivery(verdict).is_some())
        .count();
    assert_eq!(kept, 4);
}

/// A managed queue sees the wait for slots: `CoDel` drops where they let out less than comes.
#[test]
fn management_sees_the_wait_for_slots() {
    let mut config = slotted(Slot {
        packets: Some(4),
        ..every(4)
    });
    config.service = Service::Rate(Timeline::constant(Some(BitRate(80_000_000))));
    config.aqm = Timeline::constant(Some(Aqm {
        rule: Rule::CoDel(CoDel {
            target: Nanos(5 * MS),
            interval: Nanos(100 * MS),
            ecn: false,
        }),
        fair: None,
    }));
    let mut direction = Direction::new(&config, &key(SEED));
    for packet in 0..4000 {
        direction.offer(Nanos(packet * MS / 2), Bytes(1000));
    }
    let mut dues = Vec::new();
    let mut dropped = 0;
    while let Some(verdict) = direction.decide(Nanos(3000 * MS)) {
        match verdict.fate {
            Fate::Delivered(delivery) => dues.push(delivery.due.0),
            _ => dropped += 1,
        }
    }
    assert!(dropped > 50, "{dropped}");
    let together = dues.chunk_by(|a, b| a == b).map(<[u64]>::len).max();
    assert_eq!(together, Some(4));
    assert!(dues.iter().all(|due| due % (4 * MS) == 0));
}

/// Times between openings are uniform, and no packet changes them.
#[test]
fn openings_are_drawn_by_themselves() {
    let slot = Slot {
        most: Nanos(10 * MS),
        ..every(2)
    };
    let openings = |gap: u64, size| {
        let mut found = dues(&drive(
            &slotted(slot),
            SEED,
            60_000_000_000 / gap,
            gap,
            size,
        ));
        found.dedup();
        found
    };
    let often = openings(MS, 40);
    let seldom = openings(7 * MS, 1500);
    assert!(seldom
        .iter()
        .all(|at| often.contains(at) || *at > 59_900 * MS));
    #[expect(clippy::cast_precision_loss, reason = "below 2⁵³")]
    let gaps: Vec<f64> = often
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / 1e6)
        .collect();
    assert!((mean(&gaps) - 6.0).abs() < 0.1, "{}", mean(&gaps));
    assert!(gaps.iter().all(|gap| (2.0..=10.0).contains(gap)));
}

/// A change brings slots, whose first opening is its own instant, and takes them away; packets keep their order.
#[test]
fn slots_come_and_go() {
    let mut config = slotted(every(5));
    config.slot = Timeline::constant(None)
        .then(Nanos(2 * MS), Some(every(4)))
        .then(Nanos(9 * MS), None);
    let found = dues(&drive(&config, SEED, 13, MS, 100));
    assert_eq!(ms(&found), [0, 1, 2, 6, 6, 6, 6, 10, 10, 10, 10, 11, 12]);
}
