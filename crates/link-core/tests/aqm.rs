// SPDX-License-Identifier: Apache-2.0
//! Managed queues drop and mark exactly the packets that RFC 8289 and RFC 8290 name.

mod common;

use common::{delivery, dropped, key, SEED};
use link_core::{
    Aqm, BitRate, Bytes, CoDel, Direction, DirectionConfig, DropReason, Ecn, Fair, Fate, Nanos,
    Packet, Protocol, QueueBound, Rule, Service, Timeline, Verdict,
};

const MS: u64 = 1_000_000;
/// 1000 bytes take 1 ms.
const RATE: BitRate = BitRate(8_000_000);
const CODEL: CoDel = CoDel {
    target: Nanos(5 * MS),
    interval: Nanos(100 * MS),
    ecn: false,
};
const FAIR: Fair = Fair {
    quantum: Bytes(1000),
    queues: 1024,
};

fn managed(rule: Rule, fair: Option<Fair>) -> DirectionConfig {
    DirectionConfig {
        service: Service::Rate(Timeline::constant(Some(RATE))),
        aqm: Timeline::constant(Some(Aqm { rule, fair })),
        ..DirectionConfig::default()
    }
}

fn codel() -> DirectionConfig {
    managed(Rule::CoDel(CODEL), None)
}

fn packet(size: u64, flow: u32, ecn: Ecn) -> Packet {
    Packet {
        size: Bytes(size),
        flow,
        ecn,
        protocol: Protocol::Udp,
        ..Packet::default()
    }
}

/// Verdicts by packet number, each asked for as soon as its turn may have come.
fn verdicts(
    config: &DirectionConfig,
    arrivals: impl IntoIterator<Item = (u64, Packet)>,
) -> Vec<Verdict> {
    let mut direction = Direction::new(config, &key(SEED));
    let mut verdicts = Vec::new();
    for (at, packet) in arrivals {
        verdicts.push(direction.offer(Nanos(at), packet));
        settle(&mut direction, Nanos(at), &mut verdicts);
    }
    settle(&mut direction, Nanos(u64::MAX), &mut verdicts);
    verdicts
}

fn settle(direction: &mut Direction, now: Nanos, verdicts: &mut [Verdict]) {
    while let Some(verdict) = direction.decide(now) {
        let before = &mut verdicts[verdict.index as usize];
        assert_eq!(before.fate, Fate::Waiting, "decided once");
        *before = verdict;
    }
}

/// Twice as many packets as the link can send: the packet that is sent at k ms has waited k/2 ms.
fn overload(ecn: Ecn) -> impl Iterator<Item = (u64, Packet)> {
    (0..4000).map(move |i| (i * MS / 2, packet(1000, 1, ecn)))
}

/// Instants at which `CoDel` acts under that load: 100 ms after the wait reached 5 ms, then after 100 ms, 100 ms / √2,
/// …, each time as the next packet is to be sent.
fn codel_instants() -> Vec<u64> {
    let mut next = 110.0_f64;
    let mut instants = Vec::new();
    for count in 1_u32..100 {
        instants.push(
            format!("{:.0}", next.ceil())
                .parse()
                .expect("whole milliseconds"),
        );
        next += 100.0 / f64::from(count).sqrt();
    }
    instants.retain(|&at| at <= 1500);
    instants
}

/// The first drop comes an interval after the target was exceeded, the n-th interval/√n after the one before.
#[test]
fn codel_drops_at_its_instants() {
    let verdicts = verdicts(&codel(), overload(Ecn::NotEct));
    let mut instants = Vec::new();
    for (verdict, next) in verdicts.iter().zip(&verdicts[1..]) {
        if let Some(reason) = dropped(verdict) {
            assert_eq!(reason, DropReason::Aqm);
            instants.push(delivery(next).expect("one drop at a time").due.0 / MS - 1);
        }
    }
    instants.retain(|&at| at <= 1500);
    assert!(instants.len() > 40, "{instants:?}");
    assert_eq!(instants, codel_instants());
}

