// SPDX-License-Identifier: Apache-2.0
//! A thread that takes too much of few processors gives way; one that sleeps enough never does.

use link_run::precedence::Precedence;

const MS: u64 = 1_000_000;

/// Whether a thread that sleeps and is awake in turns, all of it 1 ms, is to give way within 10 s.
fn gives_way(awake_us: u64, cores: usize, shared: bool) -> Option<u64> {
    let mut share = Precedence::new(0, cores, shared);
    (0..10_000).find(|turn| {
        let begin_ns = turn * MS;
        let is_time = share.awake(begin_ns + awake_us * 1000);
        share.slept(begin_ns + MS);
        is_time
    })
}

/// Half a processor, or two thirds, leave the ends theirs; 0.75 and a whole one do not.
#[test]
fn a_thread_gives_way_by_what_it_takes() {
    assert_eq!(gives_way(500, 2, false), None);
    assert_eq!(gives_way(690, 2, false), None);
    assert!(gives_way(750, 2, false).is_some());
    let whole_ms = gives_way(1000, 2, false).expect("gives way");
    assert!((45..=55).contains(&whole_ms), "{whole_ms} ms");
}

/// Where processors are enough, or several runs share the thread, it stays what it is.
#[test]
fn a_thread_keeps_what_costs_nobody() {
    assert_eq!(gives_way(1000, 3, false), None);
    assert_eq!(gives_way(1000, 2, true), None);
}

/// A burst of 40 ms may take all of it, if it rests in between.
#[test]
fn a_burst_is_no_reason() {
    let mut share = Precedence::new(0, 2, false);
    for burst in 0..100 {
        let begin_ns = burst * 200 * MS;
        assert!(!share.awake(begin_ns + 40 * MS));
        share.slept(begin_ns + 200 * MS);
    }
}
