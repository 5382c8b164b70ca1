// SPDX-License-Identifier: Apache-2.0
//! Random loss may mark packets that are ECN-capable in the place of dropping them.

mod common;

use common::{chance, delivery, dropped, key, SEED};
use link_core::{
    Address, AddressKind, Aqm, BitRate, Bytes, Direction, DirectionConfig, DropReason, Ecn, Loss,
    LossAt, Nanos, Packet, Rule, Service, Timeline, Verdict,
};

const MS: u64 = 1_000_000;

fn lossy(loss_at: LossAt, loss_marks: bool) -> DirectionConfig {
    DirectionConfig {
        loss: Timeline::constant(Some(Loss::Bernoulli(chance(0.2)))),
        loss_at,
        loss_marks,
        drop: vec![Address {
            kind: AddressKind::Packet,
            number: 7,
        }],
        ..DirectionConfig::default()
    }
}

fn verdicts(config: &DirectionConfig, ecn: Ecn) -> Vec<Verdict> {
    let mut direction = Direction::new(config, &key(SEED));
    let mut found = Vec::new();
    for number in 0..1000 {
        let packet = Packet {
            ecn,
            ..Packet::from(Bytes(100))
        };
        found.push(direction.offer(Nanos(number * MS), packet));
    }
    found.retain(|verdict| verdict.fate != link_core::Fate::Waiting);
    while let Some(verdict) = direction.decide(Nanos(10_000 * MS)) {
        found.push(verdict);
    }
    found.sort_by_key(|verdict| verdict.index);
    found
}

/// Exactly the packets that would be lost at random are marked; those without ECN, and listed ones, are still lost.
#[test]
fn marks_stand_in_the_place_of_losses() {
    for at in [LossAt::Entry, LossAt::Exit] {
        let lost: Vec<bool> = verdicts(&lossy(at, false), Ecn::Ect0)
            .iter()
            .map(|verdict| dropped(verdict).is_some())
            .collect();
        for ecn in [Ecn::Ect0, Ecn::Ect1] {
            for (verdict, lost) in verdicts(&lossy(at, true), ecn).iter().zip(&lost) {
                if verdict.index == 7 {
                    assert_eq!(dropped(verdict), Some(DropReason::Listed));
                } else {
                    let marked = delivery(verdict).expect("delivered").marked;
                    assert_eq!(marked, *lost, "packet {}", verdict.index);
                }
            }
        }
        let without: Vec<bool> = verdicts(&lossy(at, true), Ecn::NotEct)
            .iter()
            .map(|verdict| dropped(verdict).is_some())
            .collect();
        assert_eq!(without, lost);
        let bears_one = verdicts(&lossy(at, true), Ecn::Ce);
        let marked = |verdict: &Verdict| delivery(verdict).is_some_and(|it| it.marked);
        assert!(!bears_one.iter().any(marked));
    }
}

/// A mark that the loss sets before a managed queue comes out of it.
#[test]
fn a_mark_passes_a_managed_queue() {
    let mut managed = lossy(LossAt::Entry, true);
    managed.service = Service::Rate(Timeline::constant(Some(BitRate(100_000_000))));
    managed.aqm = Timeline::constant(Some(Aqm {
        rule: Rule::Step {
            threshold: Nanos(MS),
        },
        fair: None,
    }));
    let marks = |config: &DirectionConfig| {
        verdicts(config, Ecn::Ect0)
            .iter()
            .map(|verdict| delivery(verdict).map(|it| it.marked))
            .collect::<Vec<_>>()
    };
    assert_eq!(marks(&managed), marks(&lossy(LossAt::Entry, true)));
}
