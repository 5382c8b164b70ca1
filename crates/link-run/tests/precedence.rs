// SPDX-License-Identifier: Apache-2.0
//! A thread that takes too much of few processors gives way; one that leaves the ends theirs never does.

use link_run::precedence::Precedence;

const MS: u64 = 1_000_000;

/// The ms in which a thread that takes so much of each is to give way, within 10 s.
fn gives_way(taken_us: u64, cores: usize, shared: bool) -> Option<u64> {
    let mut watch = Precedence::new(0, 0, cores, shared);
    (1..=10_000).find(|ms| watch.look(ms * MS, ms * taken_us * 1000))
}

/// Half a processor, or four fifths, leave the ends theirs; nine tenths and a whole one do not.
#[test]
fn a_thread_gives_way_by_what_it_takes() {
    assert_eq!(gives_way(500, 2, false), None);
    assert_eq!(gives_way(800, 2, false), None);
    assert_eq!(gives_way(900, 2, false), Some(200));
    assert_eq!(gives_way(1000, 2, false), Some(67));
}

/// Precedence stays with enough processors, and where several runs share the thread.
#[test]
fn a_thread_keeps_what_costs_nobody() {
    assert_eq!(gives_way(1000, 3, false), None);
    assert_eq!(gives_way(1000, 2, true), None);
}

/// A burst of 40 ms may take all of it, if it rests in between.
#[test]
fn a_burst_is_no_reason() {
    let mut watch = Precedence::new(0, 0, 2, false);
    for burst in 1..100 {
        let (begin_ns, taken_ns) = (burst * 200 * MS, (burst - 1) * 40 * MS);
        assert!(!watch.look(begin_ns, taken_ns));
        assert!(!watch.look(begin_ns + 40 * MS, taken_ns + 40 * MS));
    }
}

/// A thread that others keep from its processor takes nothing of it.
#[test]
fn waiting_is_not_taking() {
    let mut watch = Precedence::new(0, 0, 2, false);
    for second in 1..100 {
        assert!(!watch.look(second * 1000 * MS, second * 5 * MS));
    }
}
