// SPDX-License-Identifier: Apache-2.0
//! Settings change at the instant that the schedule names, for the packet that reaches the stage then.

mod common;

use common::{chance, delivery, drive, dropped, SEED};
use link_core::{BitRate, DirectionConfig, Loss, Nanos, QueueBound, Service, Timeline};

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
