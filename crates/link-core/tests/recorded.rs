// SPDX-License-Identifier: Apache-2.0
//! Delays and losses come again as they were recorded, and a file that is no recording is refused.

mod common;

use std::sync::Arc;

use common::{chance, drive, dropped, dues, losses, share, SEED};
use link_core::{
    parse_delays, parse_packet_losses, parse_timed_losses, DirectionConfig, DropReason, Loss,
    Nanos, Timeline,
};

const MS: u64 = 1_000_000;

/// A recorded delay holds from its instant on, to the nanosecond, and the last one for ever.
#[test]
fn delays_are_those_of_their_instants() {
    let text = "# one way, in ms\n0 1.5\n\n  2.000001\t3\n5 0.25\n";
    let delays = parse_delays(text).expect("a recording");
    let course = Timeline::constant(Nanos(1_500_000))
        .then(Nanos(2_000_001), Nanos(3_000_000))
        .then(Nanos(5_000_000), Nanos(250_000));
    assert_eq!(delays, course);
    let config = DirectionConfig {
        delay: delays,
        ..DirectionConfig::default()
    };
    let found = dues(&drive(&config, SEED, 10, MS, 100));
    // A smaller delay later on does not turn packets around.
    let wanted = [150, 250, 350, 600, 700, 700, 700, 725, 825, 925];
    let found: Vec<u64> = found.iter().map(|due| due / 10_000).collect();
    assert_eq!(found, wanted);
}

/// Losses recorded in time have the probability of their instant, and the draws of independent loss.
#[test]
fn timed_losses_have_the_probability_of_their_instant() {
    let chances = parse_timed_losses("0 0\n1000 100\n2000 12.5\n").expect("a recording");
    let config = DirectionConfig {
        loss: Timeline::constant(Some(Loss::Timed(Arc::new(chances)))),
        ..DirectionConfig::default()
    };
    let lost = losses(&drive(&config, SEED, 42_000, MS, 100));
    assert!(lost[..1000].iter().all(|lost| !lost));
    assert!(lost[1000..2000].iter().all(|lost| *lost));
    assert!((share(&lost[2000..]) - 0.125).abs() < 0.006);
    let plain = DirectionConfig {
        loss: Timeline::constant(Some(Loss::Bernoulli(chance(0.125)))),
        ..DirectionConfig::default()
    };
    assert_eq!(
        lost[2000..],
        losses(&drive(&plain, SEED, 42_000, MS, 100))[2000..]
    );
}

/// A recording that a change brings counts from the change on; one in a period begins anew with it.
#[test]
fn a_recording_begins_with_its_model() {
    let outage = || {
        let chances = parse_timed_losses("0 0\n3 100\n4 0\n").expect("a recording");
        Some(Loss::Timed(Arc::new(chances)))
    };
    let lost = |loss| {
        let config = DirectionConfig {
            loss,
            ..DirectionConfig::default()
        };
        let lost = losses(&drive(&config, SEED, 30, MS, 100));
        (0..30).filter(|&i| lost[i]).collect::<Vec<_>>()
    };
    assert_eq!(
        lost(Timeline::constant(None).then(Nanos(10 * MS), outage())),
        [13]
    );
    assert_eq!(
        lost(Timeline::constant(outage()).repeated(Nanos(10 * MS))),
        [3, 13, 23]
    );
}

/// Losses recorded by packet hit exactly these, over and over.
#[test]
fn packets_are_lost_as_recorded() {
    let recorded = parse_packet_losses("0\n1\n1\n0\n0\n").expect("a recording");
    let config = DirectionConfig {
        loss: Timeline::constant(Some(Loss::Recorded(recorded.into()))),
        ..DirectionConfig::default()
    };
    for (i, verdict) in drive(&config, SEED, 23, MS, 100).iter().enumerate() {
        let lost = matches!(i % 5, 1 | 2).then_some(DropReason::Listed);
        assert_eq!(dropped(verdict), lost, "packet {i}");
    }
}

/// A file that is no recording is refused with the line that makes it none, whatever is in it.
#[test]
fn what_is_no_recording_is_refused() {
    for (text, says) in [
        ("", "it has no line"),
        ("# nothing\n", "it has no line"),
        ("1 5\n", "line 1: the first instant is not 0"),
        (
            "0 5\n0 6\n",
            "line 2: the instant is not after the one above",
        ),
        ("0 5\n1\n", "line 2: '1' is not an instant and a value"),
        ("0 5 6\n", "is not an instant and a value"),
        ("0 -5\n", "line 1: '-5' is not a delay in milliseconds"),
        ("0 60000.000001\n", "is not a delay"),
        ("0 1e3\n", "is not a delay"),
        ("0 nan\n", "is not a delay"),
        ("0 .5\n", "is not a delay"),
        ("0 1.0000001\n", "is not a delay"),
        (
            "0 1\n99999999999999999999 1\n",
            "line 2: '99999999999999999999' is not an instant",
        ),
        ("0 1\n86400000 1\n", "is not an instant"),
        ("0 \u{1b}[31m\n", "line 1: '\\u{1b}[31m' is not a delay"),
    ] {
        let found = parse_delays(text).expect_err(text);
        assert!(found.contains(says), "{found}");
    }
    let found = parse_timed_losses("0 101\n").expect_err("more than all");
    assert!(
        found.contains("line 1: '101' is not a share in per cent"),
        "{found}"
    );
    for text in ["0 1e1\n", "0 inf\n", "0 -1\n"] {
        parse_timed_losses(text).expect_err(text);
    }
    let found = parse_packet_losses("0\n2\n").expect_err("no bit");
    assert_eq!(found, "line 2: '2' is neither 0 nor 1");
    let long = "0\n".repeat(1_000_001);
    let found = parse_packet_losses(&long).expect_err("too long");
    assert_eq!(found, "it has more than 1000000 lines");
    let shown = parse_packet_losses(&"x".repeat(10_000)).expect_err("no bit");
    assert!(shown.len() < 100, "{shown}");
}
