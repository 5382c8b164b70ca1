// SPDX-License-Identifier: Apache-2.0
//! Packets that are addressed by what they are: dropped or spared, with an account of what was met.

mod common;

use common::{chance, dropped, key, SEED};
use link_core::{
    Address, AddressKind, Answer, Aqm, BitRate, Bytes, Content, Direction, DirectionConfig,
    DropReason, Loss, LossAt, Nanos, Packet, QueueBound, Rule, Service, Timeline,
};

fn address(kind: AddressKind, number: u64) -> Address {
    Address { kind, number }
}

fn packet(size: u64, content: Content) -> Packet {
    Packet {
        content,
        ..Packet::from(Bytes(size))
    }
}

fn segment(size: u64, syn: bool, payload: bool) -> Packet {
    packet(size, Content::Segment { syn, payload })
}

/// A handshake of each protocol and what follows it.
fn traffic() -> Vec<Packet> {
    vec![
        packet(1228, Content::Initial),   // 0: bytes 1 to 1228
        packet(1228, Content::Initial),   // 1: to 2456
        packet(90, Content::Handshake),   // 2: to 2546
        packet(1228, Content::Handshake), // 3: to 3774
        packet(1400, Content::Unmarked),  // 4: to 5174
        segment(60, true, false),         // 5: to 5234
        segment(52, false, false),        // 6: to 5286
        segment(572, false, true),        // 7: to 5858
        segment(1500, false, true),       // 8: to 7358
    ]
}

/// The numbers of the packets that are lost as listed, and the direction that lost them.
fn listed(config: &DirectionConfig) -> (Vec<u32>, Direction) {
    let mut direction = Direction::new(config, &key(SEED));
    let verdicts: Vec<_> = traffic()
        .into_iter()
        .zip(0..)
        .map(|(packet, at)| direction.offer(Nanos(at), packet))
        .collect();
    let lost = verdicts
        .iter()
        .filter(|verdict| dropped(verdict) == Some(DropReason::Listed))
        .map(|verdict| verdict.index)
        .collect();
    (lost, direction)
}

fn dropping(drop: &[Address]) -> DirectionConfig {
    DirectionConfig {
        drop: drop.to_vec(),
        ..DirectionConfig::default()
    }
}

/// Each kind of address meets its packet.
#[test]
fn each_kind_is_counted_by_itself() {
    use AddressKind::{Byte, Handshake, Initial, Large, Packet, Segment, Syn};
    for (kind, number, met) in [
        (Packet, 0, 0),
        (Packet, 6, 6),
        (Initial, 1, 0),
        (Initial, 2, 1),
        (Handshake, 1, 2),
        (Handshake, 2, 3),
        (Large, 1, 0),
        (Large, 3, 3),
        (Large, 5, 8),
        (Byte, 1, 0),
        (Byte, 1228, 0),
        (Byte, 1229, 1),
        (Byte, 7358, 8),
        (Syn, 1, 5),
        (Segment, 1, 7),
        (Segment, 2, 8),
    ] {
        let (lost, direction) = listed(&dropping(&[address(kind, number)]));
        assert_eq!(lost, [met], "{kind:?} {number}");
        let answer = Answer {
            address: address(kind, number),
            packet: Some(met),
            mattered: true,
        };
        assert_eq!(direction.loss().dropped(), [answer]);
    }
}

/// Addresses that never came are told, and several may meet the same packet, in any order.
#[test]
fn what_was_not_met_is_told() {
    let asked = [
        address(AddressKind::Syn, 2),
        address(AddressKind::Byte, 1300),
        address(AddressKind::Byte, 7359),
        address(AddressKind::Initial, 2),
        address(AddressKind::Byte, 1301),
    ];
    let (lost, direction) = listed(&dropping(&asked));
    assert_eq!(lost, [1]);
    let met: Vec<_> = direction
        .loss()
        .dropped()
        .iter()
        .map(|answer| answer.packet)
        .collect();
    assert_eq!(met, [None, Some(1), None, Some(1), Some(1)]);
    assert_eq!(
        direction.loss().dropped()[0].address,
        address(AddressKind::Syn, 2)
    );
}

/// A packet that is spared comes through whatever the loss model says; no other draw changes.
#[test]
fn what_is_spared_is_not_lost() {
    let lost = |spare: &[Address], model| {
        let config = DirectionConfig {
            loss: Timeline::constant(Some(model)),
            spare: spare.to_vec(),
            ..DirectionConfig::default()
        };
        let mut direction = Direction::new(&config, &key(SEED));
        let lost: Vec<bool> = (0..2000)
            .map(|at| dropped(&direction.offer(Nanos(at), Bytes(1200))).is_some())
            .collect();
        (lost, direction.loss().spared().to_vec())
    };
    let tenth = || Loss::Bernoulli(chance(0.1));
    let (before, none) = lost(&[], tenth());
    assert!(none.is_empty());
    let first = before.iter().position(|lost| *lost).expect("10 %");
    let kept = before.iter().position(|lost| !lost).expect("90 %");
    let spare = [first, kept].map(|number| address(AddressKind::Large, number as u64 + 1));
    let (after, answers) = lost(&spare, tenth());
    let changed: Vec<usize> = (0..2000).filter(|&i| before[i] != after[i]).collect();
    assert_eq!(changed, [first]);
    assert_eq!(
        answers.iter().map(|it| it.mattered).collect::<Vec<_>>(),
        [true, false]
    );
    assert!(answers.iter().all(|it| it.packet.is_some()));
    let (listed, _) = lost(&[address(AddressKind::Packet, 7)], Loss::List(vec![7, 8]));
    assert_eq!((listed[7], listed[8]), (false, true));
}

/// An address and a draw of loss do not disturb each other: a packet that is dropped uses its draw up.
#[test]
fn a_drop_shifts_no_draw() {
    let lost = |drop: &[Address]| -> Vec<bool> {
        let config = DirectionConfig {
            loss: Timeline::constant(Some(Loss::Bernoulli(chance(0.1)))),
            ..dropping(drop)
        };
        let mut direction = Direction::new(&config, &key(SEED));
        (0..2000)
            .map(|at| dropped(&direction.offer(Nanos(at), Bytes(1200))).is_some())
            .collect()
    };
    let mut expected = lost(&[]);
    let kept = expected.iter().position(|lost| !lost).expect("90 %");
    expected[kept] = true;
    assert_eq!(lost(&[address(AddressKind::Packet, kept as u64)]), expected);
}

/// Behind the queue only what the queue let pass counts, with and without management.
#[test]
fn addresses_count_where_the_loss_stands() {
    for aqm in [
        None,
        Some(Aqm {
            rule: Rule::Step {
                threshold: Nanos(1),
            },
            fair: None,
        }),
    ] {
        let config = DirectionConfig {
            service: Service::Rate(Timeline::constant(Some(BitRate(8_000_000)))),
            queue: Timeline::constant(QueueBound {
                packets: Some(2),
                ..QueueBound::default()
            }),
            aqm: Timeline::constant(aqm),
            loss_at: LossAt::Exit,
            ..dropping(&[address(AddressKind::Large, 3)])
        };
        let mut direction = Direction::new(&config, &key(SEED));
        // The first two fill the queue, four find it full, and the seventh is the third to come through.
        for at in [0, 0, 0, 0, 0, 0, 5_000_000] {
            direction.offer(Nanos(at), Bytes(1000));
            while direction.decide(Nanos(at)).is_some() {}
        }
        while direction.decide(Nanos(1_000_000_000)).is_some() {}
        assert_eq!(direction.loss().dropped()[0].packet, Some(6), "{aqm:?}");
    }
}