/// ECN-capable packets are marked at the instants at which others are dropped, and all arrive.
#[test]
fn codel_marks_instead_of_dropping() {
    let rule = Rule::CoDel(CoDel { ecn: true, ..CODEL });
    for ecn in [Ecn::Ect0, Ecn::Ect1] {
        let mut instants: Vec<u64> = verdicts(&managed(rule, None), overload(ecn))
            .iter()
            .map(|verdict| delivery(verdict).expect("none is dropped"))
            .filter(|delivery| delivery.marked)
            .map(|delivery| delivery.due.0 / MS - 1)
            .collect();
        instants.retain(|&at| at <= 1500);
        assert_eq!(instants, codel_instants());
    }
    let not_capable = verdicts(&managed(rule, None), overload(Ecn::NotEct));
    assert!(not_capable.iter().any(|verdict| dropped(verdict).is_some()));
}

/// A burst that is gone within the interval loses nothing, nor does a queue that never holds more than one packet.
#[test]
fn codel_leaves_bursts_and_short_queues_alone() {
    let bursts = (0..1000).map(|i| (i / 50 * 100 * MS, packet(1000, 1, Ecn::NotEct)));
    let pairs = (0..1000).map(|i| (i / 2 * 20 * MS, packet(8000, 1, Ecn::NotEct)));
    for verdicts in [verdicts(&codel(), bursts), verdicts(&codel(), pairs)] {
        assert!(verdicts.iter().all(|verdict| delivery(verdict).is_some()));
    }
}

/// `CoDel` drops at the rate at which it left off after a pause shorter than 16 intervals; after a longer one it starts
/// anew.
#[test]
fn codel_remembers_its_rate() {
    let gap_between_first_drops = |pause: u64| {
        let again = 4000 * MS + pause;
        let loads = overload(Ecn::NotEct)
            .chain((0..2000).map(move |i| (again + i * MS / 2, packet(1000, 1, Ecn::NotEct))));
        let verdicts = verdicts(&codel(), loads);
        let after: Vec<usize> = (4000..verdicts.len())
            .filter(|&i| dropped(&verdicts[i]).is_some())
            .collect();
        let at = |i: usize| {
            delivery(&verdicts[i + 1])
                .expect("one drop at a time")
                .due
                .0
                / MS
        };
        at(after[1]) - at(after[0])
    };
    assert!(gap_between_first_drops(100 * MS) < 20);
    assert_eq!(gap_between_first_drops(3000 * MS), 100);
}

/// Exactly the ECT(1) packets that waited longer than the threshold are marked, and nothing is dropped.
#[test]
fn the_step_marks_above_its_threshold() {
    let step = managed(
        Rule::Step {
            threshold: Nanos(MS),
        },
        None,
    );
    let marked = |ecn| -> Vec<bool> {
        let all = verdicts(&step, overload(ecn).take(100));
        all.iter()
            .map(|v| delivery(v).expect("none is dropped").marked)
            .collect()
    };
    // Packet k waits k/2 ms.
    assert_eq!(
        marked(Ecn::Ect1),
        (0..100).map(|k| k > 2).collect::<Vec<_>>()
    );
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        assert!(marked(ecn).iter().all(|marked| !marked));
    }
}

/// A packet of a new flow leaves next, however many of another are waiting.
#[test]
fn a_new_flow_goes_first() {
    let flood = (0..100).map(|_| (0, packet(1000, 1, Ecn::NotEct)));
    let sparse = [(10 * MS + MS / 2, packet(1000, 2, Ecn::NotEct))];
    let config = managed(Rule::CoDel(CODEL), Some(FAIR));
    let verdicts = verdicts(&config, flood.chain(sparse));
    assert_eq!(
        delivery(&verdicts[100]).expect("delivered").due,
        Nanos(12 * MS)
    );
    assert_eq!(
        delivery(&verdicts[99]).expect("delivered").due,
        Nanos(101 * MS)
    );
}

