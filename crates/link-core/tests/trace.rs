// SPDX-License-Identifier: Apache-2.0
//! Mahimahi traces deliver at their opportunities.

mod common;

use common::{delivery, drive, dues, SEED};
use link_core::{Bytes, DirectionConfig, Nanos, Service, Trace, TraceClock};

fn traced(text: &str, repeat: bool) -> DirectionConfig {
    let trace = Trace::parse(text, repeat).expect("a trace");
    DirectionConfig {
        service: Service::Trace(trace),
        ..DirectionConfig::default()
    }
}

fn ms(dues: &[u64]) -> Vec<u64> {
    assert!(
        dues.iter().all(|due| due % 1_000_000 == 0),
        "opportunities come on whole milliseconds"
    );
    dues.iter().map(|due| due / 1_000_000).collect()
}

/// Full packets take one opportunity each, several in one millisecond if the trace has them, lap after lap.
#[test]
fn full_packets_take_one_opportunity_each() {
    let verdicts = drive(&traced("1\n1\n4\n10\n", true), SEED, 9, 0, 1500);
    assert_eq!(ms(&dues(&verdicts)), [1, 1, 4, 10, 11, 11, 14, 20, 21]);
}

/// Small packets share an opportunity, and one that does not fit goes on in the next.
#[test]
fn opportunities_carry_bytes() {
    let verdicts = drive(&traced("1\n2\n3\n4\n", true), SEED, 6, 0, 600);
    assert_eq!(ms(&dues(&verdicts)), [1, 1, 2, 2, 2, 3]);
}

/// An opportunity for which no packet waits is wasted: a packet that comes later takes the next one, at its own
/// instant too.
#[test]
fn unused_opportunities_are_wasted() {
    let verdicts = drive(&traced("1\n2\n3\n5\n", true), SEED, 4, 2_000_000, 1500);
    // Arrivals at 0, 2, 4 and 6 ms; 6 is the first opportunity of the second lap.
    assert_eq!(ms(&dues(&verdicts)), [1, 2, 5, 6]);
}

/// The end of a trace that does not repeat is the end of the link.
#[test]
fn a_trace_may_end() {
    let verdicts = drive(&traced("1\n2\n", false), SEED, 3, 0, 1500);
    let last = delivery(&verdicts[2]).expect("it stays inside");
    assert_eq!(last.due, Nanos::NEVER);
    assert_eq!(
        delivery(&verdicts[1]).expect("delivered").due,
        Nanos(2_000_000)
    );
}

/// Packet by packet, a repeated trace gives the same departures as the same opportunities written out.
#[test]
fn laps_are_the_written_out_trace() {
    let lap = [3_u64, 3, 7, 12, 12, 15];
    let text = |times: &[u64]| {
        times
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let unrolled: Vec<u64> = (0..50)
        .flat_map(|n| lap.iter().map(move |t| t + n * 15))
        .collect();
    let repeated = Trace::parse(&text(&lap), true).expect("a trace");
    let written = Trace::parse(&text(&unrolled), false).expect("a trace");
    let (mut a, mut b) = (TraceClock::default(), TraceClock::default());
    for i in 0..150_u64 {
        let (ready, size) = (
            Nanos(i * i * 13 % 4_000_000 + i * 4_000_000),
            Bytes(40 + i * 977 % 1461),
        );
        a = a.after(&repeated, ready, size);
        b = b.after(&written, ready, size);
        assert_eq!(a, b, "packet {i}");
        assert!(a.free() >= ready);
    }
}

/// Texts that are no trace are refused with the line at fault.
#[test]
fn bad_traces_are_refused() {
    for (text, says) in [
        ("", "empty"),
        ("1\nx\n", "line 2"),
        ("2\n1\n", "line 2"),
        ("-1\n", "line 1"),
        ("0\n", "after 0 ms"),
    ] {
        let message = Trace::parse(text, true).expect_err("no trace");
        assert!(message.contains(says), "{message}");
    }
}
