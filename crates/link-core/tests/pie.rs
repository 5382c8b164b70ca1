// SPDX-License-Identifier: Apache-2.0
//! PIE holds the wait at its target under overload, lets bursts pass, and marks while its probability is small
//! (RFC 8033).

mod common;

use common::{delivery, dropped, key, mean, SEED};
use link_core::{
    Aqm, BitRate, Bytes, Direction, DirectionConfig, DropReason, Ecn, Fate, Nanos, Packet, Pie,
    Rule, Service, Timeline, Verdict,
};

const MS: u64 = 1_000_000;
const PIE: Pie = Pie {
    target: Nanos(15 * MS),
    update: Nanos(15 * MS),
    burst: Nanos(150 * MS),
    ecn: false,
};

/// 80 Mbit/s: 1000 bytes take 0.1 ms.
fn under(pie: Pie) -> DirectionConfig {
    DirectionConfig {
        service: Service::Rate(Timeline::constant(Some(BitRate(80_000_000)))),
        aqm: Timeline::constant(Some(Aqm {
            rule: Rule::Pie(pie),
            fair: None,
        })),
        ..DirectionConfig::default()
    }
}

/// Verdicts on packets of 1000 bytes a fixed time apart, in their order.
fn verdicts(config: &DirectionConfig, ecn: Ecn, gap_ns: u64, packets: u64) -> Vec<Verdict> {
    let mut direction = Direction::new(config, &key(SEED));
    let mut found = Vec::new();
    for number in 0..packets {
        let packet = Packet {
            ecn,
            ..Packet::from(Bytes(1000))
        };
        direction.offer(Nanos(number * gap_ns), packet);
        while let Some(verdict) = direction.decide(Nanos(number * gap_ns)) {
            found.push(verdict);
        }
    }
    while let Some(verdict) = direction.decide(Nanos(1_000_000 * MS)) {
        found.push(verdict);
    }
    found.sort_by_key(|verdict| verdict.index);
    found
}

/// Waits in ms of the packets from `from` on that are delivered.
#[expect(
    clippy::cast_precision_loss,
    reason = "times in tests are below 2⁵³ ns"
)]
fn waits(verdicts: &[Verdict], gap_ns: u64, from: usize) -> Vec<f64> {
    verdicts[from..]
        .iter()
        .filter_map(|verdict| {
            let due = delivery(verdict)?.due.0;
            Some((due - u64::from(verdict.index) * gap_ns) as f64 / 1e6)
        })
        .collect()
}

/// Overload that does not yield is held at the target: the share that is dropped is what does not fit.
#[test]
fn the_wait_is_held_at_the_target() {
    for (gap_ns, excess) in [(90_000, 0.1), (80_000, 0.2)] {
        let packets = 60_000_000_000 / gap_ns;
        let found = verdicts(&under(PIE), Ecn::Ect0, gap_ns, packets);
        let half = found.len() / 2;
        let waits = waits(&found, gap_ns, half);
        assert!((mean(&waits) - 15.0).abs() < 2.0, "{}", mean(&waits));
        let lost = found[half..]
            .iter()
            .filter(|v| dropped(v) == Some(DropReason::Aqm));
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let share = lost.count() as f64 / half as f64;
        assert!((share - excess).abs() < 0.01, "{share}");
    }
}

/// A burst after a quiet time passes whole, whatever it makes others wait.
#[test]
fn a_burst_passes() {
    let found = verdicts(&under(PIE), Ecn::NotEct, 10_000, 1000);
    assert!(found.iter().all(|verdict| dropped(verdict).is_none()));
}

/// A load that fits is not touched.
#[test]
fn what_fits_is_not_touched() {
    let found = verdicts(&under(PIE), Ecn::NotEct, 101_000, 100_000);
    assert!(found.iter().all(|verdict| dropped(verdict).is_none()));
}

/// ECN-capable packets are marked while the probability is below a tenth; where marks do not help, they are dropped.
#[test]
fn marks_come_before_drops() {
    let pie = Pie { ecn: true, ..PIE };
    let found = verdicts(&under(pie), Ecn::Ect0, 80_000, 750_000);
    let fates: Vec<(bool, bool)> = found
        .iter()
        .map(|v| {
            (
                delivery(v).is_some_and(|it| it.marked),
                dropped(v).is_some(),
            )
        })
        .collect();
    let first_mark = fates.iter().position(|fate| fate.0).expect("a mark");
    let first_drop = fates.iter().position(|fate| fate.1).expect("a drop");
    assert!(first_mark < first_drop);
    let plain = verdicts(&under(pie), Ecn::NotEct, 80_000, 100_000);
    assert!(!plain
        .iter()
        .any(|v| delivery(v).is_some_and(|it| it.marked)));
    assert!(plain.iter().any(|v| dropped(v).is_some()));
}

/// A replay decides the same, and what is asked late gets the same answer.
#[test]
fn verdicts_do_not_depend_on_when_they_are_asked_for() {
    let config = under(PIE);
    let at_once = verdicts(&config, Ecn::NotEct, 80_000, 50_000);
    let mut direction = Direction::new(&config, &key(SEED));
    let mut late: Vec<Verdict> = (0..50_000)
        .map(|number| direction.offer(Nanos(number * 80_000), Bytes(1000)))
        .collect();
    assert!(late.iter().all(|verdict| verdict.fate == Fate::Waiting));
    late.clear();
    while let Some(verdict) = direction.decide(Nanos(1_000_000 * MS)) {
        late.push(verdict);
    }
    late.sort_by_key(|verdict| verdict.index);
    assert_eq!(at_once, late);
}