/// Flows get equal bytes, whatever the size of their packets.
#[test]
fn flows_share_by_bytes() {
    let large = (0..100).map(|_| (0, packet(1000, 1, Ecn::NotEct)));
    let small = (0..400).map(|_| (0, packet(250, 2, Ecn::NotEct)));
    let config = managed(Rule::CoDel(CODEL), Some(FAIR));
    let verdicts = verdicts(&config, large.chain(small));
    for until in [20, 60, 90] {
        let sent = |range: std::ops::Range<usize>, size: u64| {
            let due = |i: &usize| delivery(&verdicts[*i]).is_some_and(|it| it.due.0 <= until * MS);
            range.filter(due).count() as u64 * size
        };
        let (one, other) = (sent(0..100, 1000), sent(100..500, 250));
        assert!(
            one.abs_diff(other) <= 1000,
            "{one} and {other} bytes after {until} ms"
        );
    }
}

/// Each flow's queue is controlled by itself: only the one that stands is dropped from.
#[test]
fn only_the_flow_that_waits_is_dropped_from() {
    let flood = (0..4000).map(|i| (i * MS / 2, packet(1000, 1, Ecn::NotEct)));
    let sparse = (0..200).map(|i| (i * 10 * MS + 1, packet(1000, 2, Ecn::NotEct)));
    let mut both: Vec<_> = flood.chain(sparse).collect();
    both.sort_by_key(|(at, _)| *at);
    let all = verdicts(&managed(Rule::CoDel(CODEL), Some(FAIR)), both.clone());
    let drops = |flow| {
        let of_flow = both
            .iter()
            .zip(&all)
            .filter(|((_, packet), _)| packet.flow == flow);
        of_flow
            .filter(|(_, verdict)| dropped(verdict).is_some())
            .count()
    };
    assert!(drops(1) > 40);
    assert_eq!(drops(2), 0);
}

/// A full queue for all refuses what comes; queues by flow take the room from the longest, at its head.
#[test]
fn a_full_queue_drops_as_it_is_managed() {
    let full = |fair| DirectionConfig {
        queue: Timeline::constant(QueueBound {
            packets: Some(10),
            ..QueueBound::default()
        }),
        ..managed(Rule::CoDel(CODEL), fair)
    };
    let arrivals = || {
        let flood = (0..10).map(|_| (0, packet(1000, 1, Ecn::NotEct)));
        flood.chain([(1, packet(1000, 2, Ecn::NotEct))])
    };
    for (fair, victim) in [(None, 10), (Some(FAIR), 1)] {
        let verdicts = verdicts(&full(fair), arrivals());
        for (index, verdict) in verdicts.iter().enumerate() {
            let reason = (index == victim).then_some(DropReason::QueueFull);
            assert_eq!(dropped(verdict), reason, "packet {index}");
        }
        assert_eq!(verdicts[10].found.packets, 10);
        assert_eq!(verdicts[10].found.bytes, Bytes(10_000));
    }
}

/// A late question gets the same answers: asked at every instant, or once at the end.
#[test]
fn lateness_changes_no_decision() {
    let arrivals: Vec<_> = (0..5000_u32)
        .map(|i| {
            let at = u64::from(i) * 400_000 + u64::from(i * i % 1009) * 100;
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][i as usize % 3];
            (at, packet(60 + u64::from(i) * 31 % 1440, i % 7, ecn))
        })
        .collect();
    let rule = Rule::CoDel(CoDel { ecn: true, ..CODEL });
    for (fair, edge_rate) in [(None, None), (Some(FAIR), Some(BitRate(20_000_000)))] {
        let config = DirectionConfig {
            edge_rate,
            delay: Timeline::constant(Nanos(10 * MS)),
            ..managed(rule, fair)
        };
        let prompt = verdicts(&config, arrivals.clone());
        let mut direction = Direction::new(&config, &key(SEED));
        let mut late: Vec<Verdict> = arrivals
            .iter()
            .map(|(at, packet)| direction.offer(Nanos(*at), *packet))
            .collect();
        settle(&mut direction, Nanos(u64::MAX), &mut late);
        assert_eq!(prompt, late);
        assert!(prompt.iter().all(|verdict| verdict.fate != Fate::Waiting));
        assert!(prompt.iter().any(|verdict| dropped(verdict).is_some()));
        assert!(prompt
            .iter()
            .any(|verdict| delivery(verdict).is_some_and(|it| it.marked)));
    }
}

