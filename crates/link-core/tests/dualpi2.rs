// SPDX-License-Identifier: Apache-2.0
//! `DualPI2` holds the classic queue at its target, keeps L4S short, and couples their probabilities (RFC 9332).

mod common;

use common::{delivery, dropped, key, mean, SEED};
use link_core::{
    Aqm, BitRate, Bytes, Direction, DirectionConfig, DualPi2, Ecn, Nanos, Packet, Rule, Service,
    Timeline, Verdict,
};

const MS: u64 = 1_000_000;
const DUAL: DualPi2 = DualPi2 {
    target: Nanos(15 * MS),
    update: Nanos(16 * MS),
    threshold: Nanos(MS),
};

/// Verdicts on packets of 1000 bytes, which take 0.1 ms each, in their order.
fn verdicts(arrivals: &[(u64, Ecn)]) -> Vec<Verdict> {
    let config = DirectionConfig {
        service: Service::Rate(Timeline::constant(Some(BitRate(80_000_000)))),
        aqm: Timeline::constant(Some(Aqm {
            rule: Rule::DualPi2(DUAL),
            fair: None,
        })),
        ..DirectionConfig::default()
    };
    let mut direction = Direction::new(&config, &key(SEED));
    let mut found = Vec::new();
    for (at, ecn) in arrivals {
        let packet = Packet {
            ecn: *ecn,
            ..Packet::from(Bytes(1000))
        };
        direction.offer(Nanos(*at), packet);
        while let Some(verdict) = direction.decide(Nanos(*at)) {
            found.push(verdict);
        }
    }
    while let Some(verdict) = direction.decide(Nanos(1_000_000 * MS)) {
        found.push(verdict);
    }
    found.sort_by_key(|verdict| verdict.index);
    found
}

/// Classic packets every `gap_ns` for 60 s, and one of L4S in every tenth place.
fn mixed(gap_ns: u64, classic: Ecn) -> Vec<(u64, Ecn)> {
    (0..60_000_000_000 / gap_ns)
        .map(|i| (i * gap_ns, if i % 10 == 5 { Ecn::Ect1 } else { classic }))
        .collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "times in tests are below 2⁵³ ns"
)]
fn waits(arrivals: &[(u64, Ecn)], found: &[Verdict], low: bool) -> Vec<f64> {
    let half = found.len() / 2;
    found[half..]
        .iter()
        .filter(|v| (arrivals[v.index as usize].1 == Ecn::Ect1) == low)
        .filter_map(|v| Some((delivery(v)?.due.0 - arrivals[v.index as usize].0) as f64 / 1e6))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts in tests are small")]
fn share(found: &[Verdict], of: impl Fn(&Verdict) -> bool, hit: impl Fn(&Verdict) -> bool) -> f64 {
    let half = found.len() / 2;
    let mine: Vec<&Verdict> = found[half..].iter().filter(|v| of(v)).collect();
    mine.iter().filter(|v| hit(v)).count() as f64 / mine.len() as f64
}

/// Classic overload that does not yield is held at the target, L4S waits for little more than a packet, and its
/// marks have twice the root of the classic probability.
#[test]
fn the_queues_are_coupled() {
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        // 1.02 times the rate: about 2.2 % of the classic packets have to go where they are not marked.
        let arrivals = mixed(98_000, ecn);
        let found = verdicts(&arrivals);
        if ecn == Ecn::Ect0 {
            assert!(found
                .iter()
                .any(|v| delivery(v).is_some_and(|it| it.marked)));
            continue;
        }
        let classic = waits(&arrivals, &found, false);
        assert!((mean(&classic) - 15.0).abs() < 2.0, "{}", mean(&classic));
        let low = waits(&arrivals, &found, true);
        assert!(mean(&low) < 0.3, "{}", mean(&low));
        let is_low = |v: &Verdict| arrivals[v.index as usize].1 == Ecn::Ect1;
        let lost = share(&found, |v| !is_low(v), |v| dropped(v).is_some());
        let marked = share(&found, is_low, |v| delivery(v).is_some_and(|it| it.marked));
        assert!((marked - 2.0 * lost.sqrt()).abs() < 0.03, "{marked} {lost}");
        assert!(!found.iter().any(|v| is_low(v) && dropped(v).is_some()));
    }
}

/// L4S that waits longer than the threshold is marked, and not before where nothing else waits.
#[test]
fn l4s_is_marked_above_the_threshold() {
    let burst: Vec<(u64, Ecn)> = (0..30).map(|_| (0, Ecn::Ect1)).collect();
    for verdict in verdicts(&burst) {
        let delivery = delivery(&verdict).expect("delivered");
        // Packet n is taken after n tenths of a millisecond.
        assert_eq!(
            delivery.marked,
            verdict.index > 10,
            "packet {}",
            verdict.index
        );
    }
}

/// L4S goes first, but a tenth of the bytes is the other queue's while packets wait in both.
#[test]
fn the_classic_queue_is_not_starved() {
    let mut arrivals: Vec<(u64, Ecn)> = (0..100).map(|_| (0, Ecn::Ect1)).collect();
    arrivals.extend((0..100).map(|_| (0, Ecn::NotEct)));
    let found = verdicts(&arrivals);
    let due = |v: &Verdict| delivery(v).expect("delivered").due.0;
    let classic_early = found[100..].iter().filter(|v| due(v) <= 10 * MS).count();
    assert_eq!(classic_early, 9, "of the first 100 packets");
}

/// L4S that does not yield to marks is dropped, so that its queue is held at the target too.
#[test]
fn overload_is_dropped() {
    let arrivals: Vec<(u64, Ecn)> = (0..750_000).map(|i| (i * 80_000, Ecn::Ect1)).collect();
    let found = verdicts(&arrivals);
    let low = waits(&arrivals, &found, true);
    assert!(mean(&low) < 20.0, "{}", mean(&low));
    let lost = share(&found, |_| true, |v| dropped(v).is_some());
    assert!((lost - 0.2).abs() < 0.06, "{lost}");
}