/// The next decision is told in time: a question only then misses none.
#[test]
fn the_next_decision_is_announced() {
    let mut direction = Direction::new(&codel(), &key(SEED));
    assert_eq!(direction.next_decision(), None);
    for _ in 0..3 {
        direction.offer(Nanos(5), Bytes(1000));
    }
    let mut asked = Vec::new();
    while let Some(at) = direction.next_decision() {
        while direction.decide(at).is_some() {}
        asked.push(at.0);
        assert_eq!(direction.decided_until(), at);
    }
    assert_eq!(asked, [5, 5 + MS, 5 + 2 * MS]);
}

/// A link that stands still for good keeps what it has, and announces nothing.
#[test]
fn nothing_leaves_a_link_that_stands_still() {
    let config = DirectionConfig {
        service: Service::Rate(Timeline::constant(Some(BitRate(0)))),
        ..codel()
    };
    let mut direction = Direction::new(&config, &key(SEED));
    for _ in 0..3 {
        direction.offer(Nanos(5), Bytes(1000));
    }
    let first = direction
        .decide(Nanos(u64::MAX))
        .expect("the first is in service");
    assert_eq!(delivery(&first).expect("delivered").due, Nanos::NEVER);
    assert_eq!(direction.decide(Nanos(u64::MAX)), None);
    assert_eq!(direction.next_decision(), Some(Nanos::NEVER));
}

/// While no management is in force a managed queue is the droptail queue: the same packets leave, at the same instants.
#[test]
fn management_that_comes_later_changes_nothing_before() {
    let bound = QueueBound {
        packets: Some(20),
        ..QueueBound::default()
    };
    let droptail = DirectionConfig {
        service: Service::Rate(Timeline::constant(Some(RATE))),
        queue: Timeline::constant(bound),
        ..DirectionConfig::default()
    };
    let codel = Aqm {
        rule: Rule::CoDel(CODEL),
        fair: None,
    };
    let from = Nanos(1500 * MS);
    let later = DirectionConfig {
        aqm: Timeline::constant(None).then(from, Some(codel)),
        ..droptail.clone()
    };
    let (plain, managed) = (
        verdicts(&droptail, overload(Ecn::NotEct)),
        verdicts(&later, overload(Ecn::NotEct)),
    );
    let before = usize::try_from(from.0 / (MS / 2)).expect("small") - 40;
    for (plain, managed) in plain[..before].iter().zip(&managed[..before]) {
        assert_eq!((plain.fate, plain.found), (managed.fate, managed.found));
    }
    let by_codel = |verdict: &&Verdict| dropped(verdict) == Some(DropReason::Aqm);
    assert_eq!(plain.iter().filter(by_codel).count(), 0);
    assert!(managed.iter().filter(by_codel).count() > 0);
}

/// Management may end: from then on nothing is dropped before the queue is full.
#[test]
fn management_may_end() {
    let mut config = codel();
    config.aqm = config.aqm.then(Nanos(1000 * MS), None);
    let verdicts = verdicts(&config, overload(Ecn::NotEct));
    let last = verdicts
        .iter()
        .filter(|verdict| dropped(verdict).is_some())
        .map(|verdict| verdict.index)
        .max()
        .expect("some are dropped");
    assert!(last < 2000, "packet {last} came after the end");
}
